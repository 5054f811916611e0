package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// loopText is a kernel whose loop of n rounds has a body over %f, %r and %rd; %rd3 is a
// thread's address, and %r1 the parameter n.
func loopText(before, body string) string { return asmtest.LoopKernel("", before, body, "%r1") }

// Strides that all lanes share are worked out in uniform registers, and take no general ones in the loop. Products
// of parameters or of what the launch gives do: each sum with one is a multiply-add (pathfinder of
// h200-2026-11-21-project-b, HeCBench's fwt).
func TestStridesStayUniform(t *testing.T) {
	walk := "add.s64 %rd3, %rd3, %rd4; ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2;"
	for _, c := range []struct {
		name, before string
		uniform      mir.Op
	}{
		{"a product of a product", "mul.lo.s32 %r4, %r1, %r1; mul.wide.s32 %rd4, %r4, 4;", mir.OpUIMADWIDE},
		{"a sum with one of words", "mul.wide.s32 %rd5, %r1, 12; add.s64 %rd4, %rd5, 32;", mir.OpUIMADWIDE},
		{"a shift of two words", "add.s32 %r4, %r1, 8; cvt.s64.s32 %rd5, %r4; shl.b64 %rd6, %rd5, 2; add.s64 %rd4, %rd6, 32;", mir.OpUSHF},
	} {
		src := loopText(c.before, walk)
		n := inLoop(t, src)
		if n[mir.OpIADD3]+n[mir.OpIADD3X] != 2 || n[mir.OpIMADWIDE] != 0 || n[mir.OpMOV] != 0 {
			t.Errorf("%s: %d sums, %d wide products and %d moves in the loop; want the address's two words, 0 and 0", c.name, n[mir.OpIADD3]+n[mir.OpIADD3X], n[mir.OpIMADWIDE], n[mir.OpMOV])
		}
		if all := selectedOps(t, src, hopper.CC); all[c.uniform] == 0 {
			t.Errorf("%s: no %v works out the stride", c.name, c.uniform)
		}
		must(t, src, hopper)
	}
	for _, before := range []string{"mul.wide.s32 %rd4, %r1, 12;", "mov.u32 %r4, %ntid.x; mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r4, %r5; mul.wide.s32 %rd4, %r6, 4;"} {
		if n := inLoop(t, loopText(before, walk)); n[mir.OpIMADWIDE] != 1 || n[mir.OpIADD3]+n[mir.OpIADD3X]+n[mir.OpMOV] != 0 {
			t.Errorf("%s: %v in the loop, want one multiply-add", before, n)
		}
	}
}

// Where an instruction takes general registers only, it gets a copy of its own in loops.
func TestUniformIndexIsCopiedInLoops(t *testing.T) {
	src := loopText("add.s32 %r4, %r1, 8; mul.lo.s32 %r5, %r4, %r1;", "mul.wide.s32 %rd4, %r5, 4; add.s64 %rd3, %rd3, %rd4; ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2; xor.b32 %r3, %r3, %r5; xor.b32 %r3, %r3, %r5;")
	if n := inLoop(t, src); n[mir.OpMOV] == 0 {
		t.Errorf("no copy in the loop: %v", n)
	}
	must(t, src, hopper)
	// What a CTA's place alone gives is in a general register from the start.
	src = loopText("mov.u32 %r4, %ctaid.x; shl.b32 %r5, %r4, 4;", "add.s32 %r6, %r2, %r5; max.s32 %r7, %r6, 1; xor.b32 %r3, %r3, %r7;")
	if n := inLoop(t, src); n[mir.OpMOV] != 0 {
		t.Errorf("%d copies of a CTA's first column in the loop", n[mir.OpMOV])
	}
	must(t, src, hopper)
}

// Shared memory is counted in by an instruction of its own, from Maxwell on.
func TestCountingInSharedMemory(t *testing.T) {
	for _, c := range []struct {
		name, body string
		cc         [2]int
		counts     int
	}{
		{"one to a word", "atom.shared.add.u32 %r5, [s], 1;", [2]int{9, 0}, 1},
		{"on Maxwell", "atom.shared.add.u32 %r5, [s], 1;", [2]int{5, 2}, 1},
		{"on Kepler", "atom.shared.add.u32 %r5, [s], 1;", [2]int{3, 5}, 0},
		{"a reduction", "red.shared.add.u32 [s], 1;", [2]int{8, 6}, 1},
		{"two to a word", "atom.shared.add.u32 %r5, [s], 2;", [2]int{9, 0}, 0},
		{"whose result is read", "atom.shared.add.u32 %r5, [s], 1; cvt.rn.f32.u32 %f1, %r5;", [2]int{9, 0}, 0},
		{"another operation", "atom.shared.max.u32 %r5, [s], 1;", [2]int{9, 0}, 0},
	} {
		n := selectedOps(t, guardedText(c.body), c.cc)
		if n[mir.OpATOMSINC] != c.counts || n[mir.OpATOMSINC]+n[mir.OpATOMS] != 1 {
			t.Errorf("%s: %d counting instructions and %d others, want %d of one", c.name, n[mir.OpATOMSINC], n[mir.OpATOMS], c.counts)
		}
		if p := must(t, guardedText(c.body), Options{CC: c.cc}); len(p.Counted) != c.counts {
			t.Errorf("%s: counted %v", c.name, p.Counted)
		}
	}
}

// Loads of what nobody writes go ahead of atomics, others of their space do not.
func TestLoadsAheadOfAtomics(t *testing.T) {
	for _, c := range []struct {
		name, load, atom string
		stays            bool
	}{
		{"of what nobody writes", "ld.global.nc.f32 %f2, [%rd3];", "atom.shared.add.u32 %r5, [s], 2;", false},
		{"of another space", "ld.global.f32 %f2, [%rd3];", "atom.shared.add.u32 %r5, [s], 2;", false},
		{"of what it may change", "ld.global.f32 %f2, [%rd3];", "atom.global.add.u32 %r5, [%rd1], 2;", true},
		{"after an acquire", "ld.global.f32 %f2, [%rd3];", "atom.acquire.cta.shared.add.u32 %r5, [s], 2;", true},
	} {
		f, err := selected(asmtest.BuildKernel(t, "k", []byte(guardedText(c.atom+" "+c.load+" add.f32 %f1, %f1, %f2;"))), mustTarget(t, hopper.CC))
		if err != nil {
			t.Fatal(err)
		}
		var atom, load *mir.Inst
		for b := range f.Blocks {
			for i := range f.Blocks[b].Insts {
				switch in := &f.Blocks[b].Insts[i]; in.Op {
				case mir.OpATOMS, mir.OpATOM, mir.OpRED:
					atom = in
				case mir.OpLDG:
					load = in
				}
			}
		}
		if atom == nil || load == nil || mir.Conflict(atom, load) != c.stays {
			t.Errorf("%s: the load stays behind: %v, want %v", c.name, !c.stays, c.stays)
		}
	}
}

// Hopper takes the least or the greatest of three, and of a sum and another.
func TestMinMaxOfThree(t *testing.T) {
	three := "ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3+4]; ld.global.u32 %r5, [%rd3+8]; max.s32 %r6, %r3, %r4; max.s32 %r7, %r6, %r5; cvt.rn.f32.s32 %f1, %r7;"
	for _, c := range []struct {
		name, body        string
		cc                [2]int
		one, three, fused int
	}{
		{"of three", three, [2]int{9, 0}, 0, 1, 0},
		{"before Hopper", three, [2]int{8, 6}, 2, 0, 0},
		{"of different kinds", strings.Replace(three, "max.s32 %r7", "min.s32 %r7", 1), [2]int{9, 0}, 2, 0, 0},
		{"of different signs", strings.Replace(three, "max.s32 %r7", "max.u32 %r7", 1), [2]int{9, 0}, 2, 0, 0},
		{"of a sum", strings.Replace(three, "max.s32 %r6", "add.s32 %r6", 1), [2]int{9, 0}, 0, 0, 1},
	} {
		n := selectedOps(t, guardedText(c.body), c.cc)
		if n[mir.OpIMNMX] != c.one || n[mir.OpIMNMX3] != c.three || n[mir.OpADDMNMX] != c.fused {
			t.Errorf("%s: %d of two, %d of three, %d of sums; want %d, %d and %d", c.name, n[mir.OpIMNMX], n[mir.OpIMNMX3], n[mir.OpADDMNMX], c.one, c.three, c.fused)
		}
	}
}

// Of pairs of 16-bit integers, too; a difference is a sum with halves negated one by one.
func TestPairsOnHopper(t *testing.T) {
	load := "ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3+4]; ld.global.u32 %r5, [%rd3+8];\n.reg .b16 %h<5>; .reg .b32 %q<3>;\n"
	negated := "mov.b32 {%h1, %h2}, %r4; neg.s16 %h3, %h1; neg.s16 %h4, %h2; mov.b32 %q1, {%h3, %h4};"
	for _, c := range []struct {
		name, body                    string
		sums, one, three, fused, prmt int
	}{
		{"greatest of three", "max.s16x2 %q1, %r3, %r4; max.s16x2 %q2, %q1, %r5;", 0, 0, 1, 0, 0},
		{"of different signs", "max.s16x2 %q1, %r3, %r4; max.u16x2 %q2, %q1, %r5;", 0, 2, 0, 0, 0},
		{"greatest of a sum", "add.s16x2 %q1, %r3, %r4; max.s16x2 %q2, %q1, %r5;", 0, 0, 0, 1, 0},
		{"of a sum of words", "add.s32 %q1, %r3, %r4; max.s16x2 %q2, %q1, %r5;", 1, 1, 0, 0, 0},
		{"difference", negated + "add.s16x2 %q2, %r3, %q1;", 1, 0, 0, 0, 0},
		{"of exchanged halves", strings.Replace(negated, "{%h3, %h4}", "{%h4, %h3}", 1) + "add.s16x2 %q2, %r3, %q1;", 3, 0, 0, 0, 3},
	} {
		n := selectedOps(t, guardedText(load+c.body+" cvt.rn.f32.s32 %f1, %q2;"), [2]int{9, 0})
		base := selectedOps(t, guardedText(load+"xor.b32 %q1, %r3, %r4; xor.b32 %q2, %q1, %r5; cvt.rn.f32.s32 %f1, %q2;"), [2]int{9, 0})
		if got := n[mir.OpIADD3] - base[mir.OpIADD3]; got != c.sums || n[mir.OpIMNMX] != c.one || n[mir.OpIMNMX3] != c.three || n[mir.OpADDMNMX] != c.fused || n[mir.OpPRMT] != c.prmt {
			t.Errorf("%s: %d sums, %d of two, %d of three, %d of sums, %d PRMT; want %+v", c.name, got, n[mir.OpIMNMX], n[mir.OpIMNMX3], n[mir.OpADDMNMX], n[mir.OpPRMT], c)
		}
	}
}

// A vector that begins with zeros and that a load may then fill keeps its place: one
// instruction zeroes two words, and nothing is copied.
func TestGuardedVectorsBeginWithZeros(t *testing.T) {
	src := guardedText("mov.f32 %f2, 0f00000000; mov.f32 %f3, %f2; @%p1 bra L1; ld.global.nc.v2.f32 {%f2, %f3}, [%rd3]; L1:\nfma.rn.f32 %f1, %f2, %f3, %f1;")
	p, err := Prepare(asmtest.BuildKernel(t, "k", []byte(src)), hopper)
	if err != nil {
		t.Fatal(err)
	}
	u, err := p.assemble(hopper)
	if err != nil {
		t.Fatal(err)
	}
	f := u.mir
	n := map[mir.Op]int{}
	for b := range f.Blocks {
		for i := range f.Blocks[b].Insts {
			n[f.Blocks[b].Insts[i].Op]++
		}
	}
	if n[mir.OpCS2R] != 1 || n[mir.OpMOV]+n[mir.OpIMADMOV] > 2 {
		t.Errorf("%d pairs zeroed, %d and %d moves; want 1 and at most those of the other zero and the stack pointer\n%s", n[mir.OpCS2R], n[mir.OpMOV], n[mir.OpIMADMOV], asmtest.Listing(f))
	}
}

// A sum with one of two constants is made of both, the second under its condition.
func TestSumsWithOneOfTwoConstants(t *testing.T) {
	body := "ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3+4]; setp.eq.s32 %p2, %r3, %r2; selp.b32 %r5, 2, -1, %p2; add.s32 %r6, %r5, %r4; cvt.rn.f32.s32 %f1, %r6;"
	for _, c := range []struct {
		name, body string
		cc         [2]int
		sums, sels int
	}{
		{"on Hopper", body, [2]int{9, 0}, 2, 0},
		{"before", body, [2]int{8, 6}, 1, 1},
		{"of which something else reads the choice", body + " xor.b32 %r7, %r5, %r6; cvt.rn.f32.s32 %f1, %r7;", [2]int{9, 0}, 1, 1},
	} {
		n := selectedOps(t, guardedText(c.body), c.cc)
		if n[mir.OpIADD3] != c.sums || n[mir.OpSEL] != c.sels {
			t.Errorf("%s: %d sums and %d choices, want %d and %d", c.name, n[mir.OpIADD3], n[mir.OpSEL], c.sums, c.sels)
		}
		must(t, guardedText(c.body), Options{CC: c.cc})
	}
}
