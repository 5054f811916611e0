package assemble

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/ir"
)

// sharedWidths are the bytes a lane of the loads from shared memory that a kernel is assembled to.
func sharedWidths(t *testing.T, src string) (widths []uint8) {
	for _, b := range must(t, src, hopper).Blocks {
		for _, in := range b.Instrs {
			if in.Class == mir.Load && in.Space == ir.Shared {
				widths = append(widths, in.Width)
			}
		}
	}
	return widths
}

// Words and pairs that are next to each other are one load of four words where that is aligned, as ptxas makes of loads
// of halves by eights that nvcc takes apart (cluster_decode of h100-2026-11-27-triton-wgmma-c).
func TestWordsAndPairsJoin(t *testing.T) {
	loads := func(scale int, lines ...string) string {
		src, sum := tile(scale, 0, ""), "add.f32 %f4, %f0, %f1;"
		for i := range 4 {
			src = strings.Replace(src, fmt.Sprintf("ld.shared.f32 %%f%d, [%%r3+%d];\n", i, 4*i), "", 1)
		}
		return strings.Replace(src, sum, strings.Join(lines, "\n")+"\n"+sum, 1)
	}
	word := func(i, at int) string { return fmt.Sprintf("ld.shared.f32 %%f%d, [%%r3+%d];", i, at) }
	pair := func(i, at int) string { return fmt.Sprintf("ld.shared.v2.f32 {%%f%d, %%f%d}, [%%r3+%d];", i, i+1, at) }
	for _, c := range []struct {
		name   string
		src    string
		widths []uint8
	}{
		{"aligned", loads(16, pair(0, 0), pair(2, 8)), []uint8{16}},
		{"in the other order", loads(16, pair(0, 8), pair(2, 0)), []uint8{16}},
		{"half aligned pairs", loads(8, pair(0, 0), pair(2, 8)), []uint8{8, 8}},
		{"apart", loads(16, pair(0, 0), pair(2, 16)), []uint8{8, 8}},
		{"astride", loads(16, pair(0, 8), pair(2, 16)), []uint8{8, 8}},
		{"two words and a pair", loads(16, word(0, 0), word(1, 4), pair(2, 8)), []uint8{16}},
		{"a pair and two words", loads(16, pair(0, 0), word(2, 8), word(3, 12)), []uint8{16}},
		{"half aligned", loads(8, word(0, 0), word(1, 4), pair(2, 8)), []uint8{8, 8}},
		{"a word short", loads(16, word(0, 4), pair(2, 8)), []uint8{4, 8}},
	} {
		if widths := sharedWidths(t, c.src); !slices.Equal(widths, c.widths) {
			t.Errorf("%s: loads of %v bytes, want %v", c.name, widths, c.widths)
		}
	}
}

// Loads are not joined across a division, whose machine code may branch to a routine; across one that
// does not they are.
func TestDivisionsPartLoads(t *testing.T) {
	for _, c := range []struct {
		division string
		widths   []uint8
	}{
		{"div.rn.f32 %f5, %f0, %f1;", []uint8{8, 8}},
		{"div.approx.f32 %f5, %f0, %f1;", []uint8{16}},
	} {
		var widths []uint8
		for _, b := range must(t, tile(16, 0, c.division), hopper).Blocks {
			for _, in := range b.Instrs {
				if in.Class == mir.Load && in.Space == ir.Shared {
					widths = append(widths, in.Width)
				}
			}
		}
		if !slices.Equal(widths, c.widths) {
			t.Errorf("%s: loads of %v bytes, want %v", c.division, widths, c.widths)
		}
	}
}

// tile loads four floats of a shared array at a byte offset from scale times
// the thread index, with an instruction between the second and the third.
func tile(scale, offset int, between string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, asmtest.Header+`.visible .entry tile(.param .u64 a)
{
.reg .f32 %%f<9>;
.reg .b32 %%r<5>;
.reg .b64 %%rd<4>;
.shared .align 16 .b8 s[8192];
ld.param.u64 %%rd1, [a];
cvta.to.global.u64 %%rd2, %%rd1;
mov.u32 %%r1, %%tid.x;
mov.u32 %%r2, s;
mad.lo.s32 %%r3, %%r1, %d, %%r2;
`, scale)
	for i := range 4 {
		if i == 2 {
			sb.WriteString(between)
		}
		fmt.Fprintf(&sb, "ld.shared.f32 %%f%d, [%%r3+%d];\n", i, offset+4*i)
	}
	sb.WriteString("add.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f2, %f3;\nadd.f32 %f6, %f4, %f5;\nst.global.f32 [%rd2], %f6;\nret;\n}\n")
	return sb.String()
}

func TestNeighbouringSharedLoadsJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		src    string
		widths []uint8
	}{
		{"aligned", tile(16, 0, ""), []uint8{16}},
		{"aligned at an offset", tile(16, 32, ""), []uint8{16}},
		{"half aligned", tile(8, 0, ""), []uint8{8, 8}},
		{"not aligned", tile(4, 0, ""), []uint8{4, 4, 4, 4}},
		{"aligned in the middle", tile(16, 4, ""), []uint8{4, 4, 8}},
		{"across a store", tile(16, 0, "st.shared.f32 [%r2], %f0;\n"), []uint8{8, 8}},
		{"across a barrier", tile(16, 0, "bar.sync 0;\n"), []uint8{8, 8}},
		{"across a new base", tile(16, 0, "add.s32 %r3, %r3, 16;\n"), []uint8{8, 8}},
	} {
		p := must(t, c.src, hopper)
		var widths []uint8
		bytes := 0
		for _, b := range p.Blocks {
			for _, in := range b.Instrs {
				if in.Class != mir.Load || in.Space != ir.Shared {
					continue
				}
				widths = append(widths, in.Width)
				bytes += int(in.Width)
				if p.IsJoined(in.Source) {
					t.Errorf("%s: instruction %d is joined to another and has a machine instruction", c.name, in.Source)
				}
			}
		}
		slices.Sort(widths)
		if !slices.Equal(widths, c.widths) {
			t.Errorf("%s: loads of %v bytes, want %v", c.name, widths, c.widths)
		}
		for _, w := range p.Wide {
			if !slices.Contains(c.widths, w.Bytes) || w.Bytes == 4 || p.IsJoined(w.PC) {
				t.Errorf("%s: load %d is said to be of %d bytes", c.name, w.PC, w.Bytes)
			}
		}
		if bytes != 16 || len(widths)+len(p.Joined) != 4 {
			t.Errorf("%s: %d bytes loaded and %d loads joined to %d", c.name, bytes, len(p.Joined), len(widths))
		}
	}
}

// Constants at neighbouring addresses are loaded in pairs, as ptxas does with
// ULDC.64.
func TestNeighbouringConstantLoadsJoin(t *testing.T) {
	var sb strings.Builder
	sb.WriteString(asmtest.Header + `.const .align 16 .b8 coef[64];
.visible .entry fir(.param .u64 a, .param .u32 k)
{
.reg .f32 %f<9>;
.reg .b32 %r<5>;
.reg .b64 %rd<6>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [k];
cvta.to.global.u64 %rd2, %rd1;
mul.wide.u32 %rd3, %r1, 16;
mov.u64 %rd4, coef;
add.s64 %rd5, %rd4, %rd3;
`)
	for i := range 4 {
		fmt.Fprintf(&sb, "ld.const.f32 %%f%d, [%%rd5+%d];\n", i, 4*i)
	}
	sb.WriteString("add.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f2, %f3;\nadd.f32 %f6, %f4, %f5;\nst.global.f32 [%rd2], %f6;\nret;\n}\n")
	p := must(t, sb.String(), hopper)
	if len(p.Joined) != 2 {
		t.Errorf("%d of four neighbouring constants joined to others, want 2 (pairs)", len(p.Joined))
	}
}

// stores puts four numbers in a row into shared memory, scale bytes a thread, with an
// instruction between the second and the third.
func stores(scale int, between string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, asmtest.Header+`.visible .entry put(.param .u64 a)
{
.reg .f32 %%f<9>;
.reg .b32 %%r<5>;
.reg .b64 %%rd<4>;
.shared .align 16 .b8 s[8192];
ld.param.u64 %%rd1, [a];
mov.u32 %%r1, %%tid.x;
mov.u32 %%r2, s;
mad.lo.s32 %%r3, %%r1, %d, %%r2;
ld.global.v4.f32 {%%f0, %%f1, %%f2, %%f3}, [%%rd1];
`, scale)
	for i := range 4 {
		if i == 2 {
			sb.WriteString(between)
		}
		fmt.Fprintf(&sb, "st.shared.f32 [%%r3+%d], %%f%d;\n", 4*i, i)
	}
	return sb.String() + "bar.sync 0;\nld.shared.f32 %f4, [%r3+8];\nst.global.f32 [%rd1], %f4;\nret;\n}\n"
}

// Stores that follow each other in shared memory join, and nothing that may read or write
// there is passed.
func TestNeighbouringSharedStoresJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		src    string
		widths []uint8
	}{
		{"aligned", stores(16, ""), []uint8{16}},
		{"half aligned", stores(8, ""), []uint8{8, 8}},
		{"not aligned", stores(4, ""), []uint8{4, 4, 4, 4}},
		{"across a load", stores(16, "ld.shared.f32 %f5, [%r2]; st.global.f32 [%rd1+4], %f5;\n"), []uint8{8, 8}},
		{"across a load from elsewhere", stores(16, "ld.global.f32 %f5, [%rd1+64]; st.global.f32 [%rd1+4], %f5;\n"), []uint8{16}},
		{"across a store from another address", stores(16, "st.shared.f32 [%r2], %f0;\n"), []uint8{4, 8, 8}},
		{"across one to the same place", stores(16, "st.shared.f32 [%r3+4], %f3;\n"), []uint8{4, 8, 8}},
		{"across a barrier", stores(16, "bar.sync 0;\n"), []uint8{8, 8}},
		{"across a new base", stores(16, "add.s32 %r3, %r3, 16;\n"), []uint8{8, 8}},
	} {
		p := must(t, c.src, hopper)
		var widths []uint8
		for _, b := range p.Blocks {
			for _, in := range b.Instrs {
				if in.Class == mir.Store && in.Space == ir.Shared {
					widths = append(widths, in.Width)
				}
			}
		}
		slices.Sort(widths)
		if !slices.Equal(widths, c.widths) {
			t.Errorf("%s: stores of %v bytes, want %v", c.name, widths, c.widths)
		}
	}
}
