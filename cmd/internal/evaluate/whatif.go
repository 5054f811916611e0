package evaluate

import (
	"cmp"
	"context"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/call"
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
// with, and without pairs of them that hide each other. What is executed is executed once, and once by each of the
// helpers, which take a part of the what-ifs.
func (e *Evaluator) Study(ctx context.Context, job Job, helpers ...*Evaluator) (Study, error) {
	job.Lines = true
	var g errgroup.Group // helpers execute meanwhile what they need
	for _, h := range helpers {
		g.Go(func() error {
			_, _, err := h.guarded(ctx, job.unchecked())
			return err
		})
	}
	outcome, report, err := e.guarded(ctx, job)
	err = cmp.Or(err, g.Wait())
	s := Study{Outcome: outcome, Report: report}
	if err != nil || report == nil {
		return s, err
	}
	c := concern{Report: report}
	if l, err := job.Kernel.Launch(job.Config, job.Problem); err == nil {
		c.warps = warpsOf(l)
	}
	c.count()
	all := append([]*Evaluator{e}, helpers...)
	if err := without(ctx, all, &job, &s, c.mechanisms()); err != nil {
		return s, err
	}
	if err := without(ctx, all, &job, &s, c.units(s.WhatIfs)); err != nil {
		return s, err
	}
	if gainOf(s.WhatIfs, ideal.Spills) >= worthPair {
		if s.Caps, err = e.caps(ctx, job); err != nil {
			return s, err
		}
	}
	return s, without(ctx, all, &job, &s, c.pairs(s.WhatIfs))
}

// unchecked is the job without a look at what it computes.
func (j *Job) unchecked() Job {
	job := *j
	job.Answers, job.Check = nil, simengine.CheckNone
	return job
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
func warpsOf(l *call.Launch) float64 {
	const warp = 32
	product := func(v [3]int64) float64 { return float64(v[0]) * float64(v[1]) * float64(v[2]) }
	return product(l.Grid) * math.Ceil(product(l.Block)/warp)
}

// without adds what-ifs to a study, in the order of the sets, whichever of the evaluators has them.
func without(ctx context.Context, evaluators []*Evaluator, job *Job, s *Study, sets []ideal.Set) error {
	found := make([]*WhatIf, len(sets))
	var next atomic.Int64
	var g errgroup.Group
	for i, e := range evaluators[:min(len(evaluators), len(sets))] {
		of := *job
		if i > 0 {
			of = job.unchecked()
		}
		g.Go(func() error {
			for n := next.Add(1) - 1; n < int64(len(sets)); n = next.Add(1) - 1 {
				of.Ideal = sets[n]
				o, r, err := e.guarded(ctx, of)
				if err != nil {
					return err
				}
				if o.Validity == tuner.Correct && o.TimeUS > 0 && r != nil {
					found[n] = &WhatIf{sets[n], o.TimeUS, s.Outcome.TimeUS / o.TimeUS, r.Bound, r.Slots}
				}
			}
			return nil
		})
	}
	err := g.Wait()
	for _, w := range found {
		if w != nil {
			s.WhatIfs = append(s.WhatIfs, *w)
		}
	}
	return err
}

// mostHelpers is how many evaluators help one to study: each executes the launch again.
const mostHelpers = 2

// Study studies every record, one after another, in their order, with as many evaluators as there are slots.
func (b *Batch) Study(ctx context.Context, records []record.Record) ([]Study, error) {
	tasks, err := b.tasks(records)
	if err != nil {
		return nil, err
	}
	ev := New(b.Compiler)
	helpers := make([]*Evaluator, min(max(b.Slots-1, 0), mostHelpers))
	for i := range helpers {
		helpers[i] = New(b.Compiler)
	}
	out := make([]Study, len(tasks))
	for i := range tasks {
		with := make([]*Evaluator, len(helpers))
		for h := range helpers {
			with[h] = helpers[h].With(tasks[i].compiler)
		}
		if out[i], err = ev.With(tasks[i].compiler).Study(ctx, tasks[i].job, with...); err != nil {
			return nil, err
		}
	}
	return out, nil
}
