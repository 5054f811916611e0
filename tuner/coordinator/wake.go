package coordinator

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// A strategy that learns thinks again when it is asked again, milliseconds a
// result. So sweeps of such strategies that have many results are rebuilt while
// the coordinator serves already, outside the lock: they are shown as they were
// stored, and what workers say of them is not answered until they are awake.

// sleeper is a stored sweep that is still to be rebuilt.
type sleeper struct {
	stored tuner.Restored
	ledger *tuner.Ledger // that awaits it; another one stands in its place after a full disk
}

// fewResults is how many results of a strategy that learns take no time to speak
// of.
const fewResults = 32

// rise goes on with a sweep that is dormant, if it is.
func (c *Coordinator) rise(ctx context.Context, id string) error {
	c.mu.Lock()
	s, dormant := c.dormant[id]
	c.mu.Unlock()
	if !dormant {
		return nil
	}
	plan, err := c.plan(ctx, s.Planned(), c.opts.PlanTime)
	if err != nil {
		return err
	}
	return c.change(ctx, func(*tuner.Ledger) error {
		if _, dormant := c.dormant[id]; !dormant {
			return nil
		}
		if err := c.restorePlannedLocked(s, plan); err != nil {
			return err
		}
		delete(c.dormant, id)
		c.risen[id] = true
		return nil
	})
}

// long reports whether it takes long to rebuild a sweep.
func (c *Coordinator) long(s *tuner.Sweep) (bool, error) {
	if s.Window != 0 {
		return false, nil
	}
	more, err := c.store.Results(s.Num, fewResults, 1)
	return len(more) > 0, err
}

// wake rebuilds sweeps that are asleep until ctx ends, on half of the processors.
func (c *Coordinator) wake(ctx context.Context) {
	for {
		select {
		case <-c.rouse:
		case <-ctx.Done():
			return
		}
		var all sync.WaitGroup
		for range max(1, runtime.NumCPU()/2) {
			all.Go(func() {
				for c.wakeNext(ctx) {
				}
			})
		}
		all.Wait()
	}
}

// wakeNext rebuilds one sweep; false: none is asleep, or ctx has ended.
func (c *Coordinator) wakeNext(ctx context.Context) bool {
	c.mu.Lock()
	if len(c.asleep) == 0 || ctx.Err() != nil {
		c.mu.Unlock()
		return false
	}
	s := c.asleep[0]
	c.asleep = c.asleep[1:]
	c.mu.Unlock()

	started := c.opts.Now()
	s.stored.Results = until(ctx, s.stored.Results)
	rebuilt, err := tuner.Rebuild(s.stored)

	c.mu.Lock()
	defer c.mu.Unlock()
	num, id := s.stored.Sweep.Num, s.stored.Sweep.ID
	if ctx.Err() != nil || c.ledger != s.ledger || c.down != nil {
		return true
	}
	c.ledger.Enter(c.opts.Now())
	if kind := tuner.KindOf(err); err != nil && (kind == tuner.Unavailable || kind == tuner.DiskFull) {
		c.failLocked(err)
		return true
	}
	if err != nil {
		c.log.Error("sweep cannot go on", "sweep", id, "error", err)
		c.ledger.Fail(s.stored.Sweep, err.Error())
	} else {
		c.ledger.Insert(rebuilt)
		if shown, ok := c.ledger.Sweep(num); ok { // all of it is stored
			c.board.put([]tuner.Sweep{shown})
		}
		c.log.Info("sweep goes on", "sweep", id, "after", c.opts.Now().Sub(started))
	}
	close(c.woken)
	c.woken = make(chan struct{})
	c.waiting.turn++
	c.turnLocked()
	c.signal()
	return true
}

// until yields what results does until ctx ends.
func until(ctx context.Context, results iter.Seq2[tuner.Result, error]) iter.Seq2[tuner.Result, error] {
	return func(yield func(tuner.Result, error) bool) {
		for r, err := range results {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// awake returns once a sweep is no longer asleep.
func (c *Coordinator) awake(ctx context.Context, num uint64) error {
	for {
		c.mu.Lock()
		asleep, woken, down := c.ledger.Awaited(num), c.woken, c.down
		c.mu.Unlock()
		if !asleep || down != nil {
			return nil // the call itself says why it fails
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sleepersWait is how long a call waits whose reports on sweeps that are asleep
// cannot be answered, so that a worker does not repeat them all the time.
const sleepersWait = time.Second

// Linger waits a little, for a sweep to wake.
func (c *Coordinator) Linger(ctx context.Context) {
	c.mu.Lock()
	woken := c.woken
	c.mu.Unlock()
	timer := time.NewTimer(sleepersWait)
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	case <-ctx.Done():
	}
}
