package strategies

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/strategytest"
)

// BenchmarkAsk is the cost of a question and its answer when so many answers
// are known, what a strategy learns from them included.
func BenchmarkAsk(b *testing.B) {
	for _, name := range Names() {
		for _, known := range []int{50, 200, 400, 2000} {
			b.Run(fmt.Sprintf("%s/%d", name, known), func(b *testing.B) {
				space, answer := strategytest.Valley(b)
				start := func() search.Strategy {
					s, err := New(name, space, 1)
					if err != nil {
						b.Fatal(err)
					}
					for _, i := range space.Sample(rand.New(rand.NewPCG(1, 2)), known) {
						s.Tell(answer(i))
					}
					s.Tell(answer(s.Ask(1)[0])) // models are fitted for long at first
					return s
				}
				s := start()
				for b.Loop() {
					if s.Done() {
						b.StopTimer()
						s = start()
						b.StartTimer()
					}
					s.Tell(answer(s.Ask(1)[0]))
				}
			})
		}
	}
}
