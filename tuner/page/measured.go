package page

import (
	"context"
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/score"
)

// Measured is what is predicted of a space against what was measured of it. A pair is a configuration that both are known
// of, in the order of the predictions.
type Measured struct {
	Schema string `json:"schema"`
	Sweep  string `json:"sweep"`
	// PredictedSweep and MeasuredSweep are the sweeps, one of them Sweep; "" where there is none.
	PredictedSweep string `json:"predicted_sweep"`
	MeasuredSweep  string `json:"measured_sweep"`
	// Device is the GPU that was measured on, with its driver.
	Device string `json:"device"`
	// By pair: the trials in the two sweeps, and the times in microseconds.
	PredictedTrials []int64 `json:"predicted_trials"`
	MeasuredTrials  []int64 `json:"measured_trials"`
	PredictedUS     Numbers `json:"predicted_us"`
	MeasuredUS      Numbers `json:"measured_us"`
	// MeanErrorShare is the mean of |predicted/measured - 1|, Bias the geometric mean of predicted/measured; null where
	// there is no pair. RankCorrelation is Spearman's; null for fewer than three.
	MeanErrorShare  *float64 `json:"mean_error_share"`
	Bias            *float64 `json:"bias"`
	RankCorrelation *float64 `json:"rank_correlation"`
	// PickedOverBest is the measured time of the pair predicted fastest over that of the one measured fastest. Measured
	// is that one; null where there is no pair.
	PickedOverBest *float64   `json:"picked_over_best"`
	Best           *BestOfAll `json:"measured_best"`
}

// BestOfAll is the configuration measured fastest.
type BestOfAll struct {
	Parameters  search.Config `json:"parameters"`
	MeasuredUS  float64       `json:"measured_us"`
	PredictedUS float64       `json:"predicted_us"`
	// PredictedRank is its place by predicted time among the pairs, from 1.
	PredictedRank int `json:"predicted_rank"`
}

// counterpart is the newest sweep of the other kind (measured for predicted, and the other way round) of a sweep's kernel,
// architecture and problem, nil for none.
func counterpart(all []tuner.Sweep, of *tuner.Sweep) *tuner.Sweep {
	for i := range all {
		s := &all[i]
		if s.Spec.Kernel == of.Spec.Kernel && s.Spec.Bundle == of.Spec.Bundle && s.Spec.Arch == of.Spec.Arch && slices.Equal(s.Spec.Problem, of.Spec.Problem) &&
			s.Spec.Measured() != of.Spec.Measured() && s.Best != nil {
			return s
		}
	}
	return nil
}

// measured compares a sweep with its counterpart.
func (h *handler) measured(ctx context.Context, id string) (*Measured, error) {
	s, err := h.source.Sweep(ctx, id)
	if err != nil {
		return nil, err
	}
	all, _, err := h.source.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	m := &Measured{Schema: MeasuredSchema, Sweep: s.ID, PredictedTrials: []int64{}, MeasuredTrials: []int64{}, PredictedUS: Numbers{}, MeasuredUS: Numbers{}}
	predicted, measured := &s, counterpart(all, &s)
	if s.Spec.Measured() {
		predicted, measured = measured, predicted
	}
	var times [2]map[string]timed
	for i, t := range []*tuner.Sweep{predicted, measured} {
		if t == nil {
			continue
		}
		*[]*string{&m.PredictedSweep, &m.MeasuredSweep}[i] = t.ID
		if times[i], err = h.timesOf(ctx, t.ID); err != nil {
			return nil, err
		}
	}
	if measured != nil && measured.Best != nil {
		m.Device = measured.Best.Outcome.Device
	}
	m.pair(times[0], times[1])
	return m, nil
}

// timesOf is the times of a sweep's valid configurations.
func (h *handler) timesOf(ctx context.Context, id string) (map[string]timed, error) {
	w, _, err := h.whole(ctx, id)
	if err != nil {
		return nil, err
	}
	defer w.mu.Unlock()
	return w.rows.byConfig(w.last.Spec.LastLevel()), nil
}

// pair pairs configurations and scores the predictions.
func (m *Measured) pair(predicted, measured map[string]timed) {
	type both struct{ p, m timed }
	var pairs []both
	for key, p := range predicted {
		if x, ok := measured[key]; ok {
			pairs = append(pairs, both{p, x})
		}
	}
	slices.SortFunc(pairs, func(a, b both) int {
		switch {
		case a.p.timeUS < b.p.timeUS || a.p.timeUS == b.p.timeUS && a.p.trial < b.p.trial:
			return -1
		case a.p.trial == b.p.trial:
			return 0
		}
		return 1
	})
	scored := make([]score.Pair, len(pairs))
	best := math.Inf(1)
	for i, x := range pairs {
		m.PredictedTrials, m.MeasuredTrials = append(m.PredictedTrials, x.p.trial), append(m.MeasuredTrials, x.m.trial)
		m.PredictedUS, m.MeasuredUS = append(m.PredictedUS, x.p.timeUS), append(m.MeasuredUS, x.m.timeUS)
		scored[i] = score.Pair{Predicted: x.p.timeUS, Measured: x.m.timeUS}
		if x.m.timeUS < best {
			best, m.Best = x.m.timeUS, &BestOfAll{x.m.config, x.m.timeUS, x.p.timeUS, i + 1}
		}
	}
	if len(pairs) == 0 {
		return
	}
	g := score.Score("", scored)
	m.MeanErrorShare, m.Bias, m.PickedOverBest = known(g.MAPE), known(g.Bias), known(g.Regret1)
	if len(pairs) >= 3 {
		m.RankCorrelation = known(g.Spearman)
	}
}
