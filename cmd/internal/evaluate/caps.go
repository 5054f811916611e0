package evaluate

import (
	"cmp"
	"context"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// CapTrial is a configuration under another register cap.
type CapTrial struct {
	Parameter  string // that says the cap, with its value: max_registers=96
	Cap        int    // registers a thread, 0: none
	TimeUS     float64
	SpillBytes int // a thread
}

// caps tries, of a launch that spills, the larger register caps that a parameter of the kernel has values for, up to the
// first that spills nothing: a larger one only leaves room for fewer CTAs.
func (e *Evaluator) caps(ctx context.Context, job Job) (trials []CapTrial, err error) {
	job.Ideal, job.Answers = 0, nil
	for _, c := range largerCaps(&job) {
		job.Config = c.config
		o, _, err := e.guarded(ctx, job)
		if err != nil {
			return nil, err
		}
		if o.Validity != tuner.Correct {
			continue
		}
		trials = append(trials, CapTrial{c.parameter, c.cap, o.TimeUS, o.SpillBytes})
		if o.SpillBytes == 0 {
			break
		}
	}
	return trials, nil
}

// cappedConfig is a configuration that differs from a job's in the register cap alone.
type cappedConfig struct {
	config    search.Config
	parameter string
	cap       int
}

// largerCaps are the job's configuration under larger caps, the smallest first; without a cap comes last.
func largerCaps(job *Job) (list []cappedConfig) {
	base, err := job.Kernel.Launch(job.Config, job.Problem)
	if err != nil || base.MaxRegisters == 0 {
		return nil
	}
	for _, p := range job.Kernel.Params() {
		i := slices.Index(job.Config.Names, p.Name)
		if i < 0 {
			continue
		}
		for _, v := range p.Values {
			config := job.Config.Clone()
			config.Values[i] = v
			l, err := job.Kernel.Launch(config, job.Problem)
			if err == nil && capAlone(base, l) && (l.MaxRegisters == 0 || l.MaxRegisters > base.MaxRegisters) {
				list = append(list, cappedConfig{config, p.Name + "=" + v.String(), l.MaxRegisters})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b cappedConfig) int { return cmp.Compare(uint(a.cap-1), uint(b.cap-1)) }) // 0 is the largest
	return list
}

// capAlone reports whether launches differ in nothing but the register cap.
func capAlone(a, b *call.Launch) bool {
	return a.Grid == b.Grid && a.Block == b.Block && a.Cluster == b.Cluster && a.DynamicShared == b.DynamicShared && a.CarveOut == b.CarveOut && a.Compile.Key == b.Compile.Key
}
