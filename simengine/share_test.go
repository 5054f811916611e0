package simengine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// Configurations of one launch that come to the same machine share a prediction;
// each still has the report that an engine without a past gives it.
func TestSharedPredictionsAreTheirOwn(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(kernel(".shared .align 4 .b8 tile[4096];", strings.Replace(exchange, "BETWEEN", "bar.sync 0;", 1)))
	answer := func(e *simengine.Engine, r simengine.Request) string {
		module, err := e.Parse("k.ptx", text)
		if err != nil {
			t.Fatal(err)
		}
		report, err := e.Simulate(module, r)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		clear(report.Metrics) // its owner may do as he likes
		return string(out)
	}
	buffer := simengine.Arg{Elem: ir.F32, Count: 1 << 20, Fill: simengine.Fill{Kind: simengine.FillConstant}}
	shared := simengine.New()
	for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
		for _, limit := range []int{0, 128, 64, 16} {
			for _, carveOut := range []int{-1, 0, 1, 50, 100} {
				r := simengine.Request{
					Kernel: "k", Arch: d, Level: level, Grid: [3]int{512, 1, 1}, CTA: [3]int{64, 1, 1}, MaxRegisters: limit, CarveOut: carveOut,
					Args: []simengine.Arg{buffer, buffer, {Elem: ir.U32, Scalar: true}},
				}
				if got, want := answer(shared, r), answer(simengine.New(), r); got != want {
					t.Errorf("level %v, cap %d, carve-out %d: with a past\n%s\nwithout\n%s", level, limit, carveOut, got, want)
				}
			}
		}
	}
}
