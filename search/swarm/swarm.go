// Package swarm is particle swarm optimisation (Kennedy and Eberhart, ICNN
// 1995) with Clerc and Kennedy's constriction (IEEE Trans. Evol. Comput. 6,
// 2002) on the indices of values as coordinates. A particle's position is
// repaired to a configuration near it. Particles take turns and none waits for
// another, so any number of questions may be out.
package swarm

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

const (
	particles = 16
	inertia   = 0.7298  // Clerc and Kennedy's chi
	pull      = 1.49618 // chi times 2.05, to the particle's best and to the swarm's
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

type particle struct {
	x, v []float64
	best search.Observation
	home []float64 // of best
}

// Swarm is the member that flies.
type Swarm struct {
	t         *trail.Trail
	particles []particle
	asked     map[int64]int // by particle
	next      int
	best      []float64 // scratch
}

// On returns the member on a trail.
func On(t *trail.Trail) *Swarm { return &Swarm{t: t, asked: map[int64]int{}} }

// Propose implements trail.Member.
func (s *Swarm) Propose() (int64, bool) {
	if len(s.particles) < particles {
		return s.t.Random()
	}
	k := s.next
	s.next = (s.next + 1) % particles
	p := &s.particles[k]
	best, _ := s.t.Best()
	s.best = s.t.Digits(best.Index, s.best[:0])
	for d := range p.x {
		r1, r2 := s.t.Rand.Float64(), s.t.Rand.Float64()
		reach := float64(len(s.t.Space.Params()[d].Values)-1) / 2
		v := inertia*p.v[d] + pull*r1*(p.home[d]-p.x[d]) + pull*r2*(s.best[d]-p.x[d])
		p.v[d] = min(max(v, -reach), reach)
		p.x[d] = min(max(p.x[d]+p.v[d], 0), 2*reach)
	}
	i, ok := s.t.Repair(p.x)
	if ok {
		s.asked[i] = k
	}
	return i, ok
}

// Observe implements trail.Member.
func (s *Swarm) Observe(o search.Observation) {
	if k, ours := s.asked[o.Index]; ours {
		delete(s.asked, o.Index)
		if p := &s.particles[k]; trail.Better(o, p.best) {
			p.best, p.home = o, s.t.Digits(o.Index, p.home[:0])
		}
		return
	}
	if len(s.particles) < particles && o.Valid {
		x := s.t.Digits(o.Index, nil)
		v := make([]float64, len(x))
		for d := range v {
			v[d] = (s.t.Rand.Float64() - 0.5) * float64(len(s.t.Space.Params()[d].Values)-1) / 2
		}
		s.particles = append(s.particles, particle{x: x, v: v, best: o, home: s.t.Digits(o.Index, nil)})
	}
}
