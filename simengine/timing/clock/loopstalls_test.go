package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// Iterations that are left out are charged what the warp waits for as they are charged time: by the iterations that they
// are like, be it the last one or those of a period.
func TestLeftOutIterationsWaitLikeTheOthers(t *testing.T) {
	type iteration struct{ cycles, wait, long int64 }
	short, long := iteration{100, 60, 0}, iteration{300, 0, 250}
	c := &code{heads: []bool{true}}
	for _, x := range []struct {
		what       string
		period     int32
		body       []iteration
		cycles     int64
		wait, load int64
	}{
		{"like the last one", 0, []iteration{long, short, short}, 10 * 100, 10 * 60, 0},
		{"in turns", 2, []iteration{short, long, short, long}, 10 * 200, 10 * 30, 10 * 125},
		{"in turns, the short one last", 2, []iteration{long, short, long, short}, 10 * 200, 10 * 30, 10 * 125},
	} {
		l := loopClock{before: new([cost.MaxHeads]beginnings)}
		now := int64(0)
		for _, i := range x.body {
			l.arrive(now, 0, c)
			now += i.cycles
			l.stalled[timing.Wait] += i.wait
			l.stalled[timing.LongScoreboard] += i.long
		}
		before := l.stalled
		l.skip(now, &trace.Step{Block: 0, Repeat: 10, Period: x.period})
		wait, load := l.stalled[timing.Wait]-before[timing.Wait], l.stalled[timing.LongScoreboard]-before[timing.LongScoreboard]
		if l.extra != x.cycles || wait != x.wait || load != x.load {
			t.Errorf("%s: %d cycles with %d of wait and %d of long_scoreboard, want %d, %d and %d", x.what, l.extra, wait, load, x.cycles, x.wait, x.load)
		}
	}
}
