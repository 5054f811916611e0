package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// kernelOf is a kernel of a body, which reads %rd1 and %rd2 (buffers), %r1 (the thread),
// %r2 and %r3 (parameters), %rd4 and %rd5 (the thread's 8 bytes of the buffers) and the
// shared array s, and may go on to END.
func kernelOf(body string) string {
	return asmtest.Header + `.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m)
{
	.shared .align 16 .b8 s[8192];
	.reg .pred %p<8>;
	.reg .b16 %h<16>;
	.reg .f32 %f<32>;
	.reg .f64 %fd<8>;
	.reg .b32 %r<64>;
	.reg .b64 %rd<32>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r2, [n];
	ld.param.u32 %r3, [m];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 8;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
` + body + `
END:
	ret;
}
`
}

// What several readers can share, or compute as a part of themselves, is not computed for
// each, or at all.
func TestSharedWork(t *testing.T) {
	const loads = "ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4];"
	const guard = "setp.ge.u32 %p1, %r1, %r2; @%p1 bra END;"
	for _, c := range []struct {
		name, body string
		want       map[mir.Op]int
	}{
		{"a product that two sums take", loads + "mul.f32 %f3, %f1, 0f3F000000; sub.f32 %f4, %f2, %f3; add.f32 %f5, %f3, %f4; st.global.f32 [%rd5], %f5;",
			map[mir.Op]int{mir.OpFMUL: 0, mir.OpFFMA: 2}},
		{"a product that is stored, too", loads + "mul.f32 %f3, %f1, 0f3F000000; sub.f32 %f4, %f2, %f3; add.f32 %f5, %f3, %f4; st.global.f32 [%rd5], %f5; st.global.f32 [%rd5+4], %f3;",
			map[mir.Op]int{mir.OpFMUL: 1, mir.OpFFMA: 0}},
		{"a product rounded by itself", loads + "mul.rn.f32 %f3, %f1, 0f3F000000; sub.f32 %f4, %f2, %f3; add.f32 %f5, %f3, %f4; st.global.f32 [%rd5], %f5;",
			map[mir.Op]int{mir.OpFMUL: 1, mir.OpFFMA: 0}},
		{"a parameter after a guarded exit that it decides", guard + "cvt.rn.f32.u32 %f1, %r2; st.global.f32 [%rd5], %f1;",
			map[mir.Op]int{mir.OpULDC: 2}}, // with the buffer
		{"words of 64 bits", "ld.global.u64 %rd6, [%rd4]; mov.b64 {%r4, %r5}, %rd6; shfl.sync.bfly.b32 %r6|%p1, %r4, 16, 31, -1; shfl.sync.bfly.b32 %r7|%p2, %r5, 16, 31, -1; mov.b64 %rd7, {%r6, %r7}; st.global.u64 [%rd5], %rd7;",
			map[mir.Op]int{mir.OpMOV: 0, mir.OpSHFL: 2}},
		{"a word put above another", "ld.global.u32 %r4, [%rd4]; ld.global.u32 %r5, [%rd4+4]; cvt.u64.u32 %rd6, %r4; cvt.u64.u32 %rd7, %r5; bfi.b64 %rd8, %rd7, %rd6, 32, 32; st.global.u64 [%rd5], %rd8;",
			map[mir.Op]int{mir.OpLOP3: 0}},
		{"divisions by one number", guard + "add.s32 %r4, %r1, 7; div.s32 %r5, %r1, %r3; div.s32 %r6, %r4, %r3; st.global.u32 [%rd5], %r5; st.global.u32 [%rd5+4], %r6;",
			map[mir.Op]int{mir.OpMUFU: 1, mir.OpI2F: 1, mir.OpF2I: 1}},
		{"divisions by two", guard + "div.u32 %r5, %r1, %r3; div.u32 %r6, %r1, %r2; st.global.u32 [%rd5], %r5; st.global.u32 [%rd5+4], %r6;",
			map[mir.Op]int{mir.OpMUFU: 2}},
		{"what a vote counted is added once", "ld.global.u32 %r4, [%rd4]; setp.eq.s32 %p2, %r4, 0; vote.sync.ballot.b32 %r5, %p2, -1; popc.b32 %r6, %r5; atom.global.add.u32 %r7, [%rd2], %r6; st.global.u32 [%rd5+16], %r7;",
			map[mir.Op]int{mir.OpFLO: 1, mir.OpATOM: 1}},
		{"what each lane has is not", "ld.global.u32 %r4, [%rd4]; atom.global.add.u32 %r7, [%rd2], %r4; st.global.u32 [%rd5+16], %r7;",
			map[mir.Op]int{mir.OpFLO: 0, mir.OpATOM: 1}},
	} {
		n := selectedOps(t, kernelOf(c.body), hopper.CC)
		for op, want := range c.want {
			if n[op] != want {
				t.Errorf("%s: %d times %s, want %d", c.name, n[op], op, want)
			}
		}
	}
}
