package gaussian

import (
	"cmp"
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
)

const (
	most    = 320  // answers that the process is conditioned on,
	slack   = 64   // and new ones until they are chosen anew,
	many    = 256  // and questions that are out: all, or of more than this
	out     = 128  // so many of the latest
	sample  = 150  // answers that lengths and noise are fitted to
	growth  = 1.05 // they are when there are so many times more answers,
	begin   = 40   // by so many steps at first,
	slowest = 4    // and so many then;
	steps   = 480  // those that walk by so many over the number of answers, of
	fastest = 16   // few of which each says much, but at most so many
	clipped = 0.9  // share of answers from which on worse ones count as equal
)

// condition brings the processes up to date with the trail.
func (m *Model) condition() {
	m.hear()
	y := m.targets()
	m.fit(y)
	in := append(slices.Clone(m.base), latest(m.t.Pending())...)
	for _, b := range m.beliefs {
		b.condition(in, y, func(i int64) []float64 { return m.unit(b, i) })
	}
}

// latest returns which of the questions that are out the process is conditioned
// on. While it is all of them, an answer takes the place that its question had,
// and nothing is added anew. Of many it is the latest; an answer moves them, so
// that all are added anew, and they are fewer. Their beginning moves by slack at
// a time, so that a question after another adds one point.
func latest(pending []int64) []int64 {
	if len(pending) <= many {
		return pending
	}
	return pending[(len(pending)-out+slack-1)/slack*slack:]
}

// hear takes new answers into base, of which it keeps some when it has become
// too long.
func (m *Model) hear() {
	for _, o := range m.t.History()[m.heard:] {
		if o.Valid {
			m.base = append(m.base, o.Index)
		}
	}
	m.heard = len(m.t.History())
	if len(m.base) <= most+slack {
		return
	}
	m.base = m.base[:0]
	for _, o := range thin(m.t.Ranked(), most) {
		m.base = append(m.base, o.Index)
	}
}

// thin returns n of a list: half of it the first, the others spread evenly over
// the rest.
func thin[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	half := n / 2
	out := slices.Clone(list[:half])
	for k := range n - half {
		out = append(out, list[half+k*(len(list)-half)/(n-half)])
	}
	return out
}

// targets returns what the process learns of base: logarithms, the worst of
// which say no more than that they are bad, standardised.
func (m *Model) targets() []float64 {
	bad := m.bad()
	var y []float64
	m.mean = 0
	for _, i := range m.base {
		o, _ := m.t.Told(i)
		y = append(y, min(m.target(o), bad))
		m.mean += y[len(y)-1] / float64(len(m.base))
	}
	square := 0.0
	for _, v := range y {
		square += (v - m.mean) * (v - m.mean) / float64(len(y))
	}
	if m.sd = math.Sqrt(square); m.sd < 1e-9 { // all are alike
		m.sd = 1
	}
	for k := range y {
		y[k] = (y[k] - m.mean) / m.sd
	}
	best, _ := m.t.Best()
	m.best = (feature.Target(best.Objective) - m.mean) / m.sd
	return y
}

// target is what processes learn of an answer: of its logarithm what the prior does not say.
func (m *Model) target(o search.Observation) float64 {
	return feature.Target(o.Objective) - m.prior.of(o.Index)
}

// bad is the target from which on worse ones count as equal.
func (m *Model) bad() float64 {
	var all []float64
	for _, o := range m.t.Ranked() {
		all = append(all, m.target(o))
	}
	slices.Sort(all)
	return all[min(int(clipped*float64(len(all))), len(all)-1)]
}

// offset is the prior mean of a configuration, in the units of the standardised targets.
func (m *Model) offset(i int64) float64 { return m.prior.of(i) / m.sd }

// fit fits lengths and noise of the processes whose turn it is to some of base,
// whose targets are y. They take turns: what the others have is good for some
// answers more, and what is known of candidates with it need not be found anew.
func (m *Model) fit(y []float64) {
	n := len(m.t.Ranked())
	// As many as fall due with every answer if they do not fall due together.
	turns := int(math.Ceil(float64(len(m.beliefs)) / (growth - 1) / float64(n)))
	var due []*belief
	for range m.beliefs {
		b := m.beliefs[m.turn]
		if b.fitted > 0 && (len(due) >= turns || float64(n) < growth*float64(b.fitted)) {
			break
		}
		due = append(due, b)
		m.turn = (m.turn + 1) % len(m.beliefs)
	}
	if len(due) == 0 {
		return
	}
	through := make([]*training, len(m.maps)) // by lens
	for _, b := range due {
		if through[b.lens] == nil {
			through[b.lens] = m.training(b, y)
		}
		k := slowest
		switch {
		case b.fitted == 0:
			k = begin
		case b.walk != nil:
			k = min(max(steps/n, slowest), fastest)
		}
		b.fit(through[b.lens], k)
		b.fitted = n
	}
}

// training returns what a belief's lengths and noise are fitted to.
func (m *Model) training(b *belief, y []float64) *training {
	order := make([]int, len(m.base))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	var x [][]float64
	var v []float64
	for _, k := range thin(order, sample) {
		x, v = append(x, m.unit(b, m.base[k])), append(v, y[k])
	}
	return newTraining(x, v)
}
