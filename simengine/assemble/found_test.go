package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
)

// TestFoundByMutants has what TestMutantsAssemble found, made small. Most of it reads registers
// that nothing has written on some path, as compilers leave those that nobody looks at.
func TestFoundByMutants(t *testing.T) {
	verifying = true
	defer func() { verifying = false }()
	for _, c := range []struct {
		name, body string
		opt        Options
	}{
		{"a register converted from itself", `
	cvt.u32.s32 %r1, %r1;
	st.global.u32 [%rd1], %r1;`, hopper},
		{"a test of bits into two predicates", `
	mov.u32 %r5, %tid.x;
	and.b32 %r2, %r5, 255;
	setp.eq.s32 %p1|%p2, %r2, 0;
	selp.b32 %r3, %r1, %r2, %p1;
	selp.b32 %r4, %r3, %r2, %p2;
	st.global.u32 [%rd1], %r4;`, hopper},
		{"a sum of a uniform product and a constant of 64 bits", `
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [n];
	mov.u32 %r5, %ctaid.x;
	mov.u32 %r6, %tid.x;
	mul.wide.u32 %rd8, %r6, 4;
	cvt.s64.s32 %rd2, %r1;
	mul.wide.u32 %rd3, %r5, 16;
	or.b64 %rd4, %rd3, 14;
	mad.lo.s64 %rd5, %rd4, %rd2, 512;
	add.s64 %rd6, %rd1, %rd5;
	mov.u32 %r7, 0;
L1:
	add.s64 %rd7, %rd6, %rd8;
	st.global.u32 [%rd7], %r7;
	add.s64 %rd6, %rd6, 512;
	add.s32 %r7, %r7, 1;
	setp.lt.s32 %p1, %r7, %r1;
	@%p1 bra L1;`, hopper},
		{"a register masked with itself", `
	and.b32 %r2, %r2, 255;
	and.b32 %r1, %r2, 65535;
	st.global.u32 [%rd1], %r1;`, hopper},
		{"a constant taken apart", `
	mov.b64 {%r1, %r2}, -128;
	mov.b32 {%h1, %h2}, 65536;
	cvt.u32.u16 %r3, %h2;
	add.s32 %r1, %r1, %r2;
	add.s32 %r1, %r1, %r3;
	st.global.u32 [%rd1], %r1;`, hopper},
		{"a conversion into a wider register", `
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [n];
	cvt.s16.s32 %rd2, %r1;
	cvt.s16.s32 %r2, %r1;
	cvt.u8.s32 %rd3, %r1;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u64 [%rd1], %rd4;
	st.global.u32 [%rd1+8], %r2;`, hopper},
		{"the same into two widths", `
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [n];
	cvt.s16.s32 %r2, %r1;
	cvt.s16.s32 %rd2, %r1;
	add.s64 %rd4, %rd2, 3;
	st.global.u64 [%rd1], %rd4;
	st.global.u32 [%rd1+8], %r2;`, hopper},
		{"spilling round a loop with two entries", `
	add.s32 %r36, %r5, 1;
	@%p6 bra L5;
L3:
	mov.f32 %f216, %f208;
	@%p6 bra L5;
	add.s64 %rd50, %rd13, %rd64;
	ld.global.nc.v4.f32 {%f216, %f215, %f214, %f213}, [%rd50];
L5:
	st.shared.v4.f32 [%r7], {%f208, %f207, %f206, %f205};
	add.s64 %rd63, %rd1, %rd62;
	fma.rn.f32 %f198, %f214, 0f3D23D70A, %f190;
	fma.rn.f32 %f199, %f215, 0f3D23D70A, %f184;
	fma.rn.f32 %f200, %f216, 0f3D23D70A, %f178;
	st.global.v4.f32 [%rd63], {%f200, %f199, %f198, %f197};
	add.s32 %r36, %r36, 2;
	add.s64 %rd64, %rd64, %rd6;
	@%p14 bra L3;`, Options{CC: hopper.CC, MaxRegisters: 32}},
		{"a constant of a merged block done again in another", `
	setp.eq.s32 %p12, %r177, %r37;
	selp.b32 %r7, %r38, %r6, %p12;
	@%p3 bra L9;
	shfl.sync.bfly.b32 %r50|%p16, %r48, %r29, %r18, %r20;
	shfl.sync.bfly.b32 %r53|%p17, %r51, %r32, %r18, %r20;
	@%p3 bra L7;
	st.global.f32 [%rd6+4], %f25;
L7:
	mov.u32 %r54, -1;
	setp.eq.s32 %p21, %r2, %r57;
	selp.b32 %r8, %r58, %r7, %p21;
	selp.f32 %f26, %f18, %f19, %p21;
	shfl.sync.bfly.b32 %r73|%p26, %r71, %r72, %r59, %r54;
	max.f32 %f32, %f94, %f95;
	shfl.sync.bfly.b32 %r47|%p15, %r45, %r26, %r18, %r20;
L9:
	setp.eq.f32 %p28, %f31, %f32;
	vote.sync.ballot.b32 %r75, %p28, %r54;
	selp.b32 %r9, %r78, %r8, %p30;
	selp.f32 %f33, %f26, %f27, %p30;
	shfl.sync.bfly.b32 %r81|%p31, %r9, %r60, %r59, %r54;`, Options{CC: [2]int{8, 0}, MaxRegisters: 32}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := asmtest.Header + ".visible .entry k(.param .u64 a, .param .u32 n) {\n.reg .pred %p<99>; .reg .b16 %h<4>; .reg .f32 %f<299>; .reg .b32 %r<199>; .reg .b64 %rd<99>;\n" + c.body + "\n}"
			if ok, err := assembleMutant(text, c.opt); !ok || err != nil {
				t.Errorf("a kernel: %v; %v", ok, err)
			}
		})
	}
}

// A guarded load of a vector some of whose elements are variables that others write, too,
// and some are not, reads nothing: the variables are copied.
func TestGuardedVectorOfVariables(t *testing.T) {
	verifying = true
	defer func() { verifying = false }()
	must(t, guardedText("ld.global.v2.u32 {%r3, %r4}, [%rd3]; setp.gt.s32 %p2, %r1, 7; @%p2 bra ON; "+
		"ld.global.v2.u32 {%r3, %r5}, [%rd3+8]; add.s32 %r3, %r3, %r5; ON: add.s32 %r6, %r3, %r4; st.global.u32 [%rd3], %r6;"), hopper)
}
