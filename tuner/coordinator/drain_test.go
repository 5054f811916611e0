package coordinator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// A coordinator that drains takes reports and grants nothing, ends when nothing
// is leased, and lets the calls that it holds go; its successor goes on.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		ctx, cancel := context.WithCancel(t.Context())
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		b := tunertest.Bundle{Size: 40}
		put(t, c, b)
		id := submit(t, c, b.Spec("kernel")).Sweep.ID
		in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 4), Want: 4}
		held, err := c.Synchronize(ctx, in, 0)
		if err != nil || len(held.Grants) != 4 {
			t.Fatalf("granted %d of 4 (%v)", len(held.Grants), err)
		}
		drained := make(chan struct{})
		go func() { c.Drain(ctx); close(drained) }()
		synctest.Wait()

		idle := make(chan error, 1)
		go func() {
			reply, err := c.Synchronize(ctx, &tuner.Sync{Worker: tunertest.Worker("other", 1, 4), Want: 4}, 5*time.Second)
			if err == nil && len(reply.Grants) > 0 {
				t.Errorf("%d trials are granted while it drains", len(reply.Grants))
			}
			idle <- err
		}()
		synctest.Wait()
		select {
		case <-drained:
			t.Fatal("it ends while 4 trials are leased")
		case <-idle:
			t.Fatal("an idle call is not held")
		default:
		}
		for i, g := range held.Grants { // one is reported, the others returned
			r := tuner.Report{Held: g.Held, Released: true}
			if o := tunertest.Oracle(g.Index); i == 0 {
				r = tuner.Report{Held: g.Held, Outcome: &o}
			}
			in.Reports = append(in.Reports, r)
		}
		reply, err := c.Synchronize(ctx, in, time.Hour)
		if err != nil || len(reply.Acks) != 4 || len(reply.Grants) != 0 {
			t.Errorf("answered %d acknowledgements and %d grants, want 4 and none (%v)", len(reply.Acks), len(reply.Grants), err)
		}
		<-drained
		if err := <-idle; err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}

		next := start(t, st, nil)
		if s, err := next.Sweep(t.Context(), id); err != nil || s.Counts.Done != 1 || s.Counts.Leased != 0 {
			t.Errorf("the next coordinator knows %+v (%v)", s.Counts, err)
		}
		work(t, next, 1e6)
		if s, err := next.Sweep(t.Context(), id); err != nil || s.State != tuner.Completed {
			t.Errorf("and ends %v (%v)", s.State, err)
		}
		synctest.Wait()
	})
}

// Drain waits no longer than it is told.
func TestDrainEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, store.NewMemory(), nil)
		b := tunertest.Bundle{Size: 40}
		put(t, c, b)
		submit(t, c, b.Spec("kernel"))
		if _, err := c.Synchronize(t.Context(), &tuner.Sync{Worker: tunertest.Worker("w", 1, 4), Want: 4}, 0); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c.Drain(ctx)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
