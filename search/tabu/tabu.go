// Package tabu is tabu search (Glover, "Tabu Search, Part I", ORSA J. Computing 1, 1989). Of a sample of the
// neighbours it moves to the best that is not tabu, be it better or not. For some moves it may not undo what it
// changed, unless that gives the best so far (aspiration).
package tabu

import (
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

const (
	starts  = 10 // configurations drawn at random; the best is the start
	sampled = 10 // neighbours asked for before a move
	tenure  = 6  // moves for which a value left is tabu
)

// New returns the strategy for a space.
func New(space *search.Space, seed uint64) search.Strategy {
	return trail.Run(space, seed, func(t *trail.Trail) trail.Member { return On(t) })
}

// attribute is a parameter having a value.
type attribute struct{ param, digit int }

// Search is the member that avoids going back.
type Search struct {
	t      *trail.Trail
	at     search.Observation
	queue  []int64        // neighbours to ask for
	out    map[int64]bool // asked and not answered
	near   []search.Observation
	tabu   map[attribute]int // until which move
	moves  int
	unless search.Observation // best when the move began
	a, b   []int              // scratch
}

// On returns the member on a trail.
func On(t *trail.Trail) *Search {
	return &Search{t: t, out: map[int64]bool{}, tabu: map[attribute]int{}}
}

// Propose implements trail.Member.
func (s *Search) Propose() (int64, bool) {
	best, ok := s.t.Best()
	if !ok || len(s.t.History())+len(s.t.Pending()) < starts {
		return s.t.Random()
	}
	if !s.at.Valid {
		s.stand(best)
	}
	const rounds = 16 // moves among places known
	for range rounds {
		for len(s.queue) > 0 {
			i := s.queue[0]
			if s.queue = s.queue[1:]; !s.t.Seen(i) {
				s.out[i] = true
				return i, true
			}
		}
		if len(s.out) > 0 { // the move waits for answers: look elsewhere meanwhile
			return s.t.Near(best.Index)
		}
		if !s.move() {
			break
		}
	}
	s.at = search.Observation{}
	return s.t.Near(best.Index)
}

// stand begins a move from o.
func (s *Search) stand(o search.Observation) {
	s.at, s.queue, s.near = o, s.queue[:0], s.near[:0]
	s.unless, _ = s.t.Best()
	clear(s.out)
	for _, i := range s.t.Neighbourhood(o.Index) {
		known, told := s.t.Told(i)
		switch {
		case told && known.Valid:
			s.near = append(s.near, known)
		case !told && len(s.queue) < sampled:
			s.queue = append(s.queue, i)
		}
	}
}

// move goes to the best neighbour known that may be gone to; false: there is
// none.
func (s *Search) move() bool {
	var to search.Observation
	for _, o := range s.near {
		if trail.Better(o, to) && (!s.forbidden(o.Index) || trail.Better(o, s.unless)) {
			to = o
		}
	}
	if !to.Valid {
		return false
	}
	s.moves++
	s.a, s.b = s.t.Space.Digits(s.at.Index, s.a[:0]), s.t.Space.Digits(to.Index, s.b[:0])
	for p := range s.a {
		if s.a[p] != s.b[p] {
			s.tabu[attribute{p, s.a[p]}] = s.moves + tenure
		}
	}
	s.stand(to)
	return true
}

// forbidden reports whether going to i would take back a value that is tabu.
func (s *Search) forbidden(i int64) bool {
	s.a, s.b = s.t.Space.Digits(s.at.Index, s.a[:0]), s.t.Space.Digits(i, s.b[:0])
	for p := range s.a {
		if s.a[p] != s.b[p] && s.tabu[attribute{p, s.b[p]}] > s.moves {
			return true
		}
	}
	return false
}

// Observe implements trail.Member.
func (s *Search) Observe(o search.Observation) {
	if s.out[o.Index] {
		delete(s.out, o.Index)
		if o.Valid {
			s.near = append(s.near, o)
		}
	}
}
