package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// Plan is how much is measured of a launch: some 90 ms of a short one. During the warm-up
// the clocks of an idle GPU rise, and fall again where the launch takes more power than the
// GPU may: a warm-up of 400 ms made times of such launches no steadier (docs/MEASURING.md). A batch is a thousand times what an event resolves (0.5 us).
var Plan = wire.Plan{WarmUp: 50_000, Batch: 2_000, Batches: 15, Cold: 5, First: 3, Total: 2_000_000}

// Timing is what samples come to.
type Timing struct {
	Median, Min, Max float64 // microseconds a launch, of batches; outliers are in Min and Max
	Batches          int
	Launches         int     // of a batch
	Outliers         int     // batches that are far from the median
	Cold             float64 // microseconds, median of launches with a cold L2; 0: not measured
	First            float64 // microseconds, median of launches that have pages of managed memory to migrate; 0: there are none
	SM, Memory       int     // clocks, MHz, lowest seen; 0: not known
	MaxSM            int     // highest SM clock of the GPU, MHz
	Temperature      int     // highest seen, degrees Celsius
	Power            int     // highest seen, watts
	Warnings         []string
}

// Limits of what is believed. An outlier is further from the median than 6 times the
// scaled median absolute deviation and than 3 % (Iglewicz and Hoaglin, How to Detect and
// Handle Outliers, 1993, take 3.5; a batch is a mean of launches already).
const (
	outlierDeviations = 6
	outlierLeast      = 0.03
	unsteady          = 0.05 // spread of the middle half over the median
	lowClock          = 0.98 // of the highest: the steps below are noise
	clockSlack        = 1.05 // the GPU's time over the host's of a batch
	clockOverhead     = 100  // microseconds that the host needs beside a batch
	launchOverhead    = 3    // and for each launch: starting a graph of 2,400 took it 5 ms on an H200
	clockLeast        = 0.5  // the GPU's time over the host's, less the overhead
)

// ClockError is that the GPU's clock and the host's do not agree.
type ClockError struct{ GPU, Host float64 }

func (e *ClockError) Error() string {
	return fmt.Sprintf("the GPU's clock says %.4g us of a batch for which the host's clock says %.4g us: one of them lies, and no time is taken from either", e.GPU, e.Host)
}

// Summarise makes a time of samples. The error is that they cannot be believed.
func Summarise(r *wire.Result) (*Timing, error) {
	if len(r.Warm) == 0 || slices.ContainsFunc(r.Warm, func(t float64) bool { return !(t > 0) || math.IsInf(t, 0) }) {
		return nil, fmt.Errorf("times of batches are %v: no time can be taken from that", r.Warm)
	}
	if err := clocksAgree(r); err != nil {
		return nil, err
	}
	t := &Timing{Median: median(r.Warm), Min: slices.Min(r.Warm), Max: slices.Max(r.Warm), Batches: len(r.Warm), Launches: r.Launches}
	off := make([]float64, len(r.Warm))
	for i, x := range r.Warm {
		off[i] = math.Abs(x - t.Median)
	}
	far := max(outlierDeviations*1.4826*median(off), outlierLeast*t.Median)
	for _, d := range off {
		if d > far {
			t.Outliers++
		}
	}
	if len(r.Cold) > 0 {
		t.Cold = median(r.Cold)
	}
	if len(r.First) > 0 {
		t.First = median(r.First)
	}
	t.watch(r.States)
	t.warn(r)
	return t, nil
}

// clocksAgree compares the two clocks over the batches. The host may be interrupted in
// some: the one in which they agree best counts.
func clocksAgree(r *wire.Result) error {
	best, overhead := &ClockError{}, clockOverhead+launchOverhead*float64(r.Launches)
	off := math.Inf(1)
	for i, host := range r.Host {
		gpu := r.Warm[i] * float64(max(r.Launches, 1))
		if d := math.Abs(math.Log(gpu / max(host-overhead, host/4))); d < off {
			off, best = d, &ClockError{gpu, host}
		}
	}
	if len(r.Host) == 0 || best.GPU <= clockSlack*best.Host && best.GPU >= clockLeast*(best.Host-overhead) {
		return nil
	}
	return best
}

func (t *Timing) watch(states []wire.State) {
	for i, s := range states {
		if i == 0 || s.SM < t.SM {
			t.SM = s.SM
		}
		if i == 0 || s.Memory < t.Memory {
			t.Memory = s.Memory
		}
		t.MaxSM, t.Temperature, t.Power = max(t.MaxSM, s.MaxSM), max(t.Temperature, s.Temperature), max(t.Power, s.Power)
	}
}

func (t *Timing) warn(r *wire.Result) {
	say := func(format string, args ...any) { t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...)) }
	var reasons uint64
	for _, s := range r.States {
		reasons |= s.Reasons
	}
	low := t.MaxSM > 0 && float64(t.SM) < lowClock*float64(t.MaxSM)
	if why := Throttled(reasons); len(why) > 0 && (low || t.MaxSM == 0) {
		say("the GPU was throttled (%s): its SM clock was %d of %d MHz", strings.Join(why, ", "), t.SM, t.MaxSM)
	} else if low {
		say("the SM clock was %d of %d MHz, and the driver does not say why", t.SM, t.MaxSM)
	}
	if t.Outliers > 0 {
		say("%d of %d batches are outliers, the slowest of %.4g us a launch", t.Outliers, t.Batches, t.Max)
	}
	if q := quartiles(r.Warm); q > unsteady*t.Median {
		say("batches differ: half of them by %.0f %% and more", 100*q/t.Median)
	}
}

// median of a list that is not empty.
func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// quartiles is the distance between the first and the third.
func quartiles(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)-1-len(s)/4] - s[len(s)/4]
}
