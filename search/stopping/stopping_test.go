package stopping

import (
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/exhaustive"
	"github.com/warptune/warptune/search/strategytest"
)

// TestContract: without a rule, and with one that never applies, nothing
// changes.
func TestContract(t *testing.T) {
	for _, rule := range []Rule{{}, {Patience: 1 << 40, Negligible: 1e-9}} {
		strategytest.Run(t, func(space *search.Space, _ uint64) search.Strategy { return New(exhaustive.New(space), rule) })
	}
}

// believer says that what is left halves with each answer.
type believer struct {
	search.Strategy
	left float64
	mute bool
}

func (b *believer) Tell(obs ...search.Observation) {
	b.Strategy.Tell(obs...)
	for range obs {
		b.left /= 2
	}
}

func (b *believer) Estimate() (search.Estimate, bool) {
	return search.Estimate{Gain: b.left, AtMost: b.left}, !b.mute
}

// answers lets a strategy ask until it is done, and returns how many answers it
// took.
func answers(t *testing.T, s search.Strategy, answer func(n int) search.Observation) int {
	t.Helper()
	n := 0
	for !s.Done() {
		for _, i := range s.Ask(1) {
			o := answer(n)
			o.Index = i
			s.Tell(o)
			n++
		}
	}
	if got := s.Ask(9); len(got) > 0 {
		t.Errorf("done, but asks for %v", got)
	}
	return n
}

func TestPatience(t *testing.T) {
	space := strategytest.Space(t, 400)
	for _, c := range []struct {
		name   string
		answer func(n int) search.Observation
		want   int
	}{
		{"always better", func(n int) search.Observation { return search.Observation{Objective: -float64(n), Valid: true} }, int(space.Size())},
		{"never better", func(int) search.Observation { return search.Observation{Objective: 1, Valid: true} }, 21},
		{"never valid", func(int) search.Observation { return search.Observation{} }, 200},
		{"valid from 150, never better", func(n int) search.Observation { return search.Observation{Objective: 1, Valid: n >= 150} }, 171},
		{"valid from 10, better at 25", func(n int) search.Observation {
			return search.Observation{Objective: map[bool]float64{false: 2, true: 1}[n == 25], Valid: n >= 10 && n%2 == 1}
		}, 46},
	} {
		s := New(exhaustive.New(space), Rule{Patience: 20})
		if n := answers(t, s, c.answer); n != c.want || s.Stopped() != (n < int(space.Size())) {
			t.Errorf("%s: %d answers, stopped %v; want %d", c.name, n, s.Stopped(), c.want)
		}
	}
}

// TestNegligible: it stops when it was told twice in a row that nothing is
// left, never when it is told nothing.
func TestNegligible(t *testing.T) {
	space := strategytest.Space(t, 400)
	equal := func(int) search.Observation { return search.Observation{Objective: 1, Valid: true} }
	for _, c := range []struct {
		mute bool
		want int
	}{{false, 24}, {true, int(space.Size())}} {
		s := New(&believer{Strategy: exhaustive.New(space), left: 1, mute: c.mute}, Rule{Negligible: 0.001})
		if n := answers(t, s, equal); n != c.want { // 2^-16 is the first below
			t.Errorf("mute %v: %d answers, want %d", c.mute, n, c.want)
		}
	}
}

// TestLate: answers that come after the stop are taken and change nothing.
func TestLate(t *testing.T) {
	space := strategytest.Space(t, 100)
	s := New(exhaustive.New(space), Rule{Patience: 2})
	out := s.Ask(10)
	for k, i := range out {
		s.Tell(search.Observation{Index: i, Objective: float64(10 - k%5), Valid: true})
	}
	s.Tell(search.Observation{Index: out[9], Objective: 0, Valid: true})
	if !s.Done() || !s.Stopped() {
		t.Error("a late answer has set it going again")
	}
}
