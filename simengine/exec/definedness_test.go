package exec

import (
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
)

// halfWritten has each thread below 16 write its word of shared memory, and read the word at 4*(thread) + off after a barrier.
const halfWritten = `
	setp.lt.u32 %p0, %r0, 16;
	@%p0 st.shared.u32 [%r31], %r0;
	bar.sync 0;
	ld.shared.u32 %r1, [%r31];
`

// tensor multiplies a tile whose rows from 8 on nobody wrote.
const tensor = `
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
	st.shared.u32 [%r31], 1006648320;
	bar.sync 0;
	ld.shared.u32 %r4, [%r31];
	ld.shared.u32 %r5, [%r31+1024];
	mov.f32 %f1, 0f00000000;
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2,%f3,%f4,%f5}, {%r4,%r5,%r4,%r5}, {%r4,%r4}, {%f1,%f1,%f1,%f1};
`

// What nobody wrote is a fault where it matters, and only there.
func TestUninitialisedReads(t *testing.T) {
	const read = "uninitialised read: `ld.shared.u32 %r1, [%r31];` at k.ptx:"
	for _, c := range []struct {
		name, decls, body string
		want              string // in the fault; "": none
		slice             bool   // found in Slice mode too
	}{
		{"stored", "", halfWritten + "st.global.u32 [%rd3], %r1;", "shared address 0x40: cta 0 thread 16: reads what no thread of the CTA wrote; it is stored in `st.global.u32 [%rd3], %r1;` at k.ptx:", false},
		{"not used", "", halfWritten + "mov.u32 %r1, 0;\nst.global.u32 [%rd3], %r1;", "", false},
		{"used where it was written", "", halfWritten + "@%p0 st.global.u32 [%rd3], %r1;", "", false},
		{"computed with", "", halfWritten + "mad.lo.u32 %r2, %r1, 3, %r0;\nst.global.u32 [%rd3], %r2;", read, false},
		{"selected away", "", halfWritten + "selp.u32 %r2, %r1, 0, %p0;\nst.global.u32 [%rd3], %r2;", "", false},
		{"selected", "", halfWritten + "selp.u32 %r2, 0, %r1, %p0;\nst.global.u32 [%rd3], %r2;", read, false},
		{"decides a branch", "", halfWritten + "setp.eq.u32 %p1, %r1, 3;\n@%p1 bra l;\nst.global.u32 [%rd3], 1;\nl:", "a branch depends on it in `@%p1 bra b2;`", true},
		{"would decide a branch", "", halfWritten + "setp.gt.u32 %p1, %r1, 3;\nand.pred %p1, %p1, %p0;\n@%p1 bra l;\nst.global.u32 [%rd3], 1;\nl:", "", false},
		{"would decide a branch, in one", "", halfWritten + "setp.gt.and.u32 %p1, %r1, 3, %p0;\n@%p1 bra l;\nst.global.u32 [%rd3], 1;\nl:", "", false},
		{"decides about a store", "", halfWritten + "setp.gt.u32 %p1, %r1, 3;\n@%p1 st.global.u32 [%rd3], 1;", "whether an instruction is executed depends on it", true},
		{"an index", "", halfWritten + "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r2, [%rd5];", "an address depends on it in `ld.global.u32 %r2, [%rd5];`", true},
		{"an atomic", "", halfWritten + "red.global.add.u32 [%rd0], %r1;", "an atomic combines it", false},
		{"a histogram that is not cleared", "", "atom.shared.add.u32 %r1, [%r31], 1;\nbar.sync 0;\nld.shared.u32 %r2, [%r31];\nst.global.u32 [%rd3], %r2;", "it is stored", false},
		{"a histogram that is cleared", "", "st.shared.u32 [%r31], 0;\natom.shared.add.u32 %r1, [%r31], 1;\nbar.sync 0;\nld.shared.u32 %r2, [%r31];\nst.global.u32 [%rd3], %r2;", "", false},
		{"exchanged", "", "atom.shared.exch.b32 %r1, [%r31], 1;\nld.shared.u32 %r2, [%r31];\nst.global.u32 [%rd3], %r2;", "", false},
		{"moved on in shared memory", "", halfWritten + "st.shared.u32 [%r31+512], %r1;\nld.shared.u32 %r2, [%r31+512];\nst.global.u32 [%rd3], %r2;", "it is stored", false},
		{"the padding of a vector", "", "shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r29, %r5;\nst.shared.v2.u32 [%r5], {%r0,%r0};\nst.shared.u32 [%r5+8], %r0;\nld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r5];\nst.global.u32 [%rd3], %r3;", "", false},
		{"beyond the padding of a vector", "", "shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r29, %r5;\nst.shared.v2.u32 [%r5], {%r0,%r0};\nst.shared.u32 [%r5+8], %r0;\nld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r5];\nst.global.u32 [%rd3], %r4;", "it is stored", false},
		{"some bytes", "", "st.shared.u8 [%r31], %r0;\nld.shared.u32 %r1, [%r31];\nst.global.u32 [%rd3], %r1;", "", false},
		{"a neighbour's, shuffled", "", halfWritten + "shfl.sync.down.b32 %r2, %r1, 8, 31, -1;\nsetp.lt.u32 %p1, %r0, 8;\n@%p1 st.global.u32 [%rd3], %r2;", "", false},
		{"a neighbour's that was not written, shuffled", "", halfWritten + "shfl.sync.down.b32 %r2, %r1, 8, 31, -1;\nsetp.lt.u32 %p1, %r0, 9;\n@%p1 st.global.u32 [%rd3], %r2;", "it is stored", false},
		{"a reduction beyond the end", "", "setp.lt.u32 %p0, %r0, 32;\n@%p0 st.shared.u32 [%r31], %r0;\nld.shared.u32 %r1, [%r31];\nld.shared.u32 %r2, [%r31+64];\nadd.u32 %r1, %r1, %r2;\nst.shared.u32 [%r31], %r1;\nld.shared.u32 %r2, [%r31+32];\nadd.u32 %r1, %r1, %r2;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 st.global.u32 [%rd3], %r1;", "", false},
		{"a vote", "", halfWritten + "setp.gt.u32 %p1, %r1, 3;\nvote.sync.any.pred %p2, %p1, -1;\n@%p2 bra l;\nst.global.u32 [%rd3], 1;\nl:", "a branch depends on it", true},
		{"local memory", ".local .align 4 .b8 own[16];", "st.local.u32 [own], %r0;\nld.local.u32 %r1, [own+4];\nst.global.u32 [%rd3], %r1;", "local address 0x4: cta 0 thread 0: reads what the thread never wrote", false},
		{"local memory that was written", ".local .align 4 .b8 own[16];", "st.local.u32 [own+4], %r0;\nld.local.u32 %r1, [own+4];\nst.global.u32 [%rd3], %r1;", "", false},
		{"an asynchronous copy", "", "shl.b32 %r5, %r0, 4;\nadd.u32 %r5, %r29, %r5;\nmul.wide.u32 %rd5, %r0, 16;\nadd.s64 %rd5, %rd1, %rd5;\ncp.async.ca.shared.global [%r5], [%rd5], 16;\ncp.async.wait_all;\nld.shared.u32 %r1, [%r5+8];\nst.global.u32 [%rd3], %r1;", "", false},
		{"rows of a product that were written", "", tensor + "st.global.f32 [%rd3], %f3;", "", false},
		{"rows of a product that were not", "", tensor + "st.global.f32 [%rd3], %f4;", "it is stored", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(bodyKernel("", c.body), ".reg .pred", c.decls+"\n.reg .f32 %f<8>;\n.reg .pred", 1)
			k := buildKernel(t, "k.ptx", []byte(text))
			for _, mode := range []Mode{Full, Slice} {
				l, m := launchBody(t, k, 32)
				r := NewRunner(compileFor(t, k, mode))
				for range 2 { // what an earlier CTA wrote counts for nothing
					err := r.Run(l, m, 0, Options{Uninitialised: true}, nil)
					var f *fault.Fault
					found := c.want != "" && (mode == Full || c.slice)
					switch {
					case !found && err != nil:
						t.Errorf("%v: %v", mode, err)
					case found && (!errors.As(err, &f) || f.Kind != fault.Uninitialised || !strings.Contains(f.Error(), c.want)):
						t.Errorf("%v: %v, want %q", mode, err, c.want)
					}
				}
			}
		})
	}
}
