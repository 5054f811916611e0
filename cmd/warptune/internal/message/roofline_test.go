package message

import (
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// No more is said to be left to gain than what is evaluated leaves to the roofline, whatever a search believes.
func TestLeftIsHeldToTheRoofline(t *testing.T) {
	outcome := func(us, dram, issue float64) *warptunev1.Outcome {
		return &warptunev1.Outcome{Validity: warptunev1.Validity_VALIDITY_CORRECT, TimeUs: us, Metrics: map[string]float64{
			"gpu__time_duration.sum":                              1000 * us,
			"dram__throughput.avg.pct_of_peak_sustained_elapsed":  dram,
			"smsp__issue_active.avg.pct_of_peak_sustained_active": issue,
		}}
	}
	best := outcome(100, 90, 20)
	for _, tt := range []struct {
		name         string
		others       []*warptunev1.Result
		gain, atMost float64
		want         string
		held         bool
	}{
		{"near the roofline", nil, 0.257, 0.4, "10.0 % expected, 10.0 % at most", true},
		{"the tail only", nil, 0.05, 0.4, "5.0 % expected, 10.0 % at most", true},
		{"within it", nil, 0.05, 0.08, "5.0 % expected, 8.0 % at most", false},
		{"another has less to do", []*warptunev1.Result{{Outcome: outcome(200, 30, 10)}}, 0.257, 0.3, "25.7 % expected, 30.0 % at most", false},
	} {
		got := LeftText(&warptunev1.Estimate{Gain: tt.gain, AtMost: tt.atMost}, RoofLeaves(best, tt.others))
		if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "the roofline leaves") != tt.held {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	if roof := RoofLeaves(&warptunev1.Outcome{TimeUs: 5}, nil); roof != 1 {
		t.Errorf("without counters the roofline leaves %g", roof)
	}
}
