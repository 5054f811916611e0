package simengine_test

import (
	"testing"

	"github.com/warptune/warptune/simengine/arch"
)

// A kernel that multiplies by mma.sync runs at the clock that tensor cores leave, like one with warpgroup MMAs. One
// that does not use them runs at the GPU's highest.
func TestClockUnderTensorLoad(t *testing.T) {
	h200, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range levels {
		clock := func(text string) float64 {
			r, err := simulate(t, text, "h200", launch{ctas: 4 * h200.SMs, threads: 256, steps: 64, level: level})
			if err != nil {
				t.Fatal(err)
			}
			return r.Cycles / (r.TimeUS - h200.LaunchGapUS)
		}
		multiplies := clock(products("m16n8k16", "f32.f16.f16.f32", 4, 2))
		if multiplies < h200.ClockTensorFull || multiplies > h200.ClockTensor {
			t.Errorf("level %v: mma.sync at %.0f MHz, want %.0f to %.0f", level, multiplies, h200.ClockTensorFull, h200.ClockTensor)
		}
		if adds := clock(fmas(false)); adds < 0.999*h200.ClockMHz || adds > 1.001*h200.ClockMHz {
			t.Errorf("level %v: multiply-adds without tensor cores at %.0f MHz, want %.0f", level, adds, h200.ClockMHz)
		}
	}
}
