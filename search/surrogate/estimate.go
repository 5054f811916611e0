package surrogate

import (
	"math"
	"math/rand/v2"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
)

// wide is how many configurations at random an estimate looks at.
const wide = 1000

var _ search.Estimator = (*Model)(nil)

// Estimate implements search.Estimator: what is expected of the best question
// among the neighbours of the best and a sample of everywhere, and the least
// that any of them is believed to come to.
func (m *Model) Estimate() (search.Estimate, bool) {
	best, ok := m.t.Best()
	if !ok || !m.ready() || !m.forest.Grown() {
		return search.Estimate{}, false
	}
	known := feature.Target(best.Objective)
	var e search.Estimate
	look := func(i int64) {
		if m.t.Seen(i) {
			return
		}
		m.buf = m.f.Append(m.buf[:0], i)
		mean, variance := m.forest.Predict(m.buf)
		e.Gain = max(e.Gain, -math.Expm1(-max(0, improvement(known, mean, variance))))
		e.AtMost = max(e.AtMost, -math.Expm1(mean-1.645*math.Sqrt(variance)-known))
	}
	for _, o := range m.t.Ranked()[:min(parents, len(m.t.Ranked()))] {
		for i := range m.t.Space.Neighbours(o.Index, search.Hamming) {
			look(i)
		}
	}
	r := rand.New(rand.NewPCG(uint64(len(m.t.History())), wide))
	for _, i := range m.t.Space.Sample(r, wide) {
		look(i)
	}
	return e, true
}
