package tuner

import (
	"testing"

	"github.com/warptune/warptune/search"
)

// counting asks in order and counts what it was told.
type counting struct{ asked, told int64 }

func (c *counting) Ask(int) []int64                { c.asked++; return []int64{c.asked - 1} }
func (c *counting) Tell(obs ...search.Observation) { c.told += int64(len(obs)) }
func (c *counting) Done() bool                     { return false }

type line int64

func (l line) Size() int64            { return int64(l) }
func (line) At(i int64) search.Config { return search.Config{Values: []search.Value{search.OfInt(i)}} }

// Under the growing window a strategy knows at least seven eighths of the
// answers when it asks, but for four, whatever ended first; a fixed one keeps
// its distance.
func TestWindows(t *testing.T) {
	for _, window := range []int64{0, 1, 64} {
		strategy := &counting{}
		c := newCourse(&Plan{Space: line(5000), Strategy: strategy}, &Spec{Level: "cycle"}, window)
		for {
			seq, ok, err := c.ask()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if c.over {
					break
				}
				for i := c.next() - 1; i >= c.told; i-- { // the last first
					c.at(i).state = Done
				}
				continue
			}
			least := seq - max(window, 1) + 1
			if window == 0 {
				least = seq - max(seq/8, 4) + 1
			}
			if strategy.told < least || strategy.told > max(least, 0) {
				t.Fatalf("window %d: question %d is asked with %d answers told, want %d", window, seq, strategy.told, max(least, 0))
			}
		}
	}
}
