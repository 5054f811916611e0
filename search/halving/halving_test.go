package halving_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/halving"
)

// world is configurations with their times at both levels.
type world struct {
	candidates []halving.Candidate
	times      map[int64]float64 // at the dear level; absent: it fails there
}

// draw makes a world whose ranking is as good as noise lets it be; floors are
// sound, some of them 0. Times are rounded, so that some are equal, and none is
// 0: that is no outcome.
func draw(r *rand.Rand, n int, noise float64) world {
	w := world{times: map[int64]float64{}}
	for i := range int64(n) {
		t := max(1, math.Round(100*math.Exp(r.NormFloat64()))) / 10
		c := halving.Candidate{Index: 3 * i, Time: t * math.Exp(noise*r.NormFloat64()), Floor: t * (0.3 + 0.7*r.Float64())}
		if r.IntN(10) == 0 {
			c.Floor = 0
		}
		if r.IntN(20) == 0 {
			c.Time = math.Inf(1)
		}
		if r.IntN(15) > 0 {
			w.times[c.Index] = t
		}
		w.candidates = append(w.candidates, c)
	}
	r.Shuffle(n, func(i, j int) { w.candidates[i], w.candidates[j] = w.candidates[j], w.candidates[i] })
	return w
}

// best is the fastest of all, the first of equals.
func (w world) best() (int64, float64) {
	at, least := int64(-1), math.Inf(1)
	for i, t := range w.times {
		if t < least || t == least && i < at {
			at, least = i, t
		}
	}
	return at, least
}

// run drives a strategy with so many questions out at a time, and returns the
// questions, the best found and what the ledger says in the end.
func (w world) run(t *testing.T, goal halving.Goal, window int) (asked []int64, at int64, best float64, s halving.Standing) {
	t.Helper()
	strategy, ledger := halving.New(w.candidates, goal), halving.NewLedger(w.candidates)
	at, best = -1, math.Inf(1)
	var out []int64
	tell := func() {
		i := out[0]
		out = out[1:]
		time, ok := w.times[i]
		if ok && (time < best || time == best && i < at) {
			at, best = i, time
			ledger.Best(best)
		}
		ledger.Answer(i)
		strategy.Tell(search.Observation{Index: i, Objective: time, Valid: ok})
	}
	for {
		more := strategy.Ask(window - len(out))
		for _, i := range more {
			if slices.Contains(asked, i) {
				t.Fatalf("asks for %d twice", i)
			}
			asked = append(asked, i)
		}
		out = append(out, more...)
		if len(out) == 0 {
			if !strategy.Done() {
				t.Fatal("asks for nothing, has all answers and is not done")
			}
			return asked, at, best, ledger.Standing()
		}
		tell()
	}
}

// With a goal, the best found is within it, and 0 finds the one that evaluating
// everything finds; what the ledger says is true.
func TestGoalIsKept(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	pruned := 0
	for range 300 {
		w := draw(r, 1+r.IntN(120), 0.3)
		want, least := w.best()
		within := [...]float64{0, 0.02, 0.3}[r.IntN(3)]
		_, at, best, s := w.run(t, halving.Goal{Within: within}, 1+r.IntN(20))
		if within == 0 && at != want || best > least*(1+within)*(1+1e-12) {
			t.Fatalf("within %g: found %d at %g, the best is %d at %g", within, at, best, want, least)
		}
		if want >= 0 && (s.Gap < 0 || s.Gap > within*(1+1e-9)) {
			t.Fatalf("within %g: the ledger says %+v", within, s)
		}
		pruned += s.Pruned
	}
	if pruned == 0 {
		t.Error("nothing was ever pruned")
	}
}

// Whatever the goal, what the ledger says of the gap holds.
func TestLedgerIsTrue(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		n := 1 + r.IntN(200)
		w := draw(r, n, 0.5)
		_, least := w.best()
		goal := halving.Goal{Within: -1, Most: int64(r.IntN(30))}
		asked, _, best, s := w.run(t, goal, 1+r.IntN(20))
		if goal.Most > 0 && len(asked) > int(goal.Most) {
			t.Fatalf("%d evaluations, at most %d allowed", len(asked), goal.Most)
		}
		if s.Evaluated != len(asked) || s.Evaluated+s.Pruned+s.Open != n {
			t.Fatalf("%d candidates, %d evaluated: %+v", n, len(asked), s)
		}
		if s.Gap >= 0 && best > least*(1+s.Gap)*(1+1e-12) {
			t.Fatalf("gap %g, but %g was found and %g is there", s.Gap, best, least)
		}
	}
}

// A ranking that is right costs no more than the least; one that is upside down
// is followed to its end.
func TestRankingIsTrustedAsFarAsItIsRight(t *testing.T) {
	w := world{times: map[int64]float64{}}
	for i := range int64(320) {
		w.candidates = append(w.candidates, halving.Candidate{Index: i, Time: float64(i + 1)})
		w.times[i] = float64(i + 1)
	}
	if asked, _, best, _ := w.run(t, halving.Goal{Within: -1}, 4); len(asked) != halving.First(320) || best != 1 {
		t.Errorf("%d evaluated, best %g", len(asked), best)
	}
	for i := range w.times {
		w.times[i] = 1000 - w.times[i]
	}
	if asked, _, best, _ := w.run(t, halving.Goal{Within: -1}, 4); len(asked) != 320 || best != 680 {
		t.Errorf("upside down: %d evaluated, best %g", len(asked), best)
	}
}

func TestNothingToRank(t *testing.T) {
	s := halving.New(nil, halving.Goal{Within: -1})
	if got := s.Ask(3); len(got) > 0 || !s.Done() {
		t.Errorf("asks for %v of nothing", got)
	}
}
