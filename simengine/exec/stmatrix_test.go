package exec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
)

// TestStmatrix stores matrices and loads them again by ldmatrix, transposed once or not at all.
func TestStmatrix(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []string{"", ".trans"} {
			var from, to []string
			set := ""
			for m := range n {
				from, to = append(from, fmt.Sprintf("%%r%d", 1+m)), append(to, fmt.Sprintf("%%r%d", 10+m))
				set += fmt.Sprintf("\tmad.lo.u32 %%r%d, %%r0, 65537, %d;\n", 1+m, 1000*m+65536*500)
			}
			body := set + `
	shl.b32 %r20, %r0, 4;
	add.s32 %r20, %r29, %r20;
	stmatrix.sync.aligned.m8n8.x` + fmt.Sprint(n) + trans + `.shared.b16 [%r20], {` + strings.Join(from, ", ") + `};
	bar.warp.sync -1;
	ldmatrix.sync.aligned.m8n8.x` + fmt.Sprint(n) + trans + `.shared.b16 {` + strings.Join(to, ", ") + `}, [%r20];
	mad.lo.u32 %r21, %r0, ` + fmt.Sprint(4*n-4) + `, 0;
	cvt.u64.u32 %rd5, %r21;
	add.s64 %rd3, %rd3, %rd5;
`
			for m := range n {
				body += fmt.Sprintf("\tst.global.u32 [%%rd3+%d], %s;\n", 4*m, to[m])
			}
			out, err := runBody(t, "", body, 32)
			if err != nil {
				t.Errorf("x%d%s: %v", n, trans, err)
				continue
			}
			for l := range uint32(32) {
				for m := range uint32(n) {
					if got, want := out[int(l)*n+int(m)], l*65537+1000*m+65536*500; got != want {
						t.Fatalf("x%d%s: lane %d matrix %d is %d, want %d", n, trans, l, m, got, want)
					}
				}
			}
		}
	}
	// Columns that a transposed store makes of rows.
	out, err := runBody(t, "", `
	mad.lo.u32 %r1, %r0, 131074, 65536;
	shl.b32 %r20, %r0, 4;
	add.s32 %r20, %r29, %r20;
	stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r20], {%r1};
	bar.warp.sync -1;
	ld.shared.u32 %r2, [%r31];
	st.global.u32 [%rd3], %r2;`, 32)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 32 { // word i holds elements 2i and 2i+1 of rows of 8
		for e := range 2 {
			row, col := (2*i+e)/8, (2*i+e)%8
			// Element (row, col) is element (col, row) of what is stored: lane 4*col+row/2 has it.
			lane := uint32(4*col + row/2)
			want := 2 * lane
			if row%2 == 1 {
				want++
			}
			if got := out[i] >> (16 * e) & 0xffff; got != want {
				t.Fatalf("row %d column %d is %d, want %d", row, col, got, want)
			}
		}
	}
}

// Two warps that store the same matrices to the same rows do not race; if one element differs they do.
func TestStmatrixOfTheSameValues(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []string{"", ".trans"} {
			for _, differs := range []bool{false, true} {
				var from []string
				set := "\tand.b32 %r20, %r0, 31;\n\tshl.b32 %r21, %r20, 4;\n\tadd.s32 %r21, %r29, %r21;\n"
				for m := range n {
					from = append(from, fmt.Sprintf("%%r%d", 1+m))
					set += fmt.Sprintf("\tmad.lo.u32 %%r%d, %%r20, 65537, %d;\n", 1+m, 1000*m+65536*500)
				}
				if differs { // in the upper half of the last word of thread 45
					set += fmt.Sprintf("\tsetp.eq.u32 %%p1, %%r0, 45;\n\t@%%p1 add.s32 %%r%d, %%r%d, 65536;\n", n, n)
				}
				_, err := runBody(t, "", set+"\tstmatrix.sync.aligned.m8n8.x"+fmt.Sprint(n)+trans+".shared.b16 [%r21], {"+strings.Join(from, ", ")+"};\n", 64)
				var f *fault.Fault
				if found := errors.As(err, &f) && f.Kind == fault.Race; found != differs || err != nil && !found {
					t.Errorf("x%d%s, one element differs %v: %v", n, trans, differs, err)
				}
			}
		}
	}
}
