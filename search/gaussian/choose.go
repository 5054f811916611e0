package gaussian

import (
	"cmp"
	"math"
	"slices"
)

const (
	parents  = 4   // best configurations whose neighbours are candidates
	near     = 100 // most neighbours looked at of one configuration
	wide     = 500 // candidates at random,
	renewed  = 25  // of which so many are new each time
	climbs   = 2   // candidates to climb from,
	ascents  = 8   // by so many steps at most
	held     = 8   // questions whose candidates one of a committee chooses
	screened = 150 // candidates that a committee looks at, not one member alone
	// What a gain must exceed for every other question of a committee, as a
	// share of the time: less is lost in a measurement's noise.
	worthwhile = 0.02
	// Where less than this is expected beyond it, every other such question is one
	// of doubt (see doubting), or each where so many answers are known since the best.
	// These four are the middle of what was tried, of which none stood out
	// (docs/search/strategies.md).
	doubtBelow   = 0.0015
	doubtAnswers = 60
	doubtMost    = 4
	settled      = 25
)

// candidate is a configuration with the logarithm of what is expected of it, or
// a bound of that.
type candidate struct {
	index int64
	score float64
}

// byScore orders candidates, the highest first.
func byScore(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.index, b.index))
}

// choose returns the configuration not seen that most is expected of; false:
// there is none near the best nor in the sample.
func (m *Model) choose() (int64, bool) {
	if len(m.beliefs) == 1 || m.asked()%2 == 1 {
		pick, ok := m.foremost(0, 1)
		return pick.index, ok
	}
	pick, ok := m.foremost(worthwhile, 1)
	if m.expected(pick) < doubtBelow {
		doubt := 1.0
		if m.asked()%4 == 2 || m.t.Stale() >= settled {
			doubt = doubting(len(m.t.History()))
		}
		pick, ok = m.foremost(0, doubt)
	}
	return pick.index, ok
}

// doubting returns how many times what the processes believe of them deviations
// are taken for, to ask what there is if the processes are wrong, which they are
// the less the more answers agree with them.
func doubting(answers int) float64 { return min(1+doubtAnswers/float64(answers), doubtMost) }

// foremost returns the configuration not seen that promises the most of gains of
// more than least, a share of the time, were deviations doubt times what is
// believed of them; false: there is none.
func (m *Model) foremost(least, doubt float64) (pick candidate, ok bool) {
	m.aim, m.doubt = m.best-least/m.sd, doubt
	top := m.top(m.candidates(), climbs)
	for k, c := range top {
		if c = m.climb(c, m.around); k == 0 || c.score > pick.score {
			pick = c
		}
	}
	return pick, len(top) > 0
}

// expected returns what a candidate's score says is expected of it, as a share
// of the time.
func (m *Model) expected(c candidate) float64 {
	return math.Exp(c.score) / float64(len(m.beliefs)) * m.sd
}

// candidates returns configurations not seen with bounds, the highest first. Of
// a committee one member, each in its turn, chooses those that all then look at.
func (m *Model) candidates() []candidate {
	var list []candidate
	taken := map[int64]bool{}
	bound := m.bound
	if len(m.beliefs) > 1 {
		screen := m.beliefs[m.asked()/held%len(m.beliefs)]
		bound = func(i int64) float64 { return m.expects(screen, i) }
	}
	add := func(i int64) {
		if taken[i] || m.t.Seen(i) {
			return
		}
		taken[i] = true
		list = append(list, candidate{i, bound(i)})
	}
	for _, o := range m.t.Ranked()[:min(parents, len(m.t.Ranked()))] {
		for _, i := range m.around(o.Index) {
			add(i)
		}
	}
	for _, i := range m.prior.next(m.t, likeliest) {
		add(i)
	}
	n := renewed
	if len(m.pool) == 0 {
		n = wide
	}
	m.pool = append(m.t.Space.Sample(m.t.Rand, n), m.pool...)
	m.pool = m.pool[:min(wide, len(m.pool))]
	for _, i := range m.pool {
		add(i)
	}
	slices.SortFunc(list, byScore)
	if len(m.beliefs) == 1 {
		return list
	}
	list = list[:min(screened, len(list))]
	for k := range list {
		list[k].score = m.bound(list[k].index)
	}
	slices.SortFunc(list, byScore)
	return list
}

// around returns neighbours of a configuration: all, or as many at random.
func (m *Model) around(i int64) []int64 {
	all := m.t.Neighbourhood(i)
	return all[:min(near, len(all))]
}

// top returns the n best of candidates that come with bounds, the highest
// first, and are scored only as far as the bounds leave it open.
func (m *Model) top(list []candidate, n int) []candidate {
	var top []candidate
	for _, c := range list {
		if len(top) == n && c.score <= top[n-1].score {
			break
		}
		c.score = m.score(c.index, math.Inf(-1))
		top = append(top, c)
		slices.SortFunc(top, byScore)
		top = top[:min(n, len(top))]
	}
	return top
}

// climb goes from neighbour to neighbour while more is expected of one.
func (m *Model) climb(from candidate, around func(int64) []int64) candidate {
	for range ascents {
		next := from
		for _, i := range around(from.index) {
			if s := m.score(i, next.score); s > next.score {
				next = candidate{i, s}
			}
		}
		if next == from {
			break
		}
		from = next
	}
	return from
}

// score returns the logarithm of what is expected of a configuration (times the
// number of processes, which makes no odds); if that
// is at most floor, it may return any bound that is, too.
func (m *Model) score(i int64, floor float64) float64 {
	if m.t.Seen(i) {
		return math.Inf(-1)
	}
	if s := m.bound(i); s <= floor {
		return s
	}
	var sum logSum
	aim := m.aim - m.offset(i)
	for _, b := range m.beliefs {
		v := m.view(b, i)
		mean, _ := v.glance(b.process)
		sum.add(improvement(aim, mean, m.doubt*m.doubt*v.variance(b.process)))
	}
	return sum.log() + m.valid(i)
}

// bound returns a bound of the score that costs little.
func (m *Model) bound(i int64) float64 {
	var sum logSum
	for _, b := range m.beliefs {
		sum.add(m.expects(b, i))
	}
	return sum.log()
}

// expects returns a bound of the logarithm of what a belief expects of a configuration.
func (m *Model) expects(b *belief, i int64) float64 {
	mean, most := m.view(b, i).glance(b.process)
	return improvement(m.aim-m.offset(i), mean, m.doubt*m.doubt*most)
}

// logSum is the sum of numbers of which only logarithms are known. The zero
// value is that of none.
type logSum struct {
	top, rest float64 // the greatest logarithm, and the sum over what it is of
}

func (s *logSum) add(log float64) {
	switch {
	case s.rest == 0:
		s.top, s.rest = log, 1
	case log > s.top:
		s.top, s.rest = log, s.rest*math.Exp(s.top-log)+1
	default:
		s.rest += math.Exp(log - s.top)
	}
}

func (s *logSum) log() float64 { return s.top + math.Log(s.rest) }

// improvement is the logarithm of the expectation of max(0, best - Y) for
// normal Y; it grows with the variance. Far below the best it takes the leading
// terms of the asymptotic series, where the difference of the exact ones cancels
// (Ament et al., "Unexpected Improvements to Expected Improvement for Bayesian
// Optimization", NeurIPS 2023).
func improvement(best, mean, variance float64) float64 {
	s := math.Sqrt(variance)
	z := (best - mean) / s
	if z > -6 {
		return math.Log(s * (z*math.Erfc(-z/math.Sqrt2)/2 + math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)))
	}
	return math.Log(s/math.Sqrt(2*math.Pi)) - z*z/2 - 2*math.Log(-z) + math.Log1p(-3/(z*z))
}
