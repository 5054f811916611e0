package message

import (
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// leastUS is the time, microseconds, that a launch takes at least for what it moves from and to DRAM and what it
// issues, both at the device's peak: its place under the roofline. 0: not known.
func leastUS(o *warptunev1.Outcome) float64 {
	m := o.GetMetrics()
	us := m["gpu__time_duration.sum"] / 1000
	if us <= 0 || us > o.GetTimeUs() {
		return 0
	}
	share := max(m["dram__throughput.avg.pct_of_peak_sustained_elapsed"], m["smsp__issue_active.avg.pct_of_peak_sustained_active"]) / 100
	return o.GetTimeUs() - us + min(share, 1)*us
}

// RoofLeaves is the share of the best time that the roofline leaves to gain: no configuration has less to move and
// to issue than the one of those evaluated that has least. 1: not known.
func RoofLeaves(best *warptunev1.Outcome, evaluated []*warptunev1.Result) float64 {
	least := leastUS(best)
	for _, r := range evaluated {
		if us := leastUS(r.GetOutcome()); us > 0 && r.GetOutcome().GetValidity() == warptunev1.Validity_VALIDITY_CORRECT {
			least = min(least, us)
		}
	}
	if least <= 0 || best.GetTimeUs() <= 0 {
		return 1
	}
	return max(1-least/best.GetTimeUs(), 0)
}

// LeftText is what a search believes is left to gain, held to what the roofline leaves.
func LeftText(e *warptunev1.Estimate, roof float64) string {
	text := fmt.Sprintf("%.1f %% expected, %.1f %% at most by 95 %% odds", 100*min(e.GetGain(), roof), 100*min(e.GetAtMost(), roof))
	if e.GetAtMost() > roof {
		text += fmt.Sprintf(" (it believes in %.1f and %.1f %%; the roofline leaves %.1f %%)", 100*e.GetGain(), 100*e.GetAtMost(), 100*roof)
	}
	return text
}
