package simengine

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/trace"
)

// Some loops have a known number of iterations, but what each iteration does depends on data: a
// point further away than others needs no exponential function. They are executed whole where that
// takes no longer than estimateAfter. Otherwise they are sampled: the iterations are cut into
// estimateParts strata, one iteration stands for each, and the variance between them gives the
// error.
const (
	// estimateAfter is the work of a CTA (exec.Runner.Work) from which loops are estimated. Sixteen
	// such CTAs are as much as may be executed for one configuration.
	estimateAfter = workLimit / 16
	estimateParts = 8
)

// sliced returns the options of every execution of a CTA's slice.
func (r *recording) sliced(limit int64) exec.Options {
	opt := exec.Options{Mode: exec.Slice, LoopSample: loopSample, StepLimit: stepLimit, WorkLimit: limit, Warn: r.warn}
	if r.estimated {
		opt.Estimate = estimateParts
	}
	return opt
}

// bounded runs a CTA's slice without an observer. If it takes longer than estimateAfter and has
// loops that can be estimated, they are from then on.
func (r *recording) bounded(id int64, deviceOnly bool) error {
	run := func(limit int64) error {
		opt := r.sliced(limit)
		opt.DeviceOnly = deviceOnly
		if err := r.runner.Run(r.launch, r.memory, id, opt, nil); err != nil {
			return err
		}
		return harmful(r.runner)
	}
	if r.estimated || !r.runner.Program().CanEstimate() {
		return run(workLimit)
	}
	err := run(estimateAfter)
	if isFault(err, fault.StepLimit) {
		r.estimated = true
		r.memory.Reset()
		err = run(workLimit)
	}
	return err
}

// estimateError is the relative standard error of the instruction count of a recording's CTAs, which
// estimated loops cause; 0 where all iterations were executed.
func (r *recording) estimateError() float64 {
	if !r.estimated {
		return 0
	}
	total, square := 0.0, 0.0
	asked := slices.SortedFunc(maps.Keys(r.asked), func(a, b traceKey) int { return cmp.Compare(a.id, b.id) })
	for _, w := range asked {
		if w.device {
			continue
		}
		for i := range r.ctas[w].trace.Warps {
			n, e := r.warpError(&r.ctas[w].trace.Warps[i])
			total += n
			square += e
		}
	}
	return math.Sqrt(square) / math.Max(total, 1)
}

// stratum is a loop of a warp in which some iterations stand for others.
type stratum struct {
	head            int32
	n, sum, squares float64 // of the instructions of those iterations
	stand           float64 // sum of the squares of how many each stands for
}

// warpError returns the instructions of a warp and the variance of that number.
func (r *recording) warpError(w *trace.Warp) (total, variance float64) {
	var loops []stratum
	began := map[int32]float64{}
	for _, s := range w.Steps {
		if s.Repeat == 0 {
			began[s.Block] = total
			b := &r.kernel.Blocks[s.Block]
			total += float64(b.End - b.Start)
			continue
		}
		at := slices.IndexFunc(loops, func(l stratum) bool { return l.head == s.Block })
		if at < 0 {
			at = len(loops)
			loops = append(loops, stratum{head: s.Block})
		}
		l, one, n := &loops[at], total-began[s.Block], float64(s.Repeat)
		l.n++
		l.sum += one
		l.squares += one * one
		l.stand += n * n
		total += one * n
	}
	for _, l := range loops {
		if l.n > 1 {
			variance += l.stand * math.Max(l.squares-l.sum*l.sum/l.n, 0) / (l.n - 1)
		}
	}
	return total, variance
}
