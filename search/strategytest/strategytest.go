// Package strategytest is the contract of search.Strategy as a test suite, for
// the tests of every implementation.
package strategytest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
)

// Make builds the strategy under test.
type Make func(space *search.Space, seed uint64) search.Strategy

// Run checks the contract. Questions are valid indices, and no configuration is asked for twice or after it was
// told. Everything is asked for before Done when nothing stops the strategy earlier. The same space, seed and
// observations give the same questions. A search.Estimator estimates shares, and asks the same whether it is asked
// for estimates or not. A search.Shedder asks and estimates the same whether it sheds or not.
func Run(t *testing.T, mk Make) {
	t.Run("finishes", func(t *testing.T) { finishes(t, mk) })
	t.Run("replays", func(t *testing.T) { replays(t, mk) })
	t.Run("known", func(t *testing.T) { known(t, mk) })
	t.Run("estimates", func(t *testing.T) { estimates(t, mk) })
	t.Run("sheds", func(t *testing.T) { sheds(t, mk) })
	t.Run("strange", func(t *testing.T) { strange(t, mk) })
}

// Space returns a small constrained space of about n configurations.
func Space(t testing.TB, n int) *search.Space {
	t.Helper()
	var values []int64
	for i := range int64(max(1, n/8)) {
		values = append(values, i)
	}
	c, err := search.ParseConstraint("a != 1 or b % 2 == 0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.New([]search.Param{
		{Name: "a", Values: search.Ints(1, 2)}, {Name: "b", Values: search.Ints(values...)}, {Name: "c", Values: search.Ints(1, 2, 4, 8)},
	}, []search.Constraint{c})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// objective is an answer for a configuration; some fail.
func objective(i int64) search.Observation {
	return search.Observation{Index: i, Objective: float64((i*7919 + 13) % 1009), Valid: i%11 != 3}
}

// history drives a strategy with batches of random sizes, answers arriving in
// the order of the questions but with random delay; it returns the questions.
func history(t *testing.T, space *search.Space, s search.Strategy, seed uint64) []int64 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	asked := map[int64]bool{}
	var order, pending []int64
	for idle := 0; !s.Done() || len(pending) > 0; {
		n := 1 + r.IntN(9)
		questions := s.Ask(n)
		if len(questions) > n {
			t.Fatalf("seed %d: asked for %d, got %d", seed, n, len(questions))
		}
		for _, i := range questions {
			if i < 0 || i >= space.Size() || asked[i] {
				t.Fatalf("seed %d: asks for %d, out of range or again", seed, i)
			}
			asked[i] = true
		}
		order, pending = append(order, questions...), append(pending, questions...)
		if idle++; len(questions) > 0 {
			idle = 0
		}
		if idle > 1000 {
			t.Fatalf("seed %d: asks nothing, is not done and has all answers", seed)
		}
		for k := min(r.IntN(12), len(pending)); k > 0; k-- {
			s.Tell(objective(pending[0]))
			pending = pending[1:]
		}
	}
	if more := s.Ask(5); len(more) > 0 {
		t.Fatalf("seed %d: done, but asks for %v", seed, more)
	}
	return order
}

func finishes(t *testing.T, mk Make) {
	for _, n := range []int{1, 50, 300} {
		space := Space(t, n)
		if order := history(t, space, mk(space, 5), uint64(n)); int64(len(order)) != space.Size() {
			t.Errorf("%d of %d configurations asked for", len(order), space.Size())
		}
	}
	empty, err := space0()
	if err != nil {
		t.Fatal(err)
	}
	if s := mk(empty, 1); !s.Done() || len(s.Ask(3)) > 0 {
		t.Error("an empty space is not done")
	}
}

func space0() (*search.Space, error) {
	c, err := search.ParseConstraint("a > 3")
	if err != nil {
		return nil, err
	}
	return search.New([]search.Param{{Name: "a", Values: search.Ints(1, 2)}}, []search.Constraint{c})
}

func replays(t *testing.T, mk Make) {
	space := Space(t, 120)
	for seed := range uint64(3) {
		a, b := history(t, space, mk(space, seed), seed), history(t, space, mk(space, seed), seed)
		if !slices.Equal(a, b) {
			t.Errorf("seed %d: two runs ask differently", seed)
		}
	}
}

// known: configurations told in advance, or twice, are not asked for.
func known(t *testing.T, mk Make) {
	space := Space(t, 100)
	s := mk(space, 3)
	told := map[int64]bool{}
	r := rand.New(rand.NewPCG(9, 9))
	for range 30 {
		i := r.Int64N(space.Size())
		told[i] = true
		s.Tell(objective(i))
		s.Tell(objective(i), objective(i))
	}
	for _, i := range s.Ask(10) {
		if told[i] {
			t.Fatalf("asks for %d, which was told", i)
		}
		told[i] = true
	}
	for _, i := range history(t, space, s, 1) {
		if told[i] {
			t.Fatalf("asks for %d, which was told or asked", i)
		}
		told[i] = true
	}
	if int64(len(told)) != space.Size() {
		t.Errorf("%d of %d configurations told or asked for", len(told), space.Size())
	}
}

// estimates: an estimate is of shares, and nobody's questions depend on it.
func estimates(t *testing.T, mk Make) {
	space := Space(t, 100)
	s, other := mk(space, 4), mk(space, 4)
	e, ok := s.(search.Estimator)
	if !ok {
		return
	}
	for n := 0; ; n++ {
		a, b := s.Ask(1), other.Ask(1)
		if !slices.Equal(a, b) {
			t.Fatalf("asks for %v after an estimate, for %v without", a, b)
		}
		if len(a) == 0 {
			break
		}
		s.Tell(objective(a[0]))
		other.Tell(objective(a[0]))
		if n%7 > 0 {
			continue
		}
		if got, ok := e.Estimate(); ok && !(got.Gain >= 0 && got.Gain <= 1 && got.AtMost >= 0 && got.AtMost <= 1) {
			t.Fatalf("estimate %+v is no share", got)
		}
	}
	if got, ok := e.Estimate(); ok {
		t.Errorf("estimate %+v though nothing is left", got)
	}
}

// sheds: what is shed makes no difference.
func sheds(t *testing.T, mk Make) {
	space := Space(t, 400)
	s, other := mk(space, 5), mk(space, 5)
	shedder, ok := s.(search.Shedder)
	if !ok {
		return
	}
	estimate := func(s search.Strategy) (e search.Estimate) {
		if s, ok := s.(search.Estimator); ok {
			e, _ = s.Estimate()
		}
		return e
	}
	for n := range 120 {
		a, b := s.Ask(1), other.Ask(1)
		if !slices.Equal(a, b) {
			t.Fatalf("question %d is %v after shedding, %v without", n, a, b)
		}
		if len(a) == 0 {
			break
		}
		if n%5 < 4 { // the others stay out for long
			s.Tell(objective(a[0]))
			other.Tell(objective(a[0]))
		}
		if n%3 == 0 {
			shedder.Shed()
		}
		if a, b := estimate(s), estimate(other); n%20 == 0 && a != b {
			t.Fatalf("after question %d it estimates %v after shedding, %v without", n, a, b)
		}
	}
}

// strange: nonsense does no harm.
func strange(t *testing.T, mk Make) {
	space := Space(t, 50)
	s := mk(space, 3)
	if got := s.Ask(0); len(got) > 0 {
		t.Errorf("asked for none, got %v", got)
	}
	if got := s.Ask(-1); len(got) > 0 {
		t.Errorf("asked for -1, got %v", got)
	}
	s.Tell()
	s.Tell(search.Observation{Index: -1, Valid: true}, search.Observation{Index: space.Size(), Valid: true})
	told := s.Ask(20)
	for k, i := range told {
		nonsense := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[k%3]
		s.Tell(search.Observation{Index: i, Objective: nonsense, Valid: k%2 == 0})
	}
	if order := history(t, space, s, 1); int64(len(told)+len(order)) != space.Size() {
		t.Errorf("%d of %d configurations asked for", len(told)+len(order), space.Size())
	}
}
