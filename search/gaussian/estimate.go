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
	together = 48  // configurations whose times are drawn together,
	draws    = 200 // so often
)

var _ search.Estimator = (*Model)(nil)

// Estimate implements search.Estimator: the best of the most promising
// configurations not seen, whose times are drawn together from what the process
// believed when it was asked last, again and again.
func (m *Model) Estimate() (search.Estimate, bool) {
	best, ok := m.t.Best()
	if !ok || m.process.len() == 0 {
		return search.Estimate{}, false
	}
	r := rand.New(rand.NewPCG(uint64(len(m.t.History())), wide))
	among := m.promising(r)
	if len(among) == 0 {
		return search.Estimate{}, false
	}
	known := (feature.Target(best.Objective) - m.mean) / m.sd
	gains := make([]float64, draws)
	joint := m.joint(among)
	y := make([]float64, len(joint.mean))
	for k := range gains {
		least := known
		joint.draw(r, y)
		for c, v := range y {
			if v < least && math.Log(r.Float64()) < joint.valid[c] {
				least = v
			}
		}
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

// promising returns the configurations not seen that most is expected of.
func (m *Model) promising(r *rand.Rand) []candidate {
	var list []candidate
	taken := map[int64]bool{}
	add := func(i int64) {
		if !taken[i] && !m.t.Seen(i) {
			taken[i] = true
			list = append(list, candidate{i, m.score(i, math.Inf(-1))})
		}
	}
	ranked := m.t.Ranked()
	for _, o := range ranked[:min(parents, len(ranked))] {
		n := 0
		for i := range m.t.Space.Neighbours(o.Index, search.Hamming) {
			if n++; n > near {
				break
			}
			add(i)
		}
	}
	for _, i := range m.t.Space.Sample(r, wide) {
		add(i)
	}
	slices.SortFunc(list, byScore)
	return list[:min(together, len(list))]
}

// joint is the distribution of the values of some configurations.
type joint struct {
	mean  []float64
	root  factor    // of the covariances
	scale float64   // of root's variances
	valid []float64 // logarithm of the probability not to fail
	unit  []float64 // scratch
}

func (m *Model) joint(among []candidate) *joint {
	j := &joint{scale: math.Sqrt(m.process.scale)}
	var in []*view
	var beside []float64
	for _, c := range among {
		v := m.view(c.index)
		mean, _ := v.glance(m.process)
		v.whiten(m.process)
		beside = beside[:0]
		for _, o := range in {
			beside = append(beside, matern(apart(v.z, o.z))-floats.Dot(v.white, o.white))
		}
		if !j.root.extend(beside, 1-floats.Dot(v.white, v.white)+noiseLeast) {
			continue // as good as one that is in
		}
		in = append(in, v)
		j.mean, j.valid = append(j.mean, mean), append(j.valid, m.valid(c.index))
	}
	return j
}

// draw draws the values into y.
func (j *joint) draw(r *rand.Rand, y []float64) {
	j.unit = grown(j.unit, len(j.mean))
	for k := range j.unit {
		j.unit[k] = r.NormFloat64()
	}
	for k, row := range j.root.rows {
		y[k] = j.mean[k] + j.scale*floats.Dot(row, j.unit[:k+1])
	}
}
