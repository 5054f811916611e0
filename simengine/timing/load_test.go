package timing

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

// The clock that tensor cores draw down lengthens what is not DRAM's, the time on the GPU like the time from start to start.
func TestUnderLoad(t *testing.T) {
	h100, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	a100, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	const cycles = 1e6
	const us = 500.0
	full := h100.ClockMHz / h100.ClockTensorFull
	result := func(d *arch.Descriptor, tensor, dram float64) *Result {
		r := &Result{Cycles: cycles, TimeUS: us, Metrics: map[string]float64{countTime: 500e3}}
		r.Work.Pipe[BoundTensor] = tensor * cycles * float64(d.SMs*d.SubPartitions)
		r.Work.DRAMRead = dram * cycles * d.DRAMBytesPerCycle()
		return r
	}
	for _, c := range []struct {
		name               string
		d                  *arch.Descriptor
		tensor, dram, want float64 // shares of the time, factor
	}{
		{"none", h100, 0, 0, 1},
		{"hardly any", h100, 1e-9, 0, h100.ClockMHz / h100.ClockTensor},
		{"half", h100, 0.5, 0, h100.ClockMHz / ((h100.ClockTensor + h100.ClockTensorFull) / 2)},
		{"all", h100, 1, 0, full},
		{"more than all", h100, 2, 0, full},
		{"beside DRAM all the time", h100, 1, 1, 1},
		{"beside DRAM for 0.6 of the time", h100, 1, 0.6, math.Sqrt(0.36 + 0.64*full*full)},
		{"not measured", a100, 1, 0, 1},
	} {
		r := result(c.d, c.tensor, c.dram)
		r.UnderLoad(c.d)
		if got := (r.TimeUS - c.d.LaunchGapUS) / (us - c.d.LaunchGapUS); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("tensor cores busy for %s of the time: %.5f times as long, want %.4f", c.name, got, c.want)
		}
		if got := r.Metrics[countTime] / 500e3; math.Abs(got-c.want) > 1e-6 {
			t.Errorf("tensor cores busy for %s of the time: %.5f times as long on the GPU, want %.4f", c.name, got, c.want)
		}
		if r.Cycles != cycles {
			t.Errorf("%s: cycles changed", c.name)
		}
	}
}
