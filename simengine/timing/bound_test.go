package timing

import "testing"

// The unit with most to do of what it can binds, if it comes to BoundFrom of that; else latency does, and the
// unit is named as the nearest.
func TestBoundIsTheNearestUnit(t *testing.T) {
	d := h200(t)
	const cycles = 1e6
	peak := d.DRAMBytesPerCycle() * cycles
	issue := float64(d.SMs*d.SubPartitions) * cycles
	for _, c := range []struct {
		name           string
		work           Work
		bound, nearest Bound
	}{
		{"DRAM near its peak", Work{DRAMRead: 0.5 * peak, DRAMWritten: 0.4 * peak, Instructions: 0.7 * issue}, BoundDRAM, BoundDRAM},
		{"issue near its peak", Work{DRAMRead: 0.65 * peak, Instructions: 0.7 * issue}, BoundIssue, BoundIssue},
		{"DRAM carries 4 %", Work{DRAMRead: 0.04 * peak}, BoundLatency, BoundDRAM},
		{"just under", Work{DRAMWritten: (BoundFrom - 0.001) * peak}, BoundLatency, BoundDRAM},
		{"wavefronts", Work{Wavefronts: 0.9 * float64(d.SMs) * cycles}, BoundLSU, BoundLSU},
		{"stores to L2", Work{L2Written: 0.9 * d.L2WriteBytesPerCycle * cycles / 32}, BoundL2, BoundL2},
		{"short CTAs", Work{CTAs: 0.95 * d.CTALaunchRate * cycles}, BoundLaunch, BoundLaunch},
	} {
		s := c.work.Shares(d, cycles)
		if s.Bound() != c.bound || s.Nearest() != c.nearest {
			t.Errorf("%s: bound %s, nearest %s, want %s and %s", c.name, s.Bound(), s.Nearest(), c.bound, c.nearest)
		}
	}
}
