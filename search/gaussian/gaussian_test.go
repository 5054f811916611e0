package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/search/strategytest"
	"github.com/warptune/warptune/search/trail"
)

// TestFinds: within 60 questions it is within 2 % of the optimum, for each of
// some seeds; of random configurations one in a thousand is.
func TestFinds(t *testing.T) {
	space, answer := strategytest.Valley(t)
	for seed := range uint64(8) {
		s := New(space, seed)
		best := math.Inf(1)
		for range 60 {
			o := answer(s.Ask(1)[0])
			if o.Valid {
				best = min(best, o.Objective)
			}
			s.Tell(o)
		}
		if best > 1.02 {
			t.Errorf("seed %d: %v after 60 questions", seed, best)
		}
	}
}

// TestEstimate: what is believed to be left to gain falls as what is left does,
// to little once the optimum is all but known.
func TestEstimate(t *testing.T) {
	const seeds, every, last = 4, 15, 75
	space, answer := strategytest.Valley(t)
	var believed, left [last/every + 1]float64
	for seed := range uint64(seeds) {
		s := trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
		best := math.Inf(1)
		for n := 1; n <= last; n++ {
			o := answer(s.Ask(1)[0])
			s.Tell(o)
			if o.Valid {
				best = min(best, o.Objective)
			}
			if n%every > 0 {
				continue
			}
			e, ok := s.Estimate()
			if !ok || e.AtMost < e.Gain {
				t.Fatalf("seed %d: %+v, %v after %d answers", seed, e, ok, n)
			}
			believed[n/every] += e.Gain / seeds
			left[n/every] += (1 - 1/best) / seeds
		}
	}
	t.Logf("believed %.3f, left %.3f", believed, left)
	if believed[1] < 2*believed[last/every] || believed[last/every] > 0.02 || believed[1] < left[1]/3 || believed[1] > 3*left[1] {
		t.Errorf("believed to be left: %.3f; left: %.3f, every %d answers", believed[1:], left[1:], every)
	}
}

// TestCrowd: however many answers there are and questions out, the process is
// conditioned on no more than it should be, and goes on asking what was not
// asked.
func TestCrowd(t *testing.T) {
	space, answer := strategytest.Valley(t)
	var m *Model
	s := trail.Run(space, 1, func(t *trail.Trail) trail.Member { m = On(t); return m })
	for _, i := range space.Sample(rand.New(rand.NewPCG(1, 2)), 3000) {
		s.Tell(answer(i))
	}
	for range 5 {
		four := s.Ask(4)
		if len(four) != 4 || m.beliefs[0].process.len() > most+slack+4 || m.beliefs[0].process.len() < most {
			t.Fatalf("asks for %v, knowing %d", four, m.beliefs[0].process.len())
		}
		for _, i := range four {
			s.Tell(answer(i))
		}
	}
	asked := map[int64]bool{}
	for k := range many + 20 {
		i := s.Ask(1)[0]
		if asked[i] || m.beliefs[0].process.len() > most+slack+many || k > many && m.beliefs[0].process.len() > most+slack+out {
			t.Fatalf("asks for %d, again %v, knowing %d", i, asked[i], m.beliefs[0].process.len())
		}
		asked[i] = true
	}
}

// TestCommittee: its score is the mean over its processes, which differ, of what each expects, and is at most its
// bound. Every other question is for more than a little. Where little is expected of that, questions are for any
// gain or of doubt, by turns while there are better ones now and then. Half of its processes go by one map, and it
// finds what one process does.
func TestCommittee(t *testing.T) {
	space, answer := strategytest.Valley(t)
	var m *Model
	s := trail.Run(space, 2, func(t *trail.Trail) trail.Member { m = Committee(t, nil); return m })
	best, doubted := math.Inf(1), 0
	const questions, found = 90, 60
	for n := range questions {
		since := m.t.Stale()
		o := answer(s.Ask(1)[0])
		if o.Valid {
			best = min(best, o.Objective)
		}
		if n < first+answers {
			s.Tell(o)
			continue
		}
		wanted, least, doubt := (m.best-m.aim)*m.sd, float64((n+1)%2)*worthwhile, 1.0
		beyond := m.sd / members * math.Exp(promise(m, o.Index, m.best-worthwhile/m.sd, 1)+m.valid(o.Index))
		s.Tell(o)
		if least > 0 && beyond < doubtBelow {
			least = 0
			if n%4 == 2 || since >= settled {
				doubt = doubting(n)
				doubted++
			}
		}
		if math.Abs(wanted-least) > 1e-9 || m.doubt != doubt {
			t.Errorf("question %d is for more than %v with doubt %v, want %v and %v; the best is %v", n, wanted, m.doubt, least, doubt, best)
		}
		if n >= found && best > 1.02 {
			t.Errorf("%v after %d questions", best, n)
		}
	}
	if doubted == 0 || doubted > questions/3 {
		t.Errorf("%d of %d questions are of doubt", doubted, questions)
	}
	s.Ask(1)
	if a, b := m.beliefs[0].process.lengths, m.beliefs[1].process.lengths; slices.Equal(a, b) {
		t.Errorf("two processes have the lengths %v", a)
	}
	if a, b := m.beliefs[0].lens, m.beliefs[1].lens; a == b {
		t.Errorf("two processes see by map %d", a)
	}
	for _, i := range space.Sample(rand.New(rand.NewPCG(3, 4)), 50) {
		if m.t.Seen(i) {
			continue
		}
		got, want := m.score(i, math.Inf(-1))-m.valid(i), promise(m, i, m.aim, m.doubt)
		if math.Abs(got-want) > 1e-6 || m.bound(i) < got {
			t.Errorf("configuration %d: %v, bound %v, want %v", i, got, m.bound(i), want)
		}
	}
}

// promise is the logarithm of what a model's processes together expect a configuration to
// improve on an aim by, in their unit.
func promise(m *Model, i int64, aim, doubt float64) float64 {
	sum := 0.0
	for _, b := range m.beliefs {
		v := b.process.view(m.unit(b, i))
		mean, _ := v.glance(b.process)
		sum += math.Exp(improvement(aim, mean, doubt*doubt*v.variance(b.process)))
	}
	return math.Log(sum)
}

// TestDoubting: the more is known the less is doubted.
func TestDoubting(t *testing.T) {
	for _, c := range []struct {
		answers int
		want    float64
	}{{10, doubtMost}, {60, 2}, {600, 1.1}} {
		if got := doubting(c.answers); got != c.want {
			t.Errorf("after %d answers: %v, want %v", c.answers, got, c.want)
		}
	}
}

// TestLogSum: sums of numbers far too small for their logarithms to be taken
// back.
func TestLogSum(t *testing.T) {
	var s logSum
	for _, v := range []float64{-2000, -1000, -1001, -3000, -1000} {
		s.add(v)
	}
	if got, want := s.log(), -1000+math.Log(2+math.Exp(-1)); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}
