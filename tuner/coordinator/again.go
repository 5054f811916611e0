package coordinator

import (
	"cmp"
	"context"
	"fmt"

	"github.com/warptune/warptune/tuner"
)

// startOverLocked has the sweeps start over that a worker who is not believed
// has outcomes in. It is part of the change that found the worker out, and so
// durable with it or not at all.
func (c *Coordinator) startOverLocked() {
	c.retryLocked()
	for _, num := range c.ledger.Void() {
		s, _ := c.ledger.Sweep(num)
		plan, err := c.makePlan(context.Background(), s.Planned())
		if err != nil {
			// Its plan was made before; without one nothing can be asked.
			c.log.Error("sweep cannot start over", "sweep", s.ID, "error", err)
			c.ledger.Abort(num, err.Error())
			continue
		}
		c.lastNum++
		c.count(&s.Spec, 1)
		c.spaces[c.lastNum] = plan.Space
		c.replaced[s.ID] = append(c.replaced[s.ID], num)
		c.ledger.Again(num, c.lastNum, plan, c.known(&s.Spec, s.ID))
		c.again = true
	}
}

// Retry has what was given up in a sweep tried again.
func (c *Coordinator) Retry(ctx context.Context, id string) (tuner.Sweep, error) {
	s, err := c.retry(ctx, id)
	return s, c.refused(ctx, tuner.Act{What: tuner.ActRetry, Sweep: cmp.Or(s.ID, id), Number: s.Num, Owner: s.Owner}, err)
}

func (c *Coordinator) retry(ctx context.Context, id string) (tuner.Sweep, error) {
	s, _, err := c.board.find(id)
	if err == nil {
		err = c.awake(ctx, s.Num)
	}
	if err == nil {
		s, _, err = c.board.find(s.ID)
	}
	if err != nil {
		return s, err
	}
	if err := may(ctx, tuner.ActRetry, &s); err != nil {
		return s, err
	}
	if s.State.Ended() && s.State != tuner.Completed {
		return s, tuner.Errorf(tuner.Conflict, "retry sweep "+s.ID, "it is %s: resume it", s.State)
	}
	err = c.change(ctx, func(l *tuner.Ledger) error {
		var err error
		if s.State.Live() {
			err = l.Retry(s.Num)
		} else if err = c.fitsLocked(ctx, s.Owner, &s.Spec, s.Counts.Abandoned); err == nil {
			err = c.reopenLocked(s, false)
		}
		if err == nil {
			l.Note(act(ctx, tuner.ActRetry, &s, fmt.Sprintf("%d given up", s.Counts.Abandoned)))
		}
		return err
	})
	if err != nil {
		return s, err
	}
	s, _, err = c.board.find(s.ID)
	return s, err
}

// reopenLocked has a sweep that has completed start over.
func (c *Coordinator) reopenLocked(s tuner.Sweep, byItself bool) error {
	if len(c.ledger.Live())+c.ledger.Awaiting() >= c.opts.MaxLive {
		return tuner.Errorf(tuner.Limit, "retry sweep", "%d sweeps are live, as many as may be: cancel some", c.opts.MaxLive)
	}
	plan, err := c.makePlan(c.opts.Context, s.Planned())
	if err != nil {
		return err
	}
	c.count(&s.Spec, 1) // first, so that what is stored is looked for
	if err := c.ledger.Reopen(s, c.lastNum+1, plan, c.known(&s.Spec, s.ID), byItself); err != nil {
		c.count(&s.Spec, -1)
		return err
	}
	c.lastNum++
	c.spaces[c.lastNum] = plan.Space
	c.replaced[s.ID] = append(c.replaced[s.ID], s.Num)
	c.again = true
	return nil
}

// retryLocked reopens the sweeps for which a worker has come.
func (c *Coordinator) retryLocked() {
	for _, s := range c.ledger.Retries() {
		if err := c.reopenLocked(s, true); err != nil {
			c.log.Warn("what was given up is not tried again", "sweep", s.ID, "error", err)
		} else {
			c.log.Info("what was given up is tried again, since another worker has come", "sweep", s.ID, "missing", s.Counts.Abandoned)
		}
	}
}

// removeReplaced has the former numbers of sweeps removed that have ended.
func (c *Coordinator) removeReplaced(moved []tuner.Sweep) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range moved {
		s := &moved[i]
		if !s.State.Ended() {
			continue
		}
		for _, num := range c.replaced[s.ID] {
			c.doomed = append(c.doomed, num)
			c.count(&s.Spec, -1)
			delete(c.spaces, num)
		}
		delete(c.replaced, s.ID)
	}
}
