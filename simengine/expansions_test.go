package simengine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
)

// pipeRate is the warp instructions a cycle that deploy/calibrate pipes measured on
// one SM of an H200 with 32 warps.
func pipeRate(t *testing.T, op string) float64 {
	t.Helper()
	records := measured.Records[struct {
		Name   string
		Params map[string]any
		Value  float64
	}](t, "../deploy/calibrate/results/h200.jsonl.gz")
	for _, m := range records {
		if m.Name == "pipe.rate" && m.Params["op"] == op && m.Params["warps"] == 32.0 {
			return m.Value
		}
	}
	t.Fatalf("no rate of %s was measured", op)
	return 0
}

// chained executes an instruction of one result 64 times a turn of the loop, in
// four chains: %x is what the chain holds and %y a factor, in registers of a type.
func chained(typ, instruction string) string {
	declare := fmt.Sprintf(".reg .%s %%x<4>;\n.reg .%s %%y;\n", typ, typ)
	start, sum := "", ""
	for i := range 4 {
		from, to := fmt.Sprintf("cvt.rn.%s.u32 %%x%d, %%r0;\n", typ, i), fmt.Sprintf("cvt.rn.f32.%s %%f1, %%x%d;\n", typ, i)
		if typ == "s32" || typ == "u32" || typ == "f32" {
			to = fmt.Sprintf("mov.b32 %%f1, %%x%d;\n", i)
		}
		if typ == "s32" || typ == "u32" {
			from = fmt.Sprintf("add.u32 %%x%d, %%r0, %d;\n", i, 1000+i)
		}
		start += from
		sum += to + "add.f32 %f9, %f9, %f1;\n"
	}
	start += strings.Replace(strings.SplitAfter(start, "\n")[0], "%x0", "%y", 1) + "mov.f32 %f9, 0f00000000;\n"
	var body strings.Builder
	for i := range 64 {
		body.WriteString(strings.ReplaceAll(instruction, "%x", fmt.Sprintf("%%x%d", i%4)) + "\n")
	}
	return strings.Replace(looped("", declare+start, body.String()), "add.u32 %r5, %r5, 1;", sum+"add.u32 %r5, %r5, 1;", 1)
}

// What takes several instructions is as fast as it was measured: the expansions
// have the real ones' length, pipes and dependences.
func TestExpansionRates(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op, typ, instruction string
		most                 float64
	}{
		{"fdiv", "f32", "div.rn.f32 %x, %y, %x;", 1.2},
		{"sqrt", "f32", "sqrt.rn.f32 %x, %x;", 1.2},
		{"rcp", "f32", "rcp.rn.f32 %x, %x;", 1.2},
		{"drcp", "f64", "rcp.rn.f64 %x, %x;", 1.2},
		{"ddiv", "f64", "div.rn.f64 %x, %y, %x;", 1.2},
		{"dsqrt", "f64", "sqrt.rn.f64 %x, %x;", 1.2},
		{"idiv", "s32", "div.s32 %x, %y, %x;", 1.2},
		{"udiv", "u32", "div.u32 %x, %y, %x;", 1.2},
		{"imad_hi", "u32", "mul.hi.u32 %x, %x, %y;", 1.2},
		{"lea_hi", "u32", "{.reg .b32 t; shf.l.wrap.b32 t, %x, %y, 7; add.u32 %x, t, %y;}", 1.2},
	} {
		want := pipeRate(t, c.op)
		text := chained(c.typ, c.instruction)
		for _, level := range levels {
			cycles := func(steps int) float64 {
				r, err := simulate(t, text, "h200", launch{ctas: d.SMs, threads: 1024, steps: steps, level: level})
				if err != nil {
					t.Fatalf("%s: %v", c.op, err)
				}
				return r.TimeUS * d.ClockMHz
			}
			got := 32 * 32 * 64 / (cycles(48) - cycles(16))
			t.Logf("%s, level %v: %.3f instructions a cycle, measured %.3f (%.2f)", c.op, level, got, want, got/want)
			if got < 0.85*want || got > c.most*want {
				t.Errorf("%s, level %v: %.3f instructions a cycle, measured %.3f", c.op, level, got, want)
			}
		}
	}
}
