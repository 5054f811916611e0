package page

import (
	"context"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// overview is all sweeps and workers now.
func (s *sweeps) overview(ctx context.Context) (*Overview, error) {
	all, damaged, err := s.source.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	workers, err := s.source.Workers(ctx)
	if err != nil {
		return nil, err
	}
	o := &Overview{Schema: OverviewSchema, Source: s.source.Name(), Engine: s.source.Engine(), Sweeps: []Sweep{}, Workers: []Worker{}, DamagedSweeps: damaged}
	for i := range all {
		t := &all[i]
		if failed(t) {
			if full, err := s.source.Sweep(ctx, t.ID); err == nil {
				t = &full
			}
		}
		d, err := s.source.Device(ctx, t)
		if err != nil {
			return nil, err
		}
		o.Sweeps = append(o.Sweeps, sweepOf(t, d))
	}
	for i := range workers {
		o.Workers = append(o.Workers, workerOf(&workers[i]))
	}
	return o, nil
}

// failed reports whether any trial of a sweep is not valid.
func failed(s *tuner.Sweep) bool {
	return s.Counts.Abandoned > 0 || s.Counts.Done > s.Counts.ByValidity[tuner.Correct]
}

func sweepOf(s *tuner.Sweep, d *Device) Sweep {
	c := &s.Counts
	o := Sweep{
		ID: s.ID, Kernel: s.Spec.Kernel, Problem: s.Spec.Problem, Arch: d.Arch, Strategy: s.Spec.Strategy, Levels: s.Spec.Levels(), Owner: s.Owner,
		State: s.State.String(), Message: s.Message, SubmittedMS: s.Submitted.UnixMilli(), ResultsPerSecond: s.Rate, Workers: s.Workers,
		Counts: Counts{
			Space: c.Space, Total: c.Total, Asked: c.Asked, Queued: c.Queued, Leased: c.Leased, Done: c.Done, Abandoned: c.Abandoned,
			Reused: c.Reused, Requeued: c.Requeued, ByValidity: map[string]int64{},
		},
		Failures: []Failure{}, Caution: d.Caution, Revision: revision(s),
	}
	if o.Problem == nil {
		o.Problem = []int64{}
	}
	for _, v := range tuner.Validities() {
		o.Counts.ByValidity[v.String()] = c.ByValidity[v]
	}
	if !s.Ended.IsZero() {
		o.EndedMS = s.Ended.UnixMilli()
	}
	if left := c.Total - c.Done - c.Abandoned; s.State == tuner.Running && s.Rate > 0 {
		seconds := float64(left) / s.Rate
		o.LeftSeconds = &seconds
		o.LeftAtMost = s.Spec.Patience > 0 || s.Spec.Negligible > 0 || s.Spec.TimeBudget > 0
	}
	if s.Best != nil {
		o.Best = bestOf(s)
	}
	for _, e := range s.Examples {
		o.Failures = append(o.Failures, Failure{Trial: e.Seq, Validity: e.Kind, Config: e.Config, Message: e.Message})
	}
	for _, a := range s.Aside {
		o.SetAside = append(o.SetAside, Aside{a.Worker, a.Why})
	}
	for _, w := range s.Distrusted {
		o.DistrustedWorkers = append(o.DistrustedWorkers, Aside{w.Worker, w.Why})
	}
	if s.Proof.Gap >= 0 && s.Proof.Of > 0 {
		o.ProvenGapShare = &s.Proof.Gap
	}
	if s.Left != nil {
		o.ExpectedGainShare = &s.Left.Gain
	}
	return o
}

// bestOf is the best of a sweep that has one.
func bestOf(s *tuner.Sweep) *Best {
	b := s.Best
	return &Best{Trial: b.Seq, Parameters: search.Config{Names: s.Names, Values: s.BestValues}, TimeUS: b.Outcome.TimeUS, Bound: b.Outcome.Bound, Confirmed: s.Confirmed}
}

func workerOf(w *tuner.WorkerStatus) Worker {
	return Worker{
		Name: w.Worker.ID, Slots: w.Worker.Slots, Engine: w.Worker.Engine, Held: w.Held, Reported: w.Reported, SilentSeconds: int64(w.Silent.Seconds()),
		Draining: w.Draining, Refused: w.Refused, SetAside: w.Aside, Labels: w.Worker.Labels,
	}
}
