package strategies

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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

// BenchmarkMemory is what a strategy that learns keeps when so many questions
// were asked and answered, and once it has shed what it can.
func BenchmarkMemory(b *testing.B) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for _, known := range []int{400} {
		b.Run(fmt.Sprintf("%s/%d", Recommended, known), func(b *testing.B) {
			space, answer := strategytest.Valley(b)
			for b.Loop() {
				before := heap()
				s, err := New(Recommended, space, 1)
				if err != nil {
					b.Fatal(err)
				}
				for range known {
					s.Tell(answer(s.Ask(1)[0]))
				}
				b.ReportMetric(heap()-before, "MiB")
				s.(search.Shedder).Shed()
				b.ReportMetric(heap()-before, "shed-MiB")
				runtime.KeepAlive(s)
			}
		})
	}
}
