package surrogate

import (
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/strategytest"
)

// BenchmarkAsk is the cost of a question with 400 answers known.
func BenchmarkAsk(b *testing.B) {
	space := strategytest.Space(b, 20000)
	s := New(space, 1)
	ask := func() {
		i := s.Ask(1)[0]
		s.Tell(search.Observation{Index: i, Objective: 1 + float64(i%1013)*float64(i%7), Valid: i%5 != 0})
	}
	for range 400 {
		ask()
	}
	for b.Loop() {
		ask()
	}
}
