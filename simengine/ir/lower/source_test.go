package lower_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir/sroa"
	"github.com/warptune/warptune/simengine/ir/unroll"
	"github.com/warptune/warptune/simengine/ptx"
)

// TestSourceLines: every instruction has the line of the .loc before it, those of an inlined function
// theirs, also after loops are unrolled and arrays held in registers; and nothing else changes.
func TestSourceLines(t *testing.T) {
	const text = `
.func (.param .b32 r) f(.param .b32 p)
{
	.reg .b32 %r<3>;
	.loc	2 7 0
	ld.param.b32 %r1, [p];
	add.s32 %r2, %r1, 1;
	st.param.b32 [r], %r2;
	ret;
}
.visible .entry k(.param .u64 out)
{
	.local .align 4 .b8 depot[16];
	.reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<3>;
	ld.param.u64 %rd1, [out];
	.loc	1 3 0
	mov.u32 %r1, 0;
	mov.u32 %r5, 0;
	mov.u64 %rd3, depot;
loop:
	.loc	1 4 5, function_name $L__info_string0, inlined_at 1 9 3
	mul.lo.s32 %r5, %r5, 3;
	mul.wide.u32 %rd4, %r1, 4;
	add.s64 %rd5, %rd3, %rd4;
	st.local.u32 [%rd5], %r5;
	add.s32 %r1, %r1, 1;
	setp.lt.s32 %p1, %r1, 4;
	@%p1 bra loop;
	.loc	1 5 0
	{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call (b), f, (a); ld.param.b32 %r6, [b]; }
	.loc	9 6 0
	ld.local.u32 %r7, [depot+4];
	.loc	1 0 0
	add.s32 %r6, %r6, %r7;
	.loc	1 8 0
	st.global.u32 [%rd1], %r6;
	ret;
}
	.file	1 "/somewhere/k.cu", 1700000000, 1234
	.file	2 "inc/h.h"
	.section	.debug_str
	{
$L__info_string0:
	.b8 107
	.b8 0
	}
`
	k := build(t, "k.ptx", header+text).Kernels[0]
	of := map[string]string{}
	for i := range k.Instrs {
		of[k.Instrs[i].Op.String()+" "+k.Instrs[i].Type.String()] = k.Instrs[i].Pos.Source
	}
	for op, want := range map[string]string{"ld u64": "", "mul s32": "k.cu:4", "st u32": "k.cu:8"} {
		if of[op] != want {
			t.Errorf("%s of %q, want %q", op, of[op], want)
		}
	}
	for _, all := range []string{"", "unrolled", "held"} {
		u := k
		if all != "" {
			u = unroll.Loops(k)
		}
		if all == "held" {
			u = sroa.Promote(u)
		}
		lines := map[string]int{}
		for i := range u.Instrs {
			lines[u.Instrs[i].Pos.Source]++
		}
		if lines["k.cu:4"] < 4 || lines["inc/h.h:7"] == 0 || lines["k.cu:8"] == 0 || lines["k.cu:3"] == 0 && all != "held" {
			t.Errorf("%s: %v", all, lines)
		}
	}
	for pos, want := range map[ptx.Pos]string{{File: "k.cu", Line: 3, Col: 2}: "k.cu:3:2", {File: "k.cu", Line: 30, Col: 2, Source: "k.cu:8"}: "k.cu:8 (PTX line 30)"} {
		if pos.String() != want {
			t.Errorf("%v, want %s", pos, want)
		}
	}
	var plain []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "\t.loc\t") {
			plain = append(plain, line)
		}
	}
	p := build(t, "k.ptx", header+strings.Join(plain, "\n")).Kernels[0]
	for i := range p.Instrs {
		if a, b := p.Instrs[i], k.Instrs[i]; k.Text(i) != p.Text(i) || a.Pos.Source != "" || a.Op != b.Op {
			t.Errorf("instruction %d is %s with lines, %s without", i, k.Text(i), p.Text(i))
		}
	}
}
