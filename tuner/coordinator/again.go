package coordinator

import (
	"context"

	"github.com/warptune/warptune/tuner"
)

// startOverLocked has the sweeps start over that a worker who is not believed
// has outcomes in. It is part of the change that found the worker out, and so
// durable with it or not at all.
func (c *Coordinator) startOverLocked() {
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
