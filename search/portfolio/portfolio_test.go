package portfolio

import (
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/gaussian"
	"github.com/warptune/warptune/search/strategytest"
	"github.com/warptune/warptune/search/trail"
)

// TestLeads: while it finds better configurations the committee alone is asked,
// with the questions it asks by itself; when it finds none the others come in,
// by no more than their share, and go again with the next better one.
func TestLeads(t *testing.T) {
	space, answer := strategytest.Valley(t)
	var p *Portfolio
	s := trail.Run(space, 3, func(t *trail.Trail) trail.Member { p = On(t, nil); return p })
	alone := trail.Run(space, 3, func(t *trail.Trail) trail.Member { return gaussian.Committee(t, nil) })
	same := 0
	for ; p.t.Stale() < patience; same++ {
		a, b := s.Ask(1)[0], alone.Ask(1)[0]
		if a != b {
			t.Fatalf("question %d is %d, the committee alone asks for %d", same, a, b)
		}
		s.Tell(answer(a))
		alone.Tell(answer(b))
	}
	if same < 30 || p.arms != nil {
		t.Fatalf("it stalls after %d questions, others: %d", same, len(p.arms))
	}
	const more = 150
	others := 0
	for range more {
		i := s.Ask(1)[0]
		if _, ok := p.owner[i]; ok {
			others++
		}
		s.Tell(search.Observation{Index: i, Objective: 99, Valid: true})
	}
	if others < more/5 || others > more*6/10 || len(p.owner) > 0 {
		t.Errorf("%d of %d questions were the others', %d are out", others, more, len(p.owner))
	}
	s.Tell(search.Observation{Index: s.Ask(1)[0], Objective: 0.1, Valid: true})
	if p.t.Stale() != 0 {
		t.Errorf("still stale after a better one")
	}
}
