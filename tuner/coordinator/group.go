package coordinator

import (
	"context"
	"slices"

	"github.com/warptune/warptune/tuner"
)

// group is changes of many calls that become durable in one transaction.
type group struct {
	changes tuner.Changes
	shown   []tuner.Sweep // the sweeps that changed, as they are after it
	done    chan struct{} // closed once err is set
	err     error         // why it is not durable
}

// newGroup returns a group without changes that will use the room of some.
func newGroup(room tuner.Changes) *group { return &group{changes: room, done: make(chan struct{})} }

// wait returns once the group is durable, or why it is not. A nil group is
// durable. When ctx ends first it is unknown.
func (g *group) wait(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *group) finish(err error) {
	g.err = err
	close(g.done)
}

// waiters are held calls, in the order they came.
type waiters struct {
	queue []*ticket
	turn  uint64 // counts changes of the ledger
}

// ticket is one held call: wake is closed when it should look again.
type ticket struct {
	wake chan struct{}
	turn uint64 // the turn in which it found nothing for it
}

func (w *waiters) len() int { return len(w.queue) }

func (w *waiters) add() *ticket {
	t := &ticket{wake: make(chan struct{}), turn: w.turn}
	w.queue = append(w.queue, t)
	return t
}

// wake lets the first n calls go that have not looked since the ledger changed
// last. One that finds nothing lets the next one look, so that a trial that
// suits only some workers finds them, and none looks twice for nothing.
func (w *waiters) wake(n int) {
	if n <= 0 || len(w.queue) == 0 {
		return
	}
	kept := w.queue[:0]
	for _, t := range w.queue {
		if n > 0 && t.turn < w.turn {
			close(t.wake)
			n--
			continue
		}
		kept = append(kept, t)
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

// wakeAll lets all calls go.
func (w *waiters) wakeAll() {
	w.turn++
	w.wake(len(w.queue))
}

// remove takes a call that gave up out of the queue.
func (w *waiters) remove(t *ticket) {
	if i := slices.Index(w.queue, t); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
}
