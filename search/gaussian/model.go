// Package gaussian is model-based search (Bayesian optimisation) with a Gaussian process: the next question is the
// configuration of the greatest expected improvement of the logarithm of the objective (Jones, Schonlau and Welch,
// "Efficient Global Optimization of Expensive Black-Box Functions", J. Global Optim. 13, 1998), times the
// probability that it does not fail, which a forest learns. Discrete and constrained spaces need no relaxation, as
// candidates are configurations: the neighbours of the best and a random sample. From the most promising of these
// it climbs from neighbour to neighbour (as in BaCO, Hellsten et al., ASPLOS 2023). Lengths and noise follow the
// answers by a few steps up their posterior at a time.
//
// A committee is several such processes, whose lengths and noise are drawn from
// their posterior; what is expected is the mean over them (Snoek, Larochelle and
// Adams, "Practical Bayesian Optimization of Machine Learning Algorithms", NIPS
// 2012). Of few answers the most probable lengths say too much: that a parameter
// does not matter, say, of which there are just no two values yet where it does.
// Every other of its questions is for gains that are worth while: twins of the
// best, which differ from it in what hardly matters, promise a little more often
// than anything else does. Where nothing does, that question doubts the committee,
// by turns while there are better ones now and then.
//
// Questions whose answers are out count as answered with what is expected of them
// (Ginsbourger et al., "Kriging is well-suited to parallelize optimization",
// 2010): nothing near them is in doubt any more. However many answers there are
// and questions out, a process is conditioned on some hundreds, so that a
// question costs milliseconds.
package gaussian

import (
	"math"
	"math/rand/v2"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/feature"
	"github.com/warptune/warptune/search/forest"
	"github.com/warptune/warptune/search/quasirandom"
	"github.com/warptune/warptune/search/trail"
)

const (
	first   = 10 // questions before there is a model,
	answers = 4  // and valid answers
	members = 8  // of a committee
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// Model proposes what it expects most of.
type Model struct {
	t        *trail.Trail
	start    *quasirandom.Sequence
	prior    *prior         // nil: nothing was predicted
	maps     []*feature.Map // one or another of which each process goes by; failures go by the first
	points   map[int64]point
	pool     []int64   // configurations at random
	beliefs  []*belief // what is expected is the mean over these
	failures *forest.Forest
	counted  int // answers that failures has learnt of
	failed   int // of these, how many failed

	heard    int     // answers of the trail that base has taken in
	base     []int64 // configurations with an answer that the processes go by
	turn     int     // process that is fitted next
	mean, sd float64 // of the targets, which the processes see standardised
	best     float64 // the best of them, standardised
	aim      float64 // what is to be improved on: the best or somewhat below
	doubt    float64 // how many times what is believed of them deviations are taken for
}

// point is a configuration's, as the forest and as the processes see it.
type point struct {
	raw  []float32   // by the first map
	unit [][]float64 // by map: each coordinate over its range
}

// On returns the member on a trail, of one process.
func On(t *trail.Trail) *Model {
	m := on(t, quasirandom.On(t), feature.New(t.Space))
	m.beliefs = []*belief{newBelief(m.maps[0].Dims(), nil)}
	return m
}

// Committee returns the member on a trail that is a committee. Its first
// questions are those of quasirandom.Plain; half of its members go by
// feature.Closer and half by feature.Stepped. What was predicted, if anything, is the processes'
// mean function, and what is predicted best is asked for first.
func Committee(t *trail.Trail, predicted search.Prior) *Model {
	m := on(t, quasirandom.Plain(t), feature.Closer(t.Space), feature.Stepped(t.Space))
	m.prior = newPrior(t.Space, predicted)
	for k := range members {
		walk := rand.New(rand.NewPCG(t.Rand.Uint64(), t.Rand.Uint64()))
		b := newBelief(m.maps[0].Dims(), walk)
		b.lens = k % len(m.maps)
		m.beliefs = append(m.beliefs, b)
	}
	return m
}

func on(t *trail.Trail, start *quasirandom.Sequence, maps ...*feature.Map) *Model {
	return &Model{
		t: t, start: start, maps: maps, points: map[int64]point{},
		failures: forest.New(forest.Options{}, t.Rand.Uint64()),
	}
}

// Observe implements trail.Member: what is told is read off the trail.
func (*Model) Observe(search.Observation) {}

// Propose implements trail.Member.
func (m *Model) Propose() (int64, bool) {
	if best := m.prior.next(m.t, 1); m.asked() < foretold && len(best) > 0 {
		return best[0], true
	}
	if m.prior.judge(m.t.Ranked(), func(i int64) []float64 { return m.point(i).unit[0] }) {
		for _, b := range m.beliefs {
			b.fitted = 0
		}
	}
	if m.asked() < m.prior.first() || !m.ready() {
		return m.start.Propose()
	}
	m.condition()
	m.learnFailures()
	return m.choose()
}

// Shed implements search.Shedder.
func (m *Model) Shed() {
	m.points = map[int64]point{}
	for _, b := range m.beliefs {
		b.views = map[int64]*view{}
	}
}

// asked returns how many questions the trail knows of.
func (m *Model) asked() int { return len(m.t.History()) + len(m.t.Pending()) }

// ready reports whether there is enough to learn from.
func (m *Model) ready() bool { return len(m.t.Ranked()) >= answers && m.maps[0].Dims() > 0 }

func (m *Model) point(i int64) point {
	p, ok := m.points[i]
	if ok {
		return p
	}
	for k, f := range m.maps {
		raw := f.Append(nil, i)
		unit := make([]float64, len(raw))
		for d, v := range raw {
			unit[d] = float64(v / f.Range(d))
		}
		if p.unit = append(p.unit, unit); k == 0 {
			p.raw = raw
		}
	}
	if len(m.points) >= remembered {
		clear(m.points)
	}
	m.points[i] = p
	return p
}

// unit is a configuration's point as the process of a belief sees it.
func (m *Model) unit(b *belief, i int64) []float64 { return m.point(i).unit[b.lens] }

// view is what a belief's process has to say of a configuration.
func (m *Model) view(b *belief, i int64) *view { return b.view(i, m.unit(b, i)) }

// remembered is how many points are kept at most.
const remembered = 1 << 14

// learnFailures grows trees on which configurations failed.
func (m *Model) learnFailures() {
	const (
		regrow  = 4   // trees replaced after new answers,
		settled = 400 // or one for each so many answers known
	)
	history := m.t.History()
	for _, o := range history[m.counted:] {
		if !o.Valid {
			m.failed++
		}
	}
	news := len(history) - m.counted
	m.counted = len(history)
	if m.failed == 0 || news == 0 || len(history) > settled && len(history)%(len(history)/settled) != 0 {
		return
	}
	var x [][]float32
	var y []float32
	for _, o := range history {
		valid := float32(0)
		if o.Valid {
			valid = 1
		}
		x, y = append(x, m.point(o.Index).raw), append(y, valid)
	}
	n := regrow
	if len(history) > settled {
		n = 1
	}
	m.failures.Grow(x, y, n)
}

// valid returns the logarithm of the probability that a configuration does not
// fail; never certainty that it does.
func (m *Model) valid(i int64) float64 {
	if m.failed == 0 || !m.failures.Grown() {
		return 0
	}
	p, _ := m.failures.Predict(m.point(i).raw)
	return math.Log(max(p, 1e-3))
}
