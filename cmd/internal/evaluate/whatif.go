package evaluate

import (
	"context"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// WhatIf is a configuration on a machine of which a mechanism costs nothing.
type WhatIf struct {
	Without ideal.Set `json:"without"`
	TimeUS  float64   `json:"time_us"`
	Gain    float64   `json:"times_faster"`
}

// Study is a configuration's outcome with what explains it.
type Study struct {
	Outcome tuner.Outcome
	Report  *simengine.Report // nil unless the outcome is correct
	WhatIfs []WhatIf
}

// Study evaluates a job with what each source line does, and again without each of the mechanisms that it has to do
// with. What is executed is executed once.
func (e *Evaluator) Study(ctx context.Context, job Job) (Study, error) {
	job.Lines = true
	outcome, report, err := e.Evaluate(ctx, job)
	s := Study{Outcome: outcome, Report: report}
	if err != nil || report == nil {
		return s, err
	}
	for _, m := range concerned(report) {
		job.Ideal = m
		o, _, err := e.Evaluate(ctx, job)
		if err != nil {
			return s, err
		}
		if o.Validity == tuner.Correct && o.TimeUS > 0 {
			s.WhatIfs = append(s.WhatIfs, WhatIf{m, o.TimeUS, outcome.TimeUS / o.TimeUS})
		}
	}
	return s, nil
}

// concerned is the mechanisms that may cost a launch something.
func concerned(r *simengine.Report) (list []ideal.Set) {
	lines := len(r.Lines) > 0 // else nothing is known of them
	kinds := map[string]simengine.MemoryUse{}
	var warp, threads float64
	barriers := false
	for _, l := range r.Lines {
		warp += l.WarpInstructions
		threads += l.ThreadInstructions
		for _, i := range l.Instructions {
			for _, m := range i.Machine {
				barriers = barriers || m.Kind == "barrier"
			}
		}
		for _, m := range l.Memory {
			k := kinds[m.Kind]
			k.Requests += m.Requests
			k.Sectors += m.Sectors - m.IdealSectors
			k.Wavefronts += m.Wavefronts - m.IdealWavefronts
			kinds[m.Kind] = k
		}
	}
	some := func(m ideal.Set, is bool) {
		if is || !lines {
			list = append(list, m)
		}
	}
	asked := func(names ...string) (sum simengine.MemoryUse) {
		for _, name := range names {
			sum.Requests += kinds[name].Requests
			sum.Sectors += kinds[name].Sectors
			sum.Wavefronts += kinds[name].Wavefronts
		}
		return sum
	}
	some(ideal.Banks, asked("shared load", "shared store", "shared atomic").Wavefronts > 0)
	some(ideal.Coalescing, asked("global load", "global store").Sectors > 0)
	some(ideal.Constants, asked("constant load").Wavefronts > 0)
	some(ideal.Atomics, asked("global atomic").Requests > 0)
	some(ideal.L2Atomics, asked("global atomic").Requests > 0)
	some(ideal.SharedAtomics, asked("shared atomic").Requests > 0)
	some(ideal.Divergence, threads < 31.9*warp)
	some(ideal.Barriers, barriers)
	if r.SpillBytes > 0 {
		list = append(list, ideal.Spills)
	}
	if r.Limiter == "registers" || r.Limiter == "shared_mem" {
		list = append(list, ideal.Occupancy)
	}
	return append(list, ideal.L1, ideal.DRAM, ideal.Latency, ideal.Dependency, ideal.Launch)
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
