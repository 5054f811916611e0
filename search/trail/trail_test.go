package trail

import (
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/strategytest"
)

// careless proposes anything at all: places seen, out of range, or nothing.
type careless struct{ r *rand.Rand }

func (c careless) Propose() (int64, bool)     { return c.r.Int64N(100) - 20, c.r.IntN(3) > 0 }
func (c careless) Observe(search.Observation) {}

// TestContract: the bookkeeping keeps the contract whatever a member proposes.
func TestContract(t *testing.T) {
	strategytest.Run(t, func(space *search.Space, seed uint64) search.Strategy {
		return Run(space, seed, func(t *Trail) Member { return careless{t.Rand} })
	})
}

// TestNear: what Near and Repair return was not seen; a neighbour is found as
// long as there is one, and Repair leaves what is valid and new as it is.
func TestNear(t *testing.T) {
	space := strategytest.Space(t, 80)
	seed := rand.Uint64()
	tr := New(space, seed)
	for tr.Left() > 0 {
		at := tr.Rand.Int64N(space.Size())
		if got, ok := tr.Repair(tr.Digits(at, nil)); !tr.Seen(at) && got != at || ok && tr.Seen(got) {
			t.Fatalf("seed %d: repair of %d is %d", seed, at, got)
		}
		unseen := 0
		for _, k := range tr.Neighbourhood(at) {
			if !tr.Seen(k) {
				unseen++
			}
		}
		i, ok := tr.Near(at)
		if ok && tr.Seen(i) || !ok && unseen > 0 {
			t.Fatalf("seed %d: near %d is %d, %v, with %d new neighbours", seed, at, i, ok, unseen)
		}
		if !ok {
			if i, ok = tr.Random(); !ok {
				t.Fatalf("seed %d: nothing left of %d", seed, tr.Left())
			}
		}
		tr.ask(i)
	}
}

func TestTell(t *testing.T) {
	tr := New(strategytest.Space(t, 50), 1)
	tr.ask(3)
	tr.ask(4)
	for _, c := range []struct {
		o     search.Observation
		stale int
	}{
		{search.Observation{Index: 2}, 1},
		{search.Observation{Index: 4, Objective: 2, Valid: true}, 0},
		{search.Observation{Index: 9}, 1},
		{search.Observation{Index: 5, Objective: 2, Valid: true}, 2},
		{search.Observation{Index: 7, Objective: 1, Valid: true}, 0},
	} {
		if !tr.tell(c.o) || tr.tell(c.o) {
			t.Errorf("%+v is not new once", c.o)
		}
		if got := tr.Stale(); got != c.stale {
			t.Errorf("%d answers since the best after %+v, want %d", got, c.o, c.stale)
		}
	}
	if tr.tell(search.Observation{Index: -1}) || tr.tell(search.Observation{Index: 1 << 40}) {
		t.Error("took what is no configuration")
	}
	if best, ok := tr.Best(); !ok || best.Index != 7 || len(tr.Pending()) != 1 || tr.Pending()[0] != 3 || len(tr.History()) != 5 {
		t.Errorf("best %v, pending %v, history %v", best, tr.Pending(), tr.History())
	}
}
