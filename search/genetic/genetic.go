// Package genetic is a steady-state genetic algorithm: each child of two parents chosen by tournament takes the
// place of the worst when it is better (Whitley, "The GENITOR Algorithm and Selection Pressure", ICGA 1989).
// Crossover is uniform (Syswerda, "Uniform Crossover in Genetic Algorithms", ICGA 1989) over the parameters, and
// mutation is of one in the mean. Children that are no configurations are repaired to near ones that are. Because
// no generation is waited for, any number of children may be out.
package genetic

import (
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

const (
	population = 20 // parents kept
	tournament = 3  // of so many the best becomes a parent
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t, population) })
}

// Population breeds configurations.
type Population struct {
	t       *trail.Trail
	starts  int                  // configurations drawn at random
	members []search.Observation // best first
	a, b    []float64            // scratch
}

// On returns the member on a trail that breeds once so many configurations were
// asked for.
func On(t *trail.Trail, starts int) *Population { return &Population{t: t, starts: starts} }

// Propose implements trail.Member.
func (g *Population) Propose() (int64, bool) {
	if len(g.members) < 2 || len(g.t.History())+len(g.t.Pending()) < g.starts {
		return g.t.Random()
	}
	g.a = g.t.Digits(g.parent(), g.a[:0])
	g.b = g.t.Digits(g.parent(), g.b[:0])
	for p := range g.a {
		if g.t.Rand.IntN(2) == 0 {
			g.a[p] = g.b[p]
		}
		if g.t.Rand.IntN(len(g.a)) == 0 {
			g.a[p] = float64(g.t.Rand.IntN(len(g.t.Space.Params()[p].Values)))
		}
	}
	return g.t.Repair(g.a)
}

func (g *Population) parent() int64 {
	best := len(g.members)
	for range tournament {
		best = min(best, g.t.Rand.IntN(len(g.members)))
	}
	return g.members[best].Index
}

// Observe implements trail.Member.
func (g *Population) Observe(o search.Observation) {
	if !o.Valid {
		return
	}
	at, _ := slices.BinarySearchFunc(g.members, o, func(a, b search.Observation) int {
		if trail.Better(b, a) {
			return 1
		}
		return -1
	})
	g.members = slices.Insert(g.members, at, o)
	if len(g.members) > population {
		g.members = g.members[:population]
	}
}
