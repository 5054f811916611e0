package gaussian

import (
	"math"
	"slices"

	"github.com/warptune/warptune/search/feature"
)

const (
	most    = 320  // answers that the process is conditioned on,
	slack   = 64   // and new ones until they are chosen anew,
	many    = 256  // and questions that are out: all, or of more than this
	out     = 128  // so many of the latest
	sample  = 150  // answers that lengths and noise are fitted to
	growth  = 1.05 // they are when there are so many times more answers,
	steps   = 4    // by so many steps,
	begin   = 40   // and so many at first
	clipped = 0.9  // share of answers from which on worse ones count as equal
)

// condition brings the processes up to date with the trail.
func (m *Model) condition() {
	m.hear()
	y := m.targets()
	if n := len(m.t.Ranked()); m.fitted == 0 || float64(n) >= growth*float64(m.fitted) {
		m.fit(y)
		m.fitted = n
	}
	in := append(slices.Clone(m.base), latest(m.t.Pending())...)
	for _, b := range m.beliefs {
		b.condition(in, y, m.unit)
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
	ranked := m.t.Ranked()
	bad := feature.Target(ranked[min(int(clipped*float64(len(ranked))), len(ranked)-1)].Objective)
	var y []float64
	m.mean = 0
	for _, i := range m.base {
		o, _ := m.t.Told(i)
		y = append(y, min(feature.Target(o.Objective), bad))
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
	m.best = slices.Min(y)
	return y
}

// fit fits lengths and noise to some of base, whose targets are y.
func (m *Model) fit(y []float64) {
	order := make([]int, len(m.base))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case y[a] < y[b]:
			return -1
		case y[a] > y[b]:
			return 1
		}
		return 0
	})
	var x [][]float64
	var v []float64
	for _, k := range thin(order, sample) {
		x, v = append(x, m.point(m.base[k]).unit), append(v, y[k])
	}
	n := steps
	if m.fitted == 0 {
		n = begin
	}
	for _, b := range m.beliefs {
		b.fit(x, v, n)
	}
}
