package tuner

import (
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/lease"
)

// A loss weighs the more the less likely it was without the configuration, and next
// to nothing where that is not known.
func TestLossesWeigh(t *testing.T) {
	const held = 10 * time.Second
	for _, c := range []struct {
		lost  float64
		lived time.Duration
		own   int
		want  int
	}{
		{0, 0, 0, leastWeight},               // nothing is known
		{0, held / 2, 0, leastWeight},        // or next to nothing
		{0, 100 * held, 0, lossWeight},       // one in a hundred at most
		{0, 10 * held, 0, lossWeight / 2},    // one in ten
		{2, 100 * held, 2, lossWeight},       // which the configuration explains
		{9, 100 * held, 0, lossWeight / 2},   // one in ten
		{999, 100 * held, 0, leastWeight},    // each
		{9, 10_000 * held, 0, lossWeight},    // one in a thousand weighs no more
		{99, 1000 * held, 0, lossWeight / 2}, // one in ten again
	} {
		n := losses{lost: c.lost, lived: c.lived.Seconds()}
		if got := n.weigh(c.own, held); got < c.want || got > c.want+1 {
			t.Errorf("%g lost in %v, %d of them the trial's: a loss weighs %d, want %d", c.lost, c.lived, c.own, got, c.want)
		}
	}
}

// Where workers live for so long, so much of it counts, and what was lost at that
// rate: as many workers, as many times more.
func TestLossesOfLate(t *testing.T) {
	for _, workers := range []int{1, 100} {
		var n losses
		for range 6000 * workers {
			n.live(time.Second, workers)
			n.lost += 1. / 300
		}
		if most := float64(workers) * lossWindow.Seconds(); n.lived < 0.99*most || n.lived > 1.01*most {
			t.Errorf("%d workers have lived %g s of late, want %g", workers, n.lived, most)
		}
		if rate := n.lost / n.lived; rate < 0.99/300 || rate > 1.01/300 {
			t.Errorf("%d workers: one is lost in %g s, want 300", workers, 1/rate)
		}
	}
}

// A ledger that begins with leases of before knows nothing of how long their workers
// have lived.
func TestLivesBeginWithTheLedger(t *testing.T) {
	l := NewLedger(LedgerOptions{Token: 7})
	now := time.Unix(1e9, 0)
	l.Enter(now)
	w := Worker{ID: "w", Epoch: 1, Slots: 1}
	l.leases.Restore(now, lease.Key{Sweep: 1}, 7, w.Session())
	for _, want := range []float64{0, 5} {
		if _, err := l.hear(&Sync{Worker: w}); err != nil {
			t.Fatal(err)
		}
		if l.losses.lived != want {
			t.Errorf("the worker has lived %g s, want %g", l.losses.lived, want)
		}
		now = now.Add(5 * time.Second)
		l.Enter(now)
	}
}
