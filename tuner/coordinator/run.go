package coordinator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// errStopped answers calls that come after Run has returned.
var errStopped = tuner.Errorf(tuner.Unavailable, "", "the coordinator is stopping")

// Run commits changes until ctx ends, and then what is left of them. A full
// disk suspends the coordinator until there is space; any other failure of the
// store ends Run with its error, since it is unknown what is stored: start
// anew.
func (c *Coordinator) Run(ctx context.Context) error {
	tick := time.NewTicker(c.opts.Tick)
	defer tick.Stop()
	waking, stop := context.WithCancel(ctx)
	var wakers sync.WaitGroup
	wakers.Go(func() { c.wake(waking) })
	defer wakers.Wait()
	defer stop()
	for {
		err := c.flush()
		if err == nil {
			err = c.removeSome()
		}
		if err != nil && tuner.KindOf(err) != tuner.DiskFull {
			c.stop(err)
			return err
		}
		select {
		case <-ctx.Done():
			err := c.flush()
			c.stop(errStopped)
			return err
		case <-c.kick:
		case <-tick.C:
			if err := c.present(); err != nil {
				c.stop(err)
				return err
			}
			c.tick()
		}
	}
}

// present returns an error if the store's file is not where it was any more.
func (c *Coordinator) present() error {
	if s, ok := c.store.(interface{ Present() error }); ok {
		return s.Present()
	}
	return nil
}

// flush commits pending groups until there is none.
func (c *Coordinator) flush() error {
	var done *group
	for {
		c.mu.Lock()
		if done != nil {
			c.spare, done = done.changes, nil
		}
		if err := c.down; err != nil {
			c.mu.Unlock()
			if tuner.KindOf(err) == tuner.DiskFull {
				return nil // until there is space: see tick
			}
			return err
		}
		g := c.nextLocked()
		if g == nil && c.again {
			c.turnLocked()
			g = c.nextLocked()
		}
		c.mu.Unlock()
		if g == nil {
			return nil
		}

		started := c.opts.Now()
		err := c.store.Commit(&g.changes)
		c.observe(g, c.opts.Now().Sub(started), err)

		var moved []tuner.Sweep
		if err == nil { // shown before it is no longer under way: see underWayLocked
			moved = c.board.moved(g.changes.Sweeps)
			c.board.put(g.changes.Sweeps)
			c.board.put(g.shown)
		}
		c.mu.Lock()
		c.flying = nil
		if err != nil {
			c.failLocked(err)
			err = c.down
		}
		c.mu.Unlock()
		if err == nil {
			c.logGroup(g, moved)
			c.removeReplaced(moved)
		}
		g.finish(err)
		if err != nil {
			return err
		}
		g.changes.Reset()
		done = g
	}
}

// turnLocked lets the ledger do work that needs no worker.
func (c *Coordinator) turnLocked() {
	c.again = c.ledger.Enter(c.opts.Now())
	c.startOverLocked()
	c.gatherLocked()
	c.wakeLocked()
	c.drainedLocked()
}

// tick brings the ledger to the present, or tries to come back after a full
// disk.
func (c *Coordinator) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil {
		c.recoverLocked()
		return
	}
	c.ageBundlesLocked()
	c.turnLocked()
	if c.pending == nil && c.flying == nil { // none is full then
		c.ledger.Touch()
		c.board.put(c.ledger.Shown())
	}
}

// failLocked suspends the coordinator after a failed commit. The ledger is
// ahead of the store, so everything not durable is void.
func (c *Coordinator) failLocked(err error) {
	var e *tuner.Error
	if !errors.As(err, &e) {
		err = tuner.Errorf(tuner.Internal, "store changes", "%w", err)
	}
	c.log.Error("changes could not be stored", "error", err)
	c.down = err
	c.voidLocked(err)
	c.waiting.wakeAll()
	c.drainedLocked()
	c.board.rouse()
}

// recoverLocked goes on with what is stored if the store takes changes again.
func (c *Coordinator) recoverLocked() {
	if tuner.KindOf(c.down) != tuner.DiskFull {
		return
	}
	token, _, err := c.store.Numbers()
	if err == nil {
		err = c.store.Commit(&tuner.Changes{Token: token + 1})
	}
	if err == nil {
		err = c.loadLocked()
	}
	if err != nil {
		c.log.Debug("the store still takes no changes", "error", err)
		return
	}
	c.log.Info("the store takes changes again")
	c.down = nil
	c.turnLocked()
}

// stop answers everybody who waits, and all later calls, with err.
func (c *Coordinator) stop(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = err
	c.voidLocked(err)
	c.waiting.wakeAll()
	c.board.close()
}

// logGroup logs what became durable; moved are the sweeps in new states.
func (c *Coordinator) logGroup(g *group, moved []tuner.Sweep) {
	for i := range g.changes.Leases {
		if l := &g.changes.Leases[i]; !l.Held && l.Reason != "" {
			c.log.Warn("trial requeued", "sweep", c.board.id(l.Sweep), "trial", l.Seq, "worker", l.Worker(), "attempt", l.Attempt, "reason", l.Reason)
		}
	}
	c.logActs(g.changes.Acts)
	for _, a := range g.changes.Aside {
		c.log.Warn("worker set aside", "worker", a.Worker, "host", a.Host, "for", a.For, "reason", a.Why)
	}
	for _, d := range g.changes.Distrusted {
		c.log.Error("worker not believed", "sweep", c.board.id(d.Sweep), "worker", d.Worker, "reason", d.Why)
	}
	for i := range g.changes.Results {
		if r := &g.changes.Results[i]; r.Result.Abandoned {
			c.log.Error("trial given up", "sweep", c.board.id(r.Sweep), "trial", r.Result.Seq, "attempts", r.Result.Attempts, "reason", r.Result.Outcome.Message)
		}
	}
	for i := range moved {
		s := &moved[i]
		c.log.Info("sweep "+s.State.String(), "sweep", s.ID, "kernel", s.Spec.Kernel, "arch", s.Spec.Arch, "done", s.Counts.Done, "abandoned", s.Counts.Abandoned, "message", s.Message)
	}
}

// observe is called after every commit.
func (c *Coordinator) observe(g *group, took time.Duration, err error) {
	c.meter.committed(&g.changes, took, err)
	if took > time.Second {
		c.log.Warn("the store is slow", "took", took, "records", g.changes.Len(), "error", err)
	}
}
