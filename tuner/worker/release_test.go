package worker_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// older is a connection to a coordinator of the release before particulars had
// digests and starts had names: it calls itself by its store's identity, and tells
// of sweeps that a worker does not know by their numbers.
type older struct {
	grpc.ClientConnInterface
	mu   sync.Mutex
	name string // of the coordinator that is behind it now
}

func (o *older) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	m, ok := in.(*warptunev1.SynchronizeRequest)
	if !ok {
		return o.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
	}
	m.KnownDigests = nil
	o.mu.Lock()
	if m.GetCoordinator() == "store" {
		m.Coordinator = o.name
	}
	o.mu.Unlock()
	err := o.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
	reply := out.(*warptunev1.SynchronizeResponse)
	o.mu.Lock()
	o.name = reply.GetCoordinator()
	o.mu.Unlock()
	reply.Coordinator, reply.Fence = "store", 0
	for _, s := range reply.GetSweeps() {
		s.Digest = ""
	}
	return err
}

// A worker works for a coordinator of the release before.
func TestOlderCoordinator(t *testing.T) {
	b := tunertest.Bundle{Size: 300, Batch: 8}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		old := &older{ClientConnInterface: conn}
		run(t, s.worker("a", 2, 20*time.Millisecond, old), s.worker("b", 2, 20*time.Millisecond, old))
		if got := s.table(id); got != want {
			t.Errorf("the table is\n%s\nwant\n%s", got, want)
		}
	})
}

// A start of the coordinator makes workers let go of nothing, and none evaluates
// anything twice for it.
func TestRestartsCostNothing(t *testing.T) {
	b := tunertest.Bundle{Size: 400}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		var mu sync.Mutex
		evaluated := map[int64]int{}
		count := func(i int64) {
			mu.Lock()
			defer mu.Unlock()
			evaluated[i]++
		}
		var all []*worker.Worker
		for _, name := range []string{"a", "b"} {
			all = append(all, s.workerOf(name, 2, conn, func(ctx context.Context, q tuner.Question, content []byte) (tuner.Outcome, error) {
				count(q.Index)
				time.Sleep(100 * time.Millisecond)
				return tunertest.Evaluate(ctx, q, content)
			}))
		}
		var restarts sync.WaitGroup
		restarts.Go(func() {
			for range 5 {
				time.Sleep(1700 * time.Millisecond)
				s.stop()
				time.Sleep(300 * time.Millisecond)
				s.begin()
			}
		})
		run(t, all...)
		restarts.Wait()
		if got := s.table(id); got != want {
			t.Errorf("the table is\n%s\nwant\n%s", got, want)
		}
		for i, n := range evaluated {
			if n > 1 && i != tunertest.Best(b.Size) {
				t.Errorf("configuration %d was evaluated %d times", i, n)
			}
		}
	})
}

// The coordinator is started again and again in the middle of long evaluations, so
// that there are starts in which nothing but renewals came: workers let go of nothing
// for it, and nobody takes the database for an older copy.
func TestQuickRestartsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		s.submit(tunertest.Bundle{Size: 6})
		conn := s.connect()
		defer conn.Close()
		var mu sync.Mutex
		evaluated := map[int64]int{}
		evaluate := func(ctx context.Context, q tuner.Question, content []byte) (tuner.Outcome, error) {
			if !q.Again {
				mu.Lock()
				evaluated[q.Index]++
				mu.Unlock()
			}
			select {
			case <-time.After(5 * time.Minute):
			case <-ctx.Done():
				return tuner.Outcome{}, ctx.Err()
			}
			return tunertest.Evaluate(ctx, q, content)
		}
		var restarts sync.WaitGroup
		restarts.Go(func() {
			for range 6 {
				time.Sleep(20 * time.Second) // there is a renewal in it
				s.stop()
				time.Sleep(100 * time.Millisecond)
				s.begin()
			}
		})
		run(t, s.workerOf("a", 3, conn, evaluate), s.workerOf("b", 3, conn, evaluate))
		restarts.Wait()
		for i, n := range evaluated {
			if n > 1 {
				t.Errorf("configuration %d was evaluated %d times", i, n)
			}
		}
		acts, _, err := s.store.Acts(0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		starts := 0
		for _, a := range acts {
			if a.What == tuner.ActRestore {
				t.Errorf("the audit log says %q", a.Detail)
			}
			if a.What == tuner.ActStart {
				starts++
			}
		}
		if starts != 7 {
			t.Errorf("%d starts are recorded, want 7", starts)
		}
	})
}
