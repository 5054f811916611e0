package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// usage is what a process has, by its own account: goroutines, bytes of heap and open files.
type usage [3]int64

var used = [3]string{"goroutines", "bytes of heap", "open files"}

// asks has a coordinator say what it has.
func (p *process) asks(t *testing.T, said <-chan usage) usage {
	t.Helper()
	p.signal(syscall.SIGUSR1)
	select {
	case u := <-said:
		return u
	case <-p.done:
		t.Fatalf("the coordinator has ended:\n%s", &p.stderr)
	case <-time.After(patience):
		t.Fatal("the coordinator does not answer")
	}
	return usage{}
}

// disturb does something bad: kills a worker, cuts its line, holds it up for a while, or
// makes the disk slow or fast.
func disturb(t *testing.T, rng *rand.Rand, workers []*supervised, p *proxy, slow string, isSlow *bool) {
	switch rng.IntN(5) {
	case 0, 1:
		if w := workers[rng.IntN(len(workers))].process(); w != nil {
			w.signal(syscall.SIGKILL)
		}
	case 2:
		p.cut()
	case 3:
		p.silence(true)
		time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond) // leases last a second
		p.silence(false)
		p.cut()
	case 4:
		if *isSlow {
			remove(t, slow)
		} else {
			touch(t, slow)
		}
		*isSlow = !*isSlow
	}
}

// Sweeps come and go for long, while workers are killed, lines are cut and held up, and the disk is slow at times.
// Each ends with its table. The coordinator, which is one process all the while, has no more goroutines, memory and
// files in the end than in the beginning.
func TestLongRun(t *testing.T) {
	rounds := tunertest.Times(6, 25)
	rng := tunertest.Rand(t)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 300})
	p := between(t, s.address)
	s.book, s.took = p.address(), 20*time.Millisecond
	slow, isSlow := filepath.Join(t.TempDir(), "slow"), false
	said := make(chan usage, 1)
	c := s.coordinator()
	c.Slow = slow
	coordinator, err := c.start(func(line string) {
		var u usage
		if n, _ := fmt.Sscanf(line, "usage %d %d %d", &u[0], &u[1], &u[2]); n == 3 {
			said <- u
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer coordinator.kill()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var workers []*supervised
	for i := range 6 {
		w := s.worker(fmt.Sprint("w", i))
		w.Stay = true
		workers = append(workers, supervise(ctx, t, s.witness.hear, never, func() (role, []string) { return w, nil }))
	}
	o := observe(t, s.address)
	o.wait(t, s.id, completed)
	var after []usage
	for round := range rounds {
		b := tunertest.Bundle{Size: 300, Salt: uint32(round + 1)}
		if round%2 == 1 {
			b.Batch = 40
		}
		id := o.submit(t, b)
		for until := time.Now().Add(time.Second); time.Now().Before(until); time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond) {
			disturb(t, rng, workers, p, slow, &isSlow)
		}
		got := o.wait(t, id, completed)
		if n := got.GetCounts(); n.GetDone() != b.Size || n.GetAbandoned() > 0 || got.GetBest().GetIndex() != b.Best() {
			t.Errorf("round %d: %v, the best is %d, want %d", round, n, got.GetBest().GetIndex(), b.Best())
		}
		again(t, func(ctx context.Context) (*warptunev1.DeleteResponse, error) {
			return o.Delete(ctx, &warptunev1.DeleteRequest{Id: id})
		})
		after = append(after, coordinator.asks(t, said))
	}
	half := len(after) / 2
	for i, what := range used {
		least := func(all []usage) int64 { // whatever is under way goes by
			return slices.MinFunc(all, func(a, b usage) int { return int(a[i] - b[i]) })[i]
		}
		first, last := least(after[:half]), least(after[half:])
		t.Logf("%s: %d in the first %d rounds, %d in the others", what, first, half, last)
		if allowed := first + first/4 + []int64{10, 8 << 20, 10}[i]; last > allowed {
			t.Errorf("after %d rounds the coordinator has %d %s, in the beginning %d", rounds, last, what, first)
		}
	}
	stop()
	coordinator.signal(syscall.SIGTERM)
	<-coordinator.done
	s.verdict(t)
}

// A hundred who watch a sweep, and ten dashboards, take a fifth of what a coordinator does
// for workers at most.
func TestWatchersTakeLittle(t *testing.T) {
	windows := tunertest.Times(2, 10)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 10_000_000})
	s.calm()
	coordinator, err := s.coordinator().start(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer coordinator.kill()
	for i := range 2 {
		w := s.worker(fmt.Sprint("w", i))
		w.Slots = 16
		p, err := w.start(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.kill()
	}
	o := observe(t, s.address)
	o.wait(t, s.id, func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() > 1000 })
	count := func() int64 {
		return o.wait(t, s.id, func(*warptunev1.Sweep) bool { return true }).GetCounts().GetDone()
	}
	window := func() (results int64, took time.Duration) {
		began, before := time.Now(), count()
		time.Sleep(2 * time.Second)
		return count() - before, time.Since(began)
	}
	watched := func(ctx context.Context, messages, looks *atomic.Int64) {
		var all sync.WaitGroup
		for range 10 {
			many := observe(t, s.address) // who watch share ten connections
			for range 10 {
				all.Go(func() {
					stream, err := many.Watch(ctx, &warptunev1.WatchRequest{Id: s.id})
					for err == nil {
						if _, err = stream.Recv(); err == nil {
							messages.Add(1)
						}
					}
				})
			}
			all.Go(func() {
				for ctx.Err() == nil {
					_, err1 := many.List(ctx, &warptunev1.ListRequest{})
					_, err2 := many.Get(ctx, &warptunev1.GetRequest{Id: s.id})
					_, err3 := many.Workers(ctx, &warptunev1.WorkersRequest{})
					_, err4 := many.Top(ctx, &warptunev1.TopRequest{Id: s.id})
					if err1 == nil && err2 == nil && err3 == nil && err4 == nil {
						looks.Add(1)
					}
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
				}
			})
		}
		all.Wait()
	}
	var alone, beside float64 // results a second, summed over windows
	least := float64(tunertest.Times(50, 80)) / 100
	// What else runs on the machine may take from one window what it leaves to the other: it is enough that it holds once.
	for round := 0; round < windows || beside < least*alone && round < 10*windows; round++ {
		n, took := window()
		alone += float64(n) / took.Seconds()
		ctx, stop := context.WithCancel(t.Context())
		var messages, looks atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			watched(ctx, &messages, &looks)
		}()
		time.Sleep(200 * time.Millisecond) // they are there
		n, took = window()
		beside += float64(n) / took.Seconds()
		for until := time.Now().Add(patience); messages.Load() < 100 || looks.Load() < 10; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("who watches heard %d times, dashboards looked %d times", messages.Load(), looks.Load())
			}
		}
		stop()
		<-ended
	}
	t.Logf("%.0f results, %.0f with a hundred who watch and ten dashboards: %.0f %%", alone, beside, 100*beside/alone)
	if beside < least*alone {
		t.Errorf("%.0f %% of the results come while others watch, want %.0f %%", 100*beside/alone, 100*least)
	}
}
