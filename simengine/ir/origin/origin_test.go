package origin

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// Addresses are as far apart as neighbouring threads' indices make them; what is loaded by them is data, unless all
// threads load the same.
func TestApart(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 in", `
	.reg .b32 %r<20>;
	.reg .b64 %rd<8>;
	.reg .pred %p<4>;
	ld.param.u64 %rd1, [in];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	mul.wide.s32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r5, [%rd3];
	ld.global.u32 %r6, [%rd1];
	shl.b32 %r7, %r1, 7;
	and.b32 %r8, %r1, 31;
	and.b32 %r9, %r1, 3;
	shr.u32 %r10, %r1, 5;
	and.b32 %r13, %r7, 3968;
	and.b32 %r14, %r7, 1920;
	or.b32 %r15, %r13, %r10;
	and.b32 %r16, %r1, -32;
	sub.s32 %r17, %r1, %r16;
	mov.u32 %r11, %r1;
again:
	add.s32 %r11, %r11, 32;
	setp.lt.u32 %p1, %r11, 1024;
	@%p1 bra again;
	mul.lo.s32 %r12, %r1, %r2;
	setp.eq.u32 %p2, %r9, 0;
	setp.lt.u32 %p3, %r9, 2;`)
	v := Of(k)
	for _, tt := range []struct {
		reg   string
		of    Set
		apart int64
		known bool
	}{
		{"%rd3", Thread, 4, true}, {"%r5", Thread | Data, 0, false}, {"%r6", 0, 0, true}, {"%r7", Thread, 128, true},
		{"%r8", Thread | Remainder, 1, true}, {"%r9", Thread | Remainder, 0, false}, {"%r10", Thread, 0, true}, {"%r11", Thread, 1, true},
		{"%r13", Thread | Remainder, 128, true}, {"%r14", Thread | Remainder, 0, false}, {"%r15", Thread | Remainder, 128, true},
		{"%r16", Thread | Remainder, 0, true}, {"%r17", Thread | Remainder, 1, true},
		{"%r12", Thread, 0, false}, {"%p2", Thread | Remainder, 0, false}, {"%p3", Thread, 0, false},
	} {
		found := false
		for r := range k.Regs {
			if k.Regs[r].Name == tt.reg {
				found = true
				if got := v.Reg(ir.Reg(r)); got.Of != tt.of || got.Apart != tt.apart || got.Known != tt.known {
					t.Errorf("%s: %+v, want %v, %d apart (%v)", tt.reg, got, tt.of, tt.apart, tt.known)
				}
			}
		}
		if !found {
			t.Errorf("no register %s", tt.reg)
		}
	}
}

// An instruction's condition is that of the innermost branch on which threads may differ.
func TestConditions(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 in, .param .u32 n", `
	.reg .b32 %r<20>;
	.reg .b64 %rd<8>;
	.reg .pred %p<8>;
	ld.param.u64 %rd1, [in];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r9, 0;
	setp.ge.u32 %p1, %r1, %r2;
	@%p1 bra end;
	add.s32 %r10, %r9, 1001;
	and.b32 %r3, %r1, 1;
	setp.ne.u32 %p2, %r3, 0;
	@%p2 bra odd;
	add.s32 %r10, %r9, 1002;
odd:
	setp.eq.u32 %p4, %r2, 7;
	@%p4 bra all;
	add.s32 %r10, %r9, 1003;
all:
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r4, [%rd3];
again:
	add.s32 %r10, %r9, 1004;
	add.s32 %r4, %r4, -1;
	setp.gt.s32 %p3, %r4, 0;
	@%p3 bra again;
end:
	add.s32 %r10, %r9, 1005;`)
	conditions := Of(k).Conditions(k)
	for mark, want := range map[string]Condition{
		"1001": {Thread, false}, "1002": {Thread | Remainder, false}, "1003": {Thread, false}, "1004": {Thread | Data, true}, "1005": {},
	} {
		found := false
		for pc := range k.Instrs {
			if strings.Contains(k.Text(pc), mark) {
				found = true
				if got := conditions[pc]; got != want {
					t.Errorf("%s: %+v, want %+v", k.Text(pc), got, want)
				}
			}
		}
		if !found {
			t.Errorf("no instruction with %s", mark)
		}
	}
}
