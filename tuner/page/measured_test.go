package page_test

import (
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/page/pagetest"
)

// timesByConfig is the valid rows of a table by configuration: the plain way.
func timesByConfig(t *testing.T, h *page.Table) map[string][2]float64 {
	t.Helper()
	out := map[string][2]float64{}
	trial, times := column(t, h, "trial").Numbers, column(t, h, "time_us").Numbers
	for row := range h.Rows {
		key := ""
		for _, p := range h.Parameters {
			key += p.Name + "=" + p.Dictionary[p.Codes[row]].String() + ","
		}
		if !math.IsNaN(times[row]) {
			out[key] = [2]float64{trial[row], times[row]}
		}
	}
	return out
}

// Pairs are the configurations that are valid in both sweeps, with the times of each one's table; what is picked is scored
// as somebody would who looks at the pairs. Asked of either sweep the answer is the same.
func TestMeasured(t *testing.T) {
	h := page.Handler(pagetest.New(10, newClock().Now), page.Options{})
	const predicted = "small000000000cc"
	m := read[page.Measured](t, h, "data/sweeps/"+predicted+"/measured")
	a := timesByConfig(t, read[page.Table](t, h, "data/sweeps/"+predicted+"/table"))
	b := timesByConfig(t, read[page.Table](t, h, "data/sweeps/"+pagetest.Measured+"/table"))
	want := map[float64][3]float64{}
	picked, first, best, off := 0.0, math.Inf(1), math.Inf(1), 0.0
	for key, p := range a {
		x, ok := b[key]
		if !ok {
			continue
		}
		want[p[0]] = [3]float64{x[0], p[1], x[1]}
		off += math.Abs(p[1]/x[1] - 1)
		best = min(best, x[1])
		if p[1] < first {
			first, picked = p[1], x[1]
		}
	}
	if len(want) < 20 || len(m.PredictedUS) != len(want) {
		t.Fatalf("%d pairs, want %d", len(m.PredictedUS), len(want))
	}
	for i, trial := range m.PredictedTrials {
		if got := [3]float64{float64(m.MeasuredTrials[i]), m.PredictedUS[i], m.MeasuredUS[i]}; got != want[float64(trial)] {
			t.Errorf("trial %d: %v, want %v", trial, got, want[float64(trial)])
		}
		if i > 0 && m.PredictedUS[i] < m.PredictedUS[i-1] {
			t.Errorf("pair %d is predicted faster than the one before", i)
		}
	}
	if got := *m.PickedOverBest; math.Abs(got-picked/best) > 1e-12 || m.Best.MeasuredUS != best {
		t.Errorf("picked is %v times the best %v, want %v of %v", got, m.Best.MeasuredUS, picked/best, best)
	}
	if got := *m.MeanErrorShare; math.Abs(got-off/float64(len(want))) > 1e-12 {
		t.Errorf("the mean error is %v, want %v", got, off/float64(len(want)))
	}
	if rank := m.Best.PredictedRank; m.MeasuredUS[rank-1] != best || m.Device == "" {
		t.Errorf("number %d is no best, or no device is named: %q", rank, m.Device)
	}
	back := read[page.Measured](t, h, "data/sweeps/"+pagetest.Measured+"/measured")
	if back.PredictedSweep != predicted || back.MeasuredSweep != pagetest.Measured || len(back.PredictedUS) != len(want) || *back.PickedOverBest != *m.PickedOverBest {
		t.Errorf("asked of the measured sweep: %d pairs of %s and %s", len(back.PredictedUS), back.PredictedSweep, back.MeasuredSweep)
	}
	for _, id := range []string{"large000000000bb", "other000000000dd"} { // another kernel, another architecture
		m := read[page.Measured](t, h, "data/sweeps/"+id+"/measured")
		if m.PredictedSweep != id || m.MeasuredSweep != "" || len(m.PredictedUS) != 0 || m.PickedOverBest != nil || m.Best != nil {
			t.Errorf("%s: %+v", id, m)
		}
	}
}

// The slowest of those that tie is as much slower as is said, and where that is more than the expected error sampling is
// named as the reason.
func TestTiesShare(t *testing.T) {
	h := page.Handler(pagetest.New(1000, newClock().Now), page.Options{})
	for _, id := range []string{"small000000000cc", "large000000000bb", "other000000000dd"} {
		k := read[page.Ranking](t, h, "data/sweeps/"+id+"/ranking")
		times := column(t, read[page.Table](t, h, "data/sweeps/"+id+"/table"), "time_us").Numbers
		want := 0.0
		for _, row := range k.Order[:k.Ties] {
			want = max(want, times[row]/times[k.Order[0]]-1)
		}
		if math.Abs(k.TiesShare-want) > 1e-12 {
			t.Errorf("%s: ties are %g apart, want %g", id, k.TiesShare, want)
		}
		if said := strings.Contains(k.Expected.Text, "extrapolating"); said != (want > k.Expected.Share) || said != strings.Contains(k.Notes[0], "extrapolating") {
			t.Errorf("%s: ties are %g apart with an error of %g: %s", id, want, k.Expected.Share, k.Expected.Text)
		}
	}
}
