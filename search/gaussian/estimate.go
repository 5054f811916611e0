package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
)

const (
	looked   = 2000 // configurations at random that are looked at,
	kept     = 200  // of which so many are looked at closely
	together = 64   // configurations whose times are drawn together,
	draws    = 200  // so often
)

var _ search.Estimator = (*Model)(nil)

// Estimate implements search.Estimator: the best of the most promising
// configurations not seen, whose times are drawn together from what the process
// believed when it was asked last, again and again.
func (m *Model) Estimate() (search.Estimate, bool) {
	best, ok := m.t.Best()
	if !ok || m.beliefs[0].process.len() == 0 {
		return search.Estimate{}, false
	}
	r := rand.New(rand.NewPCG(uint64(len(m.t.History())), looked))
	m.aim, m.doubt = m.best, 1
	among := m.promising(r)
	if len(among) == 0 {
		return search.Estimate{}, false
	}
	known := (feature.Target(best.Objective) - m.mean) / m.sd
	gains := make([]float64, draws)
	var joints []*joint
	for _, b := range m.beliefs {
		joints = append(joints, m.joint(b, among))
	}
	for k := range gains {
		least := joints[k%len(joints)].least(r, known)
		gains[k] = max(0, -math.Expm1((least-known)*m.sd))
	}
	slices.Sort(gains)
	var e search.Estimate
	for _, g := range gains {
		e.Gain += g / draws
	}
	e.AtMost = max(e.Gain, gains[draws*95/100])
	return e, true
}

// promising returns the configurations not seen that most is expected of: of
// the neighbours of the best, of a sample, and of those met in climbing from the
// most promising of these.
func (m *Model) promising(r *rand.Rand) []candidate {
	scores := map[int64]float64{}
	visit := func(i int64) {
		if _, ok := scores[i]; !ok && !m.t.Seen(i) {
			scores[i] = m.score(i, math.Inf(-1))
		}
	}
	ranked := m.t.Ranked()
	for _, o := range ranked[:min(parents, len(ranked))] {
		for _, i := range m.first(o.Index) {
			visit(i)
		}
	}
	for _, i := range m.likely(r) {
		visit(i)
	}
	sorted := func() []candidate {
		var list []candidate
		for i, s := range scores {
			list = append(list, candidate{i, s})
		}
		slices.SortFunc(list, byScore)
		return list
	}
	for _, c := range sorted()[:min(climbs, len(scores))] {
		m.climb(c, func(i int64) []int64 {
			around := m.first(i)
			for _, k := range around {
				visit(k)
			}
			return around
		})
	}
	list := sorted()
	return list[:min(together, len(list))]
}

// likely returns of a sample of everywhere those that may be worth the most by
// what the nearest answers say.
func (m *Model) likely(r *rand.Rand) []int64 {
	var list []candidate
	for k, i := range m.t.Space.Sample(r, looked) {
		if !m.t.Seen(i) {
			b := m.beliefs[k%len(m.beliefs)]
			mean, bound := b.process.view(m.unit(b, i)).glance(b.process)
			list = append(list, candidate{i, improvement(m.best-m.offset(i), mean, bound)})
		}
	}
	slices.SortFunc(list, byScore)
	var out []int64
	for _, c := range list[:min(kept, len(list))] {
		out = append(out, c.index)
	}
	return out
}

// first returns the first neighbours of a configuration. Unlike around it draws
// nothing, so that nobody notices.
func (m *Model) first(i int64) []int64 {
	var out []int64
	for k := range m.t.Space.Neighbours(i, search.Hamming) {
		if out = append(out, k); len(out) == near {
			break
		}
	}
	return out
}

// joint is the distribution of the values of some configurations.
type joint struct {
	mean  []float64
	root  factor    // of the covariances
	scale float64   // of root's variances
	valid []float64 // logarithm of the probability not to fail
	unit  []float64 // scratch
}

// joint returns what a belief is of some configurations.
func (m *Model) joint(b *belief, among []candidate) *joint {
	j := &joint{scale: math.Sqrt(b.process.scale)}
	var in []*view
	var beside []float64
	for _, c := range among {
		v := m.view(b, c.index)
		mean, _ := v.glance(b.process)
		v.whiten(b.process)
		beside = beside[:0]
		for _, o := range in {
			beside = append(beside, matern(apart(v.z, o.z))-floats.Dot(v.white, o.white))
		}
		if !j.root.extend(beside, 1-floats.Dot(v.white, v.white)+noiseLeast) {
			continue // as good as one that is in
		}
		in = append(in, v)
		j.mean, j.valid = append(j.mean, mean+m.offset(c.index)), append(j.valid, m.valid(c.index))
	}
	j.unit = make([]float64, len(j.mean))
	return j
}

// least draws the values, and returns the least of those that do not fail, at
// most known.
func (j *joint) least(r *rand.Rand, known float64) float64 {
	for k := range j.unit {
		j.unit[k] = r.NormFloat64()
	}
	for k, row := range j.root.rows {
		v := j.mean[k] + j.scale*floats.Dot(row, j.unit[:k+1])
		if v < known && math.Log(r.Float64()) < j.valid[k] {
			known = v
		}
	}
	return known
}
