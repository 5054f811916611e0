package gaussian

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
	"github.com/warptune/warptune/search/trail"
)

const (
	foretold  = 6   // questions for what is predicted best, before predictions are judged
	likeliest = 50  // of the best predictions not asked for are candidates
	unsaid    = 0.5 // share of the predictions' deviation above which residuals say that they foretell nothing
	clearer   = 0.8 // share of the squared error with predictions below which the one without says so
)

// prior is what was predicted of configurations, the mean function of the processes: these
// learn residuals, what is told less what was predicted (Rasmussen and Williams, 2.7). It counts
// while residuals deviate clearly less than predictions themselves do, and answers that are left out
// are not foretold clearly better without it; else the processes learn what is told, as without a prior.
type prior struct {
	target map[int64]float64 // as feature.Target
	other  float64           // of configurations of which nothing was predicted: the median
	order  []int64           // best first
	spread float64           // median absolute deviation of the targets
	asked  int               // of order, known to be seen
	counts bool              // predictions foretell something, as far as is known
}

// newPrior returns what predictions of a space's configurations come to; nil without any.
func newPrior(space *search.Space, predicted search.Prior) *prior {
	p := &prior{target: map[int64]float64{}, counts: true}
	for i, v := range predicted {
		if i >= 0 && i < space.Size() && v > 0 && !math.IsInf(v, 1) {
			p.target[i] = feature.Target(v)
		}
	}
	if len(p.target) == 0 {
		return nil
	}
	p.order = slices.SortedFunc(maps.Keys(p.target), func(a, b int64) int {
		return cmp.Or(cmp.Compare(p.target[a], p.target[b]), cmp.Compare(a, b))
	})
	p.other, p.spread = deviation(slices.Collect(maps.Values(p.target)))
	return p
}

// of returns the prior mean of a configuration.
func (p *prior) of(i int64) float64 {
	if p == nil || !p.counts {
		return 0
	}
	if v, ok := p.target[i]; ok {
		return v
	}
	return p.other
}

// next returns the configurations not seen that are predicted best, at most n.
func (p *prior) next(t *trail.Trail, n int) []int64 {
	if p == nil || !p.counts {
		return nil
	}
	for p.asked < len(p.order) && t.Seen(p.order[p.asked]) {
		p.asked++
	}
	var out []int64
	for _, i := range p.order[p.asked:] {
		if len(out) == n {
			break
		}
		if !t.Seen(i) {
			out = append(out, i)
		}
	}
	return out
}

// first is how many questions are asked before there is a model.
func (p *prior) first() int {
	if p != nil && p.counts {
		return foretold
	}
	return first
}

// judge decides by the answers whether predictions count, and reports whether that is news. unit gives
// the points of configurations.
func (p *prior) judge(ranked []search.Observation, unit func(int64) []float64) bool {
	if p == nil {
		return false
	}
	var x [][]float64
	var targets, residuals []float64
	for _, o := range thin(ranked, sample) {
		if v, ok := p.target[o.Index]; ok {
			y := feature.Target(o.Objective)
			x, targets, residuals = append(x, unit(o.Index)), append(targets, y), append(residuals, y-v)
		}
	}
	if len(residuals) < answers {
		return false
	}
	was := p.counts
	without, with := leaveOneOut(x, targets), leaveOneOut(x, residuals)
	_, d := deviation(residuals)
	p.counts = d < unsaid*p.spread && without > clearer*with
	return p.counts != was
}

// leaveOneOut returns the mean squared error of what is foretold of each value by the others, of a
// process that knows little of lengths and of noise.
func leaveOneOut(x [][]float64, y []float64) float64 {
	least := math.Inf(1)
	for _, noise := range []float64{-3, 0} { // little, and as much as there is of anything else
		p := newProcess(len(x[0]))
		p.noise = noise
		for _, v := range x {
			p.add(v)
		}
		p.set(y)
		var inv inverter
		inverse := inv.of(&p.f)
		sum := 0.0
		for k := range y {
			e := p.alpha[k] / inverse[k][k]
			sum += e * e / float64(len(y))
		}
		least = min(least, sum)
	}
	return least
}

// deviation returns the median of values, which it sorts, and the median of their absolute
// differences from it.
func deviation(values []float64) (median, d float64) {
	middle := func() float64 {
		slices.Sort(values)
		return values[len(values)/2]
	}
	median = middle()
	for k, v := range values {
		values[k] = math.Abs(v - median)
	}
	return median, middle()
}
