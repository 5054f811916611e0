package coordinator

import (
	"context"

	"github.com/warptune/warptune/tuner"
)

// drain is the end of a coordinator: nothing is granted any more, and done is
// closed once nothing is leased.
type drain struct {
	done   chan struct{}
	closed bool
}

// Drain grants nothing from now on, and returns when workers have reported or
// returned all that they hold, or ctx ends. Calls that are held return then.
// What is still leased stays so: the coordinator after this one knows it.
func (c *Coordinator) Drain(ctx context.Context) {
	c.mu.Lock()
	if c.drain == nil {
		c.drain = &drain{done: make(chan struct{})}
	}
	d := c.drain
	c.drainedLocked()
	c.mu.Unlock()
	select {
	case <-d.done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endDrainLocked()
}

// drainedLocked ends the drain, if there is one, when nothing is leased.
func (c *Coordinator) drainedLocked() {
	if c.drain != nil && (c.ledger.Leases() == 0 || c.down != nil) {
		c.endDrainLocked()
	}
}

func (c *Coordinator) endDrainLocked() {
	if !c.drain.closed {
		c.drain.closed = true
		close(c.drain.done)
	}
	c.waiting.wakeAll()
}

// grantableLocked is what a worker's call may have: nothing more while the
// coordinator drains, and no waiting after that.
func (c *Coordinator) grantableLocked(in *tuner.Sync) (_ *tuner.Sync, wait bool) {
	if c.drain == nil {
		return in, true
	}
	without := *in
	without.Want = 0
	return &without, !c.drain.closed
}
