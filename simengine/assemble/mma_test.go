package assemble

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// fragmentLoads bring a tile to shared memory and from there fragments of A and B.
const fragmentLoads = "ld.global.b32 %r4, [%rd4]; mov.u32 %r5, s; mad.lo.u32 %r6, %r1, 16, %r5; st.shared.b32 [%r6], %r4; bar.sync 0; " +
	"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r6]; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r14,%r15,%r16,%r17}, [%r6+4096]; "

const halves = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "

// Loads bring fragments to the registers that products take them from, B's of two products at a
// time, and sums stay where they are: nothing is copied, in and out of loops.
func TestFragmentsAreNotCopied(t *testing.T) {
	zeros := "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1; mov.f32 %f6, %f1; mov.f32 %f7, %f1; mov.f32 %f8, %f1; "
	stores := " st.global.v2.f32 [%rd5], {%f1,%f2}; st.global.v2.f32 [%rd5+8], {%f3,%f4}; st.global.v4.f32 [%rd5+16], {%f5,%f6,%f7,%f8};"
	two := halves + "{%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f1,%f2,%f3,%f4}; " +
		halves + "{%f5,%f6,%f7,%f8}, {%r10,%r11,%r12,%r13}, {%r16,%r17}, {%f5,%f6,%f7,%f8}; "
	scaled := "mul.f32 %f11, %f1, %f9; mul.f32 %f12, %f2, %f9; mul.f32 %f13, %f3, %f9; mul.f32 %f14, %f4, %f9; " +
		halves + "{%f15,%f16,%f17,%f18}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f11,%f12,%f13,%f14}; " +
		halves + "{%f21,%f22,%f23,%f24}, {%r10,%r11,%r12,%r13}, {%r16,%r17}, {%f15,%f16,%f17,%f18}; " +
		"mov.f32 %f1, %f21; mov.f32 %f2, %f22; mov.f32 %f3, %f23; mov.f32 %f4, %f24; "
	for _, c := range []struct {
		name, body string
		products   int
	}{
		{"two products", zeros + fragmentLoads + two + stores, 2},
		{"a loop", zeros + "mov.u32 %r7, 0; $loop: .pragma \"nounroll\"; " + fragmentLoads + two + "bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r2; @%p1 bra $loop; " + stores, 2},
		{"sums that are scaled", zeros + "mov.u32 %r7, 0; cvt.rn.f32.u32 %f9, %r3; $loop: .pragma \"nounroll\"; " + fragmentLoads + scaled + "bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r2; @%p1 bra $loop; " + stores, 2},
	} {
		src := kernelOf(c.body)
		n := selectedOps(t, src, hopper.CC)
		if n[mir.OpHMMASINGLE] != c.products || n[mir.OpLDSM] != 2 {
			t.Errorf("%s: %d products and %d loads of fragments, want %d and 2", c.name, n[mir.OpHMMASINGLE], n[mir.OpLDSM], c.products)
		}
		if n[mir.OpMOV] > 10 { // eight zeros, where shared memory begins, a counter
			t.Errorf("%s: %d copies, want 10 at most", c.name, n[mir.OpMOV])
		}
		must(t, src, hopper)
	}
}

// Rounding to tf32 is a comparison, a sum under it and, unless products alone read it, what takes
// the lower bits off; the other ways to round are one instruction. By ptxas 13.0.88, for sm_80 to
// sm_120.
func TestRoundingToTF32(t *testing.T) {
	product := "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r10,%r10,%r10,%r11}, {%r12,%r13}, {0f00000000,0f00000000,0f00000000,0f00000000}; st.global.v4.f32 [%rd5], {%f1,%f2,%f3,%f4};"
	for _, c := range []struct {
		name, body              string
		compares, sums, lows, f int
	}{
		{"stored", "ld.global.f32 %f9, [%rd4]; cvt.rna.tf32.f32 %r10, %f9; st.global.b32 [%rd5], %r10;", 1, 1, 1, 0},
		{"to the nearest even", "ld.global.f32 %f9, [%rd4]; cvt.rn.tf32.f32 %r10, %f9; st.global.b32 [%rd5], %r10;", 0, 0, 0, 1},
		{"multiplied", "ld.global.f32 %f9, [%rd4]; cvt.rna.tf32.f32 %r10, %f9; ld.global.v2.b32 {%r12,%r13}, [%rd4+8]; mov.b32 %r11, %r13; " + product, 1, 1, 0, 0},
		{"multiplied and stored", "ld.global.f32 %f9, [%rd4]; cvt.rna.tf32.f32 %r10, %f9; ld.global.v2.b32 {%r12,%r13}, [%rd4+8]; mov.b32 %r11, %r13; st.global.b32 [%rd5+16], %r10; " + product, 1, 1, 1, 0},
	} {
		n := selectedOps(t, kernelOf(c.body), hopper.CC)
		if n[mir.OpFSETP] != c.compares || n[mir.OpIMADIADD] != c.sums || n[mir.OpLOP3] != c.lows || n[mir.OpHADD2] != c.f || n[mir.OpFRND] != 0 {
			t.Errorf("%s: %d comparisons, %d sums, %d masks, %d conversions, want %d, %d, %d and %d", c.name, n[mir.OpFSETP], n[mir.OpIMADIADD], n[mir.OpLOP3], n[mir.OpHADD2], c.compares, c.sums, c.lows, c.f)
		}
		must(t, kernelOf(c.body), hopper)
	}
}

// Turing's tensor cores multiply half as deep, and bytes half as high; what came before, and
// types that a generation does not have, are refused.
func TestProductsByGeneration(t *testing.T) {
	bytes := "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r20,%r21,%r22,%r23}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {0,0,0,0}; st.global.v4.b32 [%rd5], {%r20,%r21,%r22,%r23};"
	floats := halves + "{%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {0f00000000,0f00000000,0f00000000,0f00000000}; st.global.v4.f32 [%rd5], {%f1,%f2,%f3,%f4};"
	for _, c := range []struct {
		name, body string
		cc         [2]int
		op         mir.Op
		n          int
	}{
		{"halves on Hopper", floats, [2]int{9, 0}, mir.OpHMMASINGLE, 1},
		{"halves on Turing", floats, [2]int{7, 5}, mir.OpHMMASINGLESHORT, 2},
		{"bytes on Ampere", bytes, [2]int{8, 0}, mir.OpIMMA, 1},
		{"bytes on Turing", bytes, [2]int{7, 5}, mir.OpIMMASHORT, 4},
	} {
		if n := selectedOps(t, kernelOf(fragmentLoads+c.body), c.cc); n[c.op] != c.n {
			t.Errorf("%s: %d %v, want %d", c.name, n[c.op], c.op, c.n)
		}
	}
	bfloats := strings.ReplaceAll(floats, ".f16.", ".bf16.")
	bfloats = strings.ReplaceAll(bfloats, "bf16.f16", "bf16.bf16")
	for name, c := range map[string]struct {
		body string
		cc   [2]int
	}{"halves on Volta": {floats, [2]int{7, 0}}, "bfloats on Turing": {bfloats, [2]int{7, 5}}} {
		tg, err := target.For(c.cc)
		if err != nil {
			t.Fatal(err)
		}
		_, err = selected(asmtest.BuildKernel(t, "k", []byte(kernelOf(fragmentLoads+c.body))), tg)
		if err == nil || !strings.Contains(err.Error(), "MMA of") {
			t.Errorf("%s: %v, want it refused by name", name, err)
		}
	}
}

// Addresses in shared memory that differ by constants, wherever those were added, are one
// register with offsets; of what a loop changes only what it has changed since is shared.
func TestSharedOffsets(t *testing.T) {
	at := "mov.u32 %r4, s; shl.b32 %r5, %r1, 3; "
	for _, c := range []struct {
		name, body string
		sums       int // additions, shifts and products of words
	}{
		{"a constant in a sum", at + "add.u32 %r6, %r5, %r4; add.u32 %r7, %r6, 64; add.u32 %r8, %r6, 96; ", 1},
		{"a constant before a shift", at + "add.u32 %r10, %r1, 16; shl.b32 %r11, %r10, 3; add.u32 %r6, %r5, %r4; add.u32 %r7, %r11, %r4; sub.u32 %r8, %r7, 8; ", 1},
		{"a constant in a product", at + "mul.lo.u32 %r12, %r1, 24; add.u32 %r10, %r1, 16; mad.lo.u32 %r7, %r10, 24, %r4; add.u32 %r6, %r12, %r4; add.u32 %r8, %r7, 4; ", 2},
		{"other multiples", at + "shl.b32 %r11, %r1, 4; add.u32 %r6, %r5, %r4; add.u32 %r7, %r11, %r4; add.u32 %r8, %r7, 8; ", 2},
	} {
		src := kernelOf(c.body + "st.shared.b32 [%r6], %r2; bar.sync 0; ld.shared.b32 %r13, [%r7]; ld.shared.b32 %r14, [%r8+4]; xor.b32 %r13, %r13, %r14; st.global.b32 [%rd5], %r13;")
		n := selectedOps(t, src, hopper.CC)
		without := selectedOps(t, kernelOf("mov.u32 %r4, s; st.shared.b32 [%r4], %r2; bar.sync 0; ld.shared.b32 %r13, [%r4+8]; ld.shared.b32 %r14, [%r4+16]; xor.b32 %r13, %r13, %r14; st.global.b32 [%rd5], %r13;"), hopper.CC)
		sums := func(n map[mir.Op]int) int {
			return n[mir.OpIADD3] + n[mir.OpVIADD] + n[mir.OpIMADIADD] + n[mir.OpLEA] + n[mir.OpSHL] + n[mir.OpSHF] + n[mir.OpIMAD] + n[mir.OpIMADSHL]
		}
		if got := sums(n) - sums(without); got != c.sums {
			t.Errorf("%s: %d sums, shifts and products, want %d", c.name, got, c.sums)
		}
		must(t, src, hopper)
	}
	// The loop moves %r6 on between the two loads: the second needs the new value.
	loop := kernelOf("mov.u32 %r6, s; mov.u32 %r7, 0; mov.u32 %r9, 0; $loop: .pragma \"nounroll\"; add.u32 %r10, %r6, 16; ld.shared.b32 %r11, [%r10]; add.u32 %r6, %r6, 4; " +
		"add.u32 %r12, %r6, 32; ld.shared.b32 %r13, [%r12]; add.u32 %r9, %r9, %r11; add.u32 %r9, %r9, %r13; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r2; @%p1 bra $loop; st.global.b32 [%rd5], %r9;")
	f, err := selected(asmtest.BuildKernel(t, "k", []byte(loop)), mustTarget(t, hopper.CC))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range f.Order {
		for i := range f.Blocks[b].Insts {
			if in := &f.Blocks[b].Insts[i]; in.Op == mir.OpLDS && in.MemOffset != 0 && in.MemOffset != 16 && in.MemOffset != 32 {
				t.Errorf("a load %d bytes from a register that changes in between", in.MemOffset)
			}
		}
	}
	must(t, loop, hopper)
}
