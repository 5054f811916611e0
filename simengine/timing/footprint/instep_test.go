package footprint

import "testing"

// SMs are in step where none has two CTAs.
func TestInStep(t *testing.T) {
	for _, c := range []struct {
		ctasPerSM, ctas float64
		want            bool
	}{{1, 1000, true}, {2, 1000, false}, {2, 132, true}, {2, 133, false}, {8, 100, true}} {
		d := Device{Resident: 132 * c.ctasPerSM, CTAsPerSM: c.ctasPerSM}
		if got := d.inStep(c.ctas); got != c.want {
			t.Errorf("%g CTAs, %g an SM: in step %v", c.ctas, c.ctasPerSM, got)
		}
	}
	if d := (Device{CTAsPerSM: 1}); d.inStep(1) {
		t.Error("a device of which nothing is known is in step")
	}
}
