package worker_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// slow is a store on a slow disk.
type slow struct {
	store.Store
	took time.Duration
}

func (s slow) Commit(c *tuner.Changes) error {
	time.Sleep(s.took)
	return s.Store.Commit(c)
}

// On a disk that needs 400 ms for a commit, commits grow, so that hundreds of
// results are stored in a second, and no lease is lost.
func TestSlowDisk(t *testing.T) {
	b := tunertest.Bundle{Size: 6000}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, slow{store.NewMemory(), 400 * time.Millisecond})
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		var longest atomic.Int64
		n := &network{conn, func(ctx context.Context, _ string, in, out any, call func(context.Context, any) error) error {
			began := time.Now()
			err := call(ctx, out)
			if m, ok := in.(*warptunev1.SynchronizeRequest); !ok || m.GetWaitMs() == 0 { // others ask to be held
				longest.Store(max(longest.Load(), int64(time.Since(began))))
			}
			return err
		}}
		var workers []*worker.Worker
		for i := range 8 {
			workers = append(workers, s.worker(fmt.Sprint("w", i), 2, 5*time.Millisecond, n))
		}
		var from, to time.Time // of the middle of the sweep, when all are busy
		watched, stop := context.WithCancel(t.Context())
		defer stop()
		go func() {
			for version := uint64(0); ; {
				sweep, v, err := s.c.Watch(watched, id, version)
				if err != nil {
					return
				}
				version = v
				if sweep.Counts.Done > 500 && from.IsZero() {
					from = time.Now()
				}
				if sweep.Counts.Done > 4500 && to.IsZero() {
					to = time.Now()
				}
			}
		}()
		run(t, workers...)
		if rate := 4000 / to.Sub(from).Seconds(); rate < 500 {
			t.Errorf("%.0f results a second", rate)
		}
		if d := time.Duration(longest.Load()); d > 2*time.Second {
			t.Errorf("a call took %v", d)
		}
		if sweep, _ := s.c.Sweep(t.Context(), id); sweep.Counts.Requeued != 0 {
			t.Errorf("%d leases were lost", sweep.Counts.Requeued)
		}
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// The coordinator's clock is set forward and back by an hour, again and again:
// no lease expires for it, and those of a worker that is gone do.
func TestClockSteps(t *testing.T) {
	b := tunertest.Bundle{Size: 600, Batch: 9}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		var step atomic.Int64
		s := &system{t: t, store: store.NewMemory(), ledger: tuner.LedgerOptions{Straggles: -1}}
		s.now = func() time.Time { return time.Now().Round(0).Add(time.Duration(step.Load())) } // without the monotonic clock
		s.begin()
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		gone, cancel := context.WithCancel(t.Context())
		dead := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
			if gone.Err() != nil {
				return lost
			}
			return call(ctx, out)
		}}
		silent := s.workerOf("gone", 1, dead, func(ctx context.Context, _ tuner.Question, _ []byte) (tuner.Outcome, error) {
			<-ctx.Done()
			return tuner.Outcome{}, ctx.Err()
		})
		go func() { _, _ = silent.Run(gone) }()
		go func() {
			time.Sleep(time.Second)
			cancel() // it is not heard of again
			step.Store(int64(-time.Hour))
			time.Sleep(time.Minute)
			if sweep, _ := s.c.Sweep(t.Context(), id); sweep.Counts.Requeued != 1 {
				t.Error("a lease does not expire after the clock was set back")
			}
			for i := range 20 {
				time.Sleep(7 * time.Second)
				step.Add(int64([]time.Duration{time.Hour, -2 * time.Hour, time.Hour}[i%3]))
			}
		}()
		run(t, s.worker("a", 2, time.Second, conn), s.worker("b", 1, time.Second, conn))
		sweep, _ := s.c.Sweep(t.Context(), id)
		if sweep.Counts.Requeued != 1 {
			t.Errorf("%d leases expired, want that of the worker that is gone", sweep.Counts.Requeued)
		}
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// An evaluation that does not end, and does not heed that it should, is its
// configuration's outcome.
func TestEvaluationsThatHang(t *testing.T) {
	const hangs = 7
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, store.NewMemory())
		defer func() { s.stop() }()
		id := s.submit(tunertest.Bundle{Size: 20}).ID
		conn := s.connect()
		defer conn.Close()
		free := make(chan struct{})
		evaluate := worker.TimeLimited(worker.EvaluatorFunc(func(ctx context.Context, q tuner.Question, b []byte) (tuner.Outcome, error) {
			if q.Index == hangs {
				<-free
			}
			return tunertest.Evaluate(ctx, q, b)
		}), time.Minute)
		began := time.Now()
		run(t, s.workerOf("a", 1, conn, evaluate.Evaluate), s.workerOf("b", 1, conn, evaluate.Evaluate))
		close(free)
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("the sweep took %v, with one evaluation that may take a minute", took)
		}
		sweep, _ := s.c.Sweep(t.Context(), id)
		if c := sweep.Counts; c.Done != 20 || c.Abandoned != 0 || c.ByValidity[tuner.Timeout] != 1 {
			t.Errorf("%+v", c)
		}
		for _, e := range sweep.Examples {
			if e.Kind == tuner.Timeout.String() && (e.Seq != hangs || !strings.Contains(e.Message, "1m0s")) {
				t.Errorf("the example is %+v", e)
			}
		}
	})
}

// One worker of four is fifty times as slow. What it holds in the end is
// granted once more to others, so that the sweep ends soon after they are done;
// what it comes to later is not counted twice.
func TestStraggler(t *testing.T) {
	b := tunertest.Bundle{Size: 300}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		began := time.Now()
		run(t, s.worker("slow", 1, 50*time.Second, conn), s.worker("a", 1, time.Second, conn), s.worker("b", 1, time.Second, conn), s.worker("c", 1, time.Second, conn))
		sweep, err := s.c.Sweep(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		const ideal = 100 * time.Second
		if took := sweep.Ended.Sub(began); took > ideal*13/10 {
			t.Errorf("the sweep took %v, without the slow worker it takes %v", took, ideal)
		}
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}
