package ir_test

import (
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// TestParamKind: what PTX says of a parameter's kind, and nothing where it does not.
func TestParamKind(t *testing.T) {
	for _, c := range []struct {
		param, body string
		want        ir.NumberKind
	}{
		{".param .u32 p", "", ir.NumberInteger},
		{".param .f32 p", "ld.param.u32 %r1, [p];", ir.NumberFloat},
		{".param .f64 p", "", ir.NumberFloat},
		{".param .u8 p", "", ir.NumberInteger},
		{".param .b32 p", "", ir.NumberUnknown},
		{".param .b32 p", "ld.param.f32 %f1, [p];", ir.NumberFloat},
		{".param .b32 p", "ld.param.s32 %r1, [p]; ld.param.u32 %r2, [p];", ir.NumberInteger},
		{".param .b32 p", "ld.param.b32 %r1, [p];", ir.NumberUnknown},
		{".param .b32 p", "ld.param.u32 %r1, [p]; ld.param.f32 %f1, [p];", ir.NumberUnknown},
		{".param .b32 p", "ld.param.u16 %r1, [p];", ir.NumberUnknown},
		{".param .align 4 .b8 p[4]", "ld.param.f32 %f1, [p];", ir.NumberUnknown},
		{".param .u32 p[4]", "", ir.NumberUnknown},
		{".param .f32 q, .param .b32 p", "ld.param.u32 %r1, [p]; ld.param.f32 %f1, [q];", ir.NumberInteger},
	} {
		m := build(t, "k.ptx", ptxtest.Header+".visible .entry k("+c.param+")\n{\n.reg .b32 %r<9>; .reg .f32 %f<9>;\n"+c.body+"\nret;\n}")
		k := m.Kernels[0]
		if got := k.ParamKind(len(k.Params) - 1); got != c.want {
			t.Errorf("%s, %s: %v, want %v", c.param, c.body, got, c.want)
		}
	}
}
