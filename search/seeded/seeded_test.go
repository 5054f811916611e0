package seeded_test

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/seeded"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/search/strategytest"
)

// names are strategies that ignore what they are told, and that learn.
var names = []string{"exhaustive", "quasi-random", "iterated", "genetic", "tabu"}

// Whatever strategy follows, the contract holds: nothing is asked for twice, and
// everything is before it is done.
func TestContract(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			strategytest.Run(t, func(space *search.Space, seed uint64) search.Strategy {
				inner, err := strategies.New(name, space, seed)
				if err != nil {
					t.Fatal(err)
				}
				var first []search.Config
				for i := int64(0); i < space.Size() && i < 20; i += 3 {
					first = append(first, space.At(i))
				}
				return seeded.New(space, inner, first)
			})
		})
	}
}

func TestFirstComeFirst(t *testing.T) {
	space := strategytest.Space(t, 100)
	for _, name := range names {
		inner, err := strategies.New(name, space, 3)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := space.At(7).Clone()
		elsewhere.Values[1].I = 1 << 40
		s := seeded.New(space, inner, []search.Config{space.At(40), elsewhere, space.At(2), space.At(40)})
		if got := s.Ask(2); !slices.Equal(got, []int64{40, 2}) {
			t.Errorf("%s: asks for %v first", name, got)
		}
		s.Tell(search.Observation{Index: 2, Objective: 1, Valid: true})
		all := s.Ask(int(space.Size()))
		for len(all) < int(space.Size())-2 && !s.Done() {
			more := s.Ask(1)
			if len(more) == 0 {
				s.Tell(search.Observation{Index: 40, Objective: 2, Valid: true})
			}
			all = append(all, more...)
		}
		if slices.Contains(all, 2) || slices.Contains(all, 40) {
			t.Errorf("%s: asks again for what was first", name)
		}
	}
}
