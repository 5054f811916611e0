package coordinator_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// panicking is a planner that panics when it is armed.
type panicking struct {
	tunertest.Planner
	armed *bool
}

func (p panicking) Plan(ctx context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	if *p.armed {
		panic("a fault of the planner's")
	}
	return p.Planner.Plan(ctx, spec, files)
}

// A panic in the middle of a change ends the coordinator, rather than leave it locked or
// with half a change: all are answered, nothing of it is stored, and the next one goes on.
func TestPanicInAChangeEndsTheCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, armed := store.NewMemory(), false
		c, err := coordinator.New(st, coordinator.Options{Planner: panicking{armed: &armed}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { ended <- c.Run(ctx) }()
		id := begin(t, c, tunertest.Bundle{Size: 40})
		if s := giveUp(t, c, id, 7, tunertest.Worker("w", 1, 1)); !s.Incomplete() {
			t.Fatalf("the sweep is %v, %+v", s.State, s.Counts)
		}
		held := make(chan error, 1)
		go func() {
			_, err := c.Synchronize(t.Context(), &tuner.Sync{Worker: tunertest.Worker("w", 1, 1), Want: 1}, time.Minute)
			held <- err
		}()
		synctest.Wait()
		armed = true
		if _, err := c.Retry(t.Context(), id); tuner.KindOf(err) != tuner.Internal || !strings.Contains(err.Error(), "a fault of the planner's") {
			t.Errorf("retry: %v", err)
		}
		select {
		case err := <-ended:
			if tuner.KindOf(err) != tuner.Internal {
				t.Errorf("the coordinator ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the coordinator does not end")
		}
		if err := <-held; err == nil {
			t.Error("a held call is answered as if nothing were wrong")
		}
		if err := c.Healthy(); err == nil {
			t.Error("it calls itself healthy")
		}
		armed = false
		next, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := next.Sweep(t.Context(), id); err != nil || !s.Incomplete() {
			t.Errorf("afterwards the sweep is %v (%v)", s.State, err)
		}
	})
}

// Workers that wait for further sweeps when all have ended cost nothing meanwhile.
func TestWhoWaitsForSweepsDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}, Now: func() time.Time {
			if calls.Add(1) > 2000 {
				panic("it looks again and again")
			}
			return time.Now()
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		b := tunertest.Bundle{Size: 10}
		begin(t, c, b)
		work(t, c, 10)
		work(t, c, 10)
		var all sync.WaitGroup
		for i := range 3 {
			in := &tuner.Sync{Worker: tunertest.Worker("w", uint64(2+i), 1), Want: 1}
			all.Go(func() {
				for range 3 {
					began := time.Now()
					reply, err := c.Synchronize(t.Context(), in, 10*time.Second)
					if err != nil || !reply.Idle() || time.Since(began) < 9*time.Second {
						t.Errorf("after %v: %+v (%v)", time.Since(began), reply, err)
					}
				}
			})
		}
		all.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
