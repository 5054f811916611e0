package simengine

import (
	"github.com/warptune/warptune/simengine/sampling"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// sample is the CTAs that stand for the grid. It depends on the launch alone.
func (r *recording) sample() (*sampling.Sample, error) {
	if s := r.sampled; s != nil {
		r.work += s.Work
		for _, id := range s.IDs {
			if _, err := r.cta(id); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	p := r.runner.Program()
	s, err := sampling.Choose(&sampling.Launch{
		Executor: sampleExecutor{r}, Kernel: r.kernel, Grid: r.grid(), Middle: timing.Middle(r.grid()), Warps: r.warps(), Limit: workLimit,
		DataDecides: p.DataDecides(), SamePath: p.SamePath(), IndependentWarps: p.WarpsIndependent(),
	})
	if err != nil {
		return nil, err
	}
	r.sampled = s
	return s, nil
}

// sampleExecutor is a recording that executes CTAs for package sampling.
type sampleExecutor struct{ r *recording }

func (e sampleExecutor) Trace(id int64) (*trace.CTA, error) { return e.r.cta(id) }
func (e sampleExecutor) Traced(id int64) bool               { return e.r.asked[traceKey{id: id}] }
func (e sampleExecutor) PathWork(id int64) int64            { return e.r.ctas[traceKey{id: id}].path }
func (e sampleExecutor) Work() int64                        { return e.r.work }
func (e sampleExecutor) Charge(work int64)                  { e.r.work += work }

func (e sampleExecutor) Path(id int64, warps uint32) ([]trace.Warp, error) {
	r := e.r
	opt := r.sliced(max(workLimit-r.work, 1))
	opt.PathOnly, opt.Warps = true, warps
	if err := r.run(id, opt); err != nil {
		r.forget()
		return nil, failureOf(err)
	}
	r.work += r.runner.Work()
	return r.recorder.CTA().Warps, nil
}
