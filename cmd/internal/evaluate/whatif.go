package evaluate

import (
	"context"
	"math"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/record"
)

// WhatIf is a configuration on a machine of which mechanisms cost nothing.
type WhatIf struct {
	Without ideal.Set `json:"without"`
	TimeUS  float64   `json:"time_us"`
	Gain    float64   `json:"times_faster"`
	// Bound is what bounds that machine: Report.Bound's names.
	Bound string `json:"bound,omitempty"`
	// Slots is what becomes of that machine's issue slots.
	Slots []simengine.Share `json:"-"`
}

// Study is a configuration's outcome with what explains it.
type Study struct {
	Outcome tuner.Outcome
	Report  *simengine.Report // nil unless the outcome is correct
	// WhatIfs are those of one mechanism, then those of two.
	WhatIfs []WhatIf
	// Caps are larger register caps, where spills cost something.
	Caps []CapTrial
}

// Study evaluates a job with what each source line does, and again without each of the mechanisms that it has to do
// with, and without pairs of them that hide each other. What is executed is executed once.
func (e *Evaluator) Study(ctx context.Context, job Job) (Study, error) {
	job.Lines = true
	outcome, report, err := e.Evaluate(ctx, job)
	s := Study{Outcome: outcome, Report: report}
	if err != nil || report == nil {
		return s, err
	}
	c := concern{Report: report}
	if l, err := job.Kernel.Launch(job.Config, job.Problem); err == nil {
		c.warps = warpsOf(l)
	}
	c.count()
	if err := e.without(ctx, job, &s, c.mechanisms()); err != nil {
		return s, err
	}
	if err := e.without(ctx, job, &s, c.units(s.WhatIfs)); err != nil {
		return s, err
	}
	if gainOf(s.WhatIfs, ideal.Spills) >= worthPair {
		if s.Caps, err = e.caps(ctx, job); err != nil {
			return s, err
		}
	}
	return s, e.without(ctx, job, &s, c.pairs(s.WhatIfs))
}

// gainOf is what a mechanism gains, 0 where it was not simulated.
func gainOf(all []WhatIf, m ideal.Set) float64 {
	for _, w := range all {
		if w.Without == m {
			return w.Gain
		}
	}
	return 0
}

// warpsOf is the warps of a launch's grid.
func warpsOf(l *kernel.Launch) float64 {
	const warp = 32
	product := func(v [3]int64) float64 { return float64(v[0]) * float64(v[1]) * float64(v[2]) }
	return product(l.Grid) * math.Ceil(product(l.Block)/warp)
}

// without adds what-ifs to a study.
func (e *Evaluator) without(ctx context.Context, job Job, s *Study, sets []ideal.Set) error {
	for _, m := range sets {
		job.Ideal = m
		o, r, err := e.Evaluate(ctx, job)
		if err != nil {
			return err
		}
		if o.Validity == tuner.Correct && o.TimeUS > 0 && r != nil {
			s.WhatIfs = append(s.WhatIfs, WhatIf{m, o.TimeUS, s.Outcome.TimeUS / o.TimeUS, r.Bound, r.Slots})
		}
	}
	return nil
}

// Study studies every record, one after another, in their order.
func (b *Batch) Study(ctx context.Context, records []record.Record) ([]Study, error) {
	tasks, err := b.tasks(records)
	if err != nil {
		return nil, err
	}
	ev := New(b.Compiler)
	out := make([]Study, len(tasks))
	for i := range tasks {
		if out[i], err = ev.With(tasks[i].compiler).Study(ctx, tasks[i].job); err != nil {
			return nil, err
		}
	}
	return out, nil
}
