package coordinator

import (
	"context"
	"time"

	"github.com/warptune/warptune/tuner"
)

// Synchronize takes a worker's state and returns what it should hold. A call
// that says nothing new and for which there is nothing is held for up to wait.
// If the reply leaves something unanswered, Linger before it is sent.
func (c *Coordinator) Synchronize(ctx context.Context, in *tuner.Sync, wait time.Duration) (*tuner.SyncReply, error) {
	wait = min(wait, c.opts.MaxWait, c.leaseTTL/3)
	if err := c.attribute(in.Reports); err != nil {
		return nil, err
	}
	until := time.Now().Add(wait)
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	for {
		var reply *tuner.SyncReply
		var held *ticket
		err := c.change(ctx, func(l *tuner.Ledger) (err error) {
			c.must = c.unbegun // no worker is answered by an incarnation that the store may not know after a crash
			now, may := c.grantableLocked(in)
			reply, err = l.Synchronize(now)
			if err == nil && wait > 0 && may && reply.Idle() && !reply.Unanswered && !(reply.Finished && in.Leaves) && !in.Draining {
				held = c.waiting.add()
			}
			return err
		})
		if err != nil || held == nil {
			return reply, err
		}
		timer.Reset(min(time.Until(until), reply.Next)) // sooner for one that is set aside
		select {
		case <-held.wake:
		case <-timer.C:
			c.unhold(held)
			return reply, nil
		case <-ctx.Done():
			c.unhold(held)
			return nil, ctx.Err()
		}
	}
}

func (c *Coordinator) unhold(t *ticket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting.remove(t)
}

// Workers returns the workers heard of lately.
func (c *Coordinator) Workers(context.Context) []tuner.WorkerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ledger.Workers()
}

// Number returns the sweep with the number that leases name.
func (c *Coordinator) Number(num uint64) (tuner.Sweep, bool) { return c.board.number(num) }

// Lookup returns the outcome stored under an Outcome.Digest.
func (c *Coordinator) Lookup(_ context.Context, digest string) (tuner.Outcome, bool, error) {
	if digest == "" {
		return tuner.Outcome{}, false, nil
	}
	a, found, err := c.store.Digested(digest)
	if !found || err != nil || c.distrusts(a.Result.Worker) {
		return tuner.Outcome{}, false, err
	}
	return a.Result.Outcome, true, nil
}

func (c *Coordinator) distrusts(worker string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ledger.Distrusts(worker)
}

// attribute notes who evaluated what a worker says it found stored, and whether for
// another sweep. What is not stored so is taken for the worker's own.
func (c *Coordinator) attribute(reports []tuner.Report) error {
	for i := range reports {
		o := reports[i].Outcome
		if o == nil || !o.Found {
			continue
		}
		a, found, err := c.store.Digested(o.Digest)
		if err != nil {
			return err
		}
		if found && a.Result.Outcome.Same(o) {
			reports[i].By = a.Result.Worker
			reports[i].Reused = c.board.id(a.Sweep) != c.board.id(reports[i].Key.Sweep)
		}
	}
	return nil
}
