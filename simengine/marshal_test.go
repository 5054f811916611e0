package simengine_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// scaled multiplies in by its third parameter's first element, or by w's.
const scaled = `.version 8.0
.target sm_80
.address_size 64
DECLARED
.visible .entry k(.param .u64 p0, .param .u64 p1PARAMETER)
{
	.reg .b32 %r<4>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [p0];
	ld.param.u64 %rd2, [p1];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	LOAD
	mul.f32 %f3, %f1, %f2;
	st.global.f32 [%rd5], %f3;
	ret;
}
`

// A constant's values reach a kernel as the variable of its name, as a parameter at
// its place in the list, or as both, as Kernel Tuner passes them.
func TestConstantsAsParameters(t *testing.T) {
	a100, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	const declared, read = ".const .align 4 .b8 w[64];", "ld.const.f32 %f2, [w];"
	const parameter, follow = ", .param .u64 p2", "ld.param.u64 %rd6, [p2];\n\tld.global.f32 %f2, [%rd6];"
	for name, c := range map[string]struct{ declared, parameter, load, fails string }{
		"variable":  {declared, "", read, ""},
		"both":      {declared, parameter, read + "\n\t" + follow, ""},
		"parameter": {"", parameter, follow, ""},
		"neither":   {"", "", "mov.f32 %f2, 0f3F800000;", `no variable "w"`},
		"too many":  {declared, parameter + ", .param .u64 p3", read, "takes 4 arguments, got 2"},
	} {
		module, err := simengine.New().Parse("k.ptx", []byte(strings.NewReplacer("DECLARED", c.declared, "PARAMETER", c.parameter, "LOAD", c.load).Replace(scaled)))
		if err != nil {
			t.Fatal(name, err)
		}
		buffer := func(name string, position int) simengine.Arg {
			return simengine.Arg{Name: name, Elem: ir.F32, Count: 32, Fill: simengine.Fill{Kind: simengine.FillConstant, Value: 2}, Position: position}
		}
		small := buffer("w", 2)
		small.Count = 16
		report, err := simengine.New().Simulate(module, simengine.Request{
			Kernel: "k", Arch: a100, Level: simengine.Model, Grid: [3]int{1, 1, 1}, CTA: [3]int{32, 1, 1}, CarveOut: -1,
			Args: []simengine.Arg{buffer("in", 0), buffer("out", 1)}, Constants: []simengine.Arg{small},
		})
		if c.fails == "" && (err != nil || report.TimeUS <= 0) || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
