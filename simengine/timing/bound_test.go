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

// What copies to shared memory bring faster than loads get it stays counted; what nothing brings as fast is cut.
func TestFittedKeepsWhatCopiesBring(t *testing.T) {
	d := h200(t)
	const cycles = 1e6
	copies := CopiedBytes(d)
	if copies <= l2Loads(d) {
		t.Fatalf("copies bring %.0f bytes a cycle, loads %.0f", copies, l2Loads(d))
	}
	for _, c := range []struct{ asked, want float64 }{{0.99 * copies, 0.99 * copies}, {2 * copies, copies}} {
		w := Work{L2Read: c.asked * cycles / 32}.fitted(d, cycles)
		if got := w.L2Read * 32 / cycles; got < 0.999*c.want || got > 1.001*c.want {
			t.Errorf("of %.0f bytes a cycle %.0f are left, want %.0f", c.asked, got, c.want)
		}
	}
}

// The issue slots in use are those of SMs that have CTAs.
func TestIssueSlotsOfActiveSMs(t *testing.T) {
	d := h200(t)
	const cycles, name = 1e6, "smsp__issue_active.avg.pct_of_peak_sustained_active"
	for _, ctas := range []int{1, d.SMs / 2, d.SMs, 5 * d.SMs} {
		r := Result{Cycles: cycles, Metrics: map[string]float64{}}
		r.Work = Work{CTAs: float64(ctas), Instructions: 0.25 * float64(min(ctas, d.SMs)*d.SubPartitions) * cycles}
		r.Account(d)
		if got := r.Metrics[name]; got < 24.99 || got > 25.01 {
			t.Errorf("%d CTAs that issue every fourth cycle: %.2f %%, want 25", ctas, got)
		}
	}
}
