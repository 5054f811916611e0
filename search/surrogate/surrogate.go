// Package surrogate is model-based search (Bayesian optimisation) with a regression forest, after SMAC (Hutter,
// Hoos and Leyton-Brown, "Sequential Model-Based Optimization for General Algorithm Configuration", LION 2011). The
// next question is the candidate of the greatest expected improvement of the logarithm of the objective (Jones,
// Schonlau and Welch, J. Global Optim. 13, 1998). Forests suit discrete, constrained and partly failing spaces; a
// failed configuration counts as bad as the worst quarter of the valid ones. Candidates are the neighbours of the
// best configurations and a random sample. Questions whose answers are out count as answered with what the model
// expects (Ginsbourger et al., "Kriging is well-suited to parallelize optimization", 2010).
package surrogate

import (
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
	"github.com/warptune/warptune/search/forest"
	"github.com/warptune/warptune/search/quasirandom"
	"github.com/warptune/warptune/search/trail"
)

const (
	first    = 10  // questions before there is a model
	parents  = 4   // best configurations whose neighbours are candidates
	near     = 100 // most neighbours of a parent, drawn at random
	sample   = 200 // candidates at random
	directed = 4   // each so many questions one changes a single parameter
	lines    = 2   // best configurations of which single parameters are changed
	regrow   = 3   // trees replaced for each question,
	settled  = 400 // or one for as many answers as there are times this
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// Model proposes what it expects most of.
type Model struct {
	t      *trail.Trail
	start  *quasirandom.Sequence
	f      *feature.Map
	forest *forest.Forest
	grown  int                 // answers and questions when the forest grew last
	x      map[int64][]float32 // of the trail's observations
	near   map[int64][]int64   // neighbours of configurations that were parents
	list   []int64             // scratch
	buf    []float32           // scratch
}

// On returns the member on a trail.
func On(t *trail.Trail) *Model {
	return &Model{
		t: t, start: quasirandom.On(t), f: feature.New(t.Space),
		forest: forest.New(forest.Options{}, t.Rand.Uint64()), x: map[int64][]float32{}, near: map[int64][]int64{},
	}
}

// Observe implements trail.Member: what is told is read off the trail.
func (*Model) Observe(search.Observation) {}

// Propose implements trail.Member.
func (m *Model) Propose() (int64, bool) {
	if len(m.t.History())+len(m.t.Pending()) < first || !m.ready() {
		return m.start.Propose()
	}
	if m.t.Rand.IntN(directed) == 0 {
		if i, ok := m.Choose(m.line()); ok {
			return i, true
		}
	}
	return m.Choose(m.candidates())
}

// Shed implements search.Shedder.
func (m *Model) Shed() { m.x = map[int64][]float32{} }

// ready reports whether there is enough to learn from.
func (m *Model) ready() bool { return len(m.t.Ranked()) >= 4 && m.f.Dims() > 0 }

// Choose learns what there is to learn and returns the configuration of a list
// that has the greatest expected improvement, of those not seen; false: there
// is none. Without a model it is the first.
func (m *Model) Choose(list []int64) (pick int64, ok bool) {
	var best float64
	ready := m.ready()
	if ready {
		best = m.learn()
	}
	top := math.Inf(-1)
	for _, i := range list {
		if m.t.Seen(i) || ok && !ready {
			continue
		}
		ei := 0.0
		if ready {
			m.buf = m.f.Append(m.buf[:0], i)
			mean, variance := m.forest.Predict(m.buf)
			ei = improvement(best, mean, variance)
		}
		if !ok || ei > top {
			pick, ok, top = i, true, ei
		}
	}
	return pick, ok
}

// learn grows trees on all observations and returns the best target.
func (m *Model) learn() (best float64) {
	best = feature.Target(m.t.Ranked()[0].Objective)
	known := len(m.t.History()) + len(m.t.Pending())
	if m.forest.Grown() && known-m.grown < known/settled {
		return best
	}
	m.grown = known
	var x [][]float32
	var y []float32
	bad := m.t.Ranked()[len(m.t.Ranked())*3/4].Objective
	for _, o := range m.t.History() {
		v := bad
		if o.Valid {
			v = min(o.Objective, m.t.Ranked()[len(m.t.Ranked())-1].Objective)
		}
		x, y = append(x, m.point(o.Index)), append(y, float32(feature.Target(v)))
	}
	if pending := m.t.Pending(); len(pending) > 0 && len(m.t.History()) > 0 {
		m.forest.Grow(x, y, regrow)
		for _, i := range pending {
			p := m.point(i)
			mean, _ := m.forest.Predict(p)
			x, y = append(x, p), append(y, float32(mean))
		}
	}
	n := regrow
	if len(x) > settled {
		n = 1
	}
	m.forest.Grow(x, y, n)
	return best
}

func (m *Model) point(i int64) []float32 {
	p, ok := m.x[i]
	if !ok {
		p = m.f.Append(nil, i)
		m.x[i] = p
	}
	return p
}

// candidates returns configurations not seen: neighbours of the best, and a
// sample.
func (m *Model) candidates() []int64 {
	m.list = m.list[:0]
	taken := map[int64]bool{}
	add := func(i int64) {
		if !taken[i] && !m.t.Seen(i) {
			taken[i] = true
			m.list = append(m.list, i)
		}
	}
	for _, o := range m.t.Ranked()[:min(parents, len(m.t.Ranked()))] {
		around, ok := m.near[o.Index]
		if !ok {
			around = m.t.Neighbourhood(o.Index)
			around = slices.Clone(around[:min(near, len(around))])
			m.near[o.Index] = around
		}
		for _, i := range around {
			add(i)
		}
	}
	for _, i := range m.t.Space.Sample(m.t.Rand, sample) {
		add(i)
	}
	return m.list
}

// line returns one of the best configurations with one parameter changed, drawn
// at random among those that vary. Without such questions a parameter of few
// values that the model thinks nothing of would not be tried again beside those
// of many.
func (m *Model) line() []int64 {
	m.list = m.list[:0]
	digits := m.t.Space.Digits(m.t.Ranked()[m.t.Rand.IntN(min(lines, len(m.t.Ranked())))].Index, nil)
	p := m.f.Param(m.t.Rand.IntN(m.f.Dims()))
	for d := range m.t.Space.Params()[p].Values {
		digits[p] = d
		if i, ok := m.t.Space.IndexOfDigits(digits); ok && !m.t.Seen(i) {
			m.list = append(m.list, i)
		}
	}
	return m.list
}

// improvement is the expectation of max(0, best - Y) for normal Y; where there
// is no doubt, of the lower mean.
func improvement(best, mean, variance float64) float64 {
	s := math.Sqrt(variance)
	if s < 1e-9 {
		return best - mean - 1
	}
	z := (best - mean) / s
	return (best-mean)*0.5*math.Erfc(-z/math.Sqrt2) + s*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
}
