package strategies

import (
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/strategytest"
)

func TestContract(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			strategytest.Run(t, func(space *search.Space, seed uint64) search.Strategy {
				s, err := New(name, space, seed)
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

// TestOblivious: what is said to ignore answers asks the same whatever they
// are.
func TestOblivious(t *testing.T) {
	space := strategytest.Space(t, 100)
	for _, name := range Names() {
		if !Oblivious(name) {
			continue
		}
		a, _ := New(name, space, 7)
		b, _ := New(name, space, 7)
		all := a.Ask(1 << 20)
		for _, want := range all {
			got := b.Ask(1)
			if len(got) != 1 || got[0] != want {
				t.Fatalf("%s asks for %v, not %d", name, got, want)
			}
			b.Tell(search.Observation{Index: want, Objective: float64(want), Valid: want%2 == 0})
		}
		if int64(len(all)) != space.Size() {
			t.Errorf("%s asks for %d of %d", name, len(all), space.Size())
		}
	}
}

// What is said to believe something does once it was told enough, and nothing else does.
func TestBelieving(t *testing.T) {
	space := strategytest.Space(t, 100)
	for _, name := range Names() {
		s, err := New(name, space, 7)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			for _, i := range s.Ask(1) {
				s.Tell(search.Observation{Index: i, Objective: float64(10 + i), Valid: true})
			}
		}
		e, ok := s.(search.Estimator)
		if ok {
			_, ok = e.Estimate()
		}
		if ok != slices.Contains(Believing(), name) {
			t.Errorf("%s believes something: %t", name, ok)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, err := range []error{Check("anneal"), func() error { _, err := New("anneal", nil, 0); return err }()} {
		if err == nil || !strings.Contains(err.Error(), `unknown strategy "anneal": use one of exhaustive, random`) {
			t.Errorf("error %v", err)
		}
	}
	if Oblivious("anneal") || Check("") != nil {
		t.Error("unknown or default name")
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		size, budget int64
		want         string
	}{{1, 0, "exhaustive"}, {Small, 0, "exhaustive"}, {Small + 1, 0, "portfolio"}, {100, 99, "portfolio"}, {100, 100, "exhaustive"}, {1 << 40, 1 << 41, "exhaustive"}} {
		if got := Choose(c.size, c.budget); got != c.want || Check(got) != nil {
			t.Errorf("%d configurations, %d evaluations: %s, want %s", c.size, c.budget, got, c.want)
		}
	}
}
