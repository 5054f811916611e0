package worker_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// system is a coordinator that is served over a connection in memory, and can
// be stopped and started again on its store.
type system struct {
	t      *testing.T
	store  store.Store
	memory atomic.Pointer[rpc.Memory]
	c      *coordinator.Coordinator
	stop   func()
	reopen func() store.Store // nil: the store is used again as it is
	now    func() time.Time   // the coordinator's clock; nil: the machine's
	ledger tuner.LedgerOptions
}

// onDisk returns a system whose store is closed and opened at each restart.
func onDisk(t *testing.T) *system {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	s := &system{t: t}
	s.reopen = func() store.Store {
		st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	s.begin()
	return s
}

func newSystem(t *testing.T, st store.Store) *system {
	s := &system{t: t, store: st}
	s.begin()
	return s
}

// begin starts the coordinator.
func (s *system) begin() {
	s.t.Helper()
	if s.reopen != nil {
		s.store = s.reopen()
	}
	c, err := coordinator.New(s.store, coordinator.Options{
		Planner: tunertest.Planner{}, Now: s.now, Ledger: s.ledger, Log: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: logWriter{s.t}}),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.c = c
	memory := rpc.NewMemory()
	s.memory.Store(memory)
	server := rpc.NewServer(c, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { _ = server.Serve(memory.Listener()); done <- struct{}{} }()
	go func() {
		if err := c.Run(ctx); err != nil {
			s.t.Error(err)
		}
		done <- struct{}{}
	}()
	s.stop = func() {
		server.Stop()
		cancel()
		<-done
		<-done
		if s.reopen != nil {
			if err := s.store.Close(); err != nil {
				s.t.Error(err)
			}
		}
	}
}

type logWriter struct{ t *testing.T }

func (w logWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	return len(b), nil
}

// connect returns a connection that follows the system through restarts.
func (s *system) connect() *rpc.MemoryConn {
	conn, err := rpc.DialMemory(s.memory.Load)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

func (s *system) submit(b tunertest.Bundle) tuner.Sweep {
	s.t.Helper()
	content, digest := b.Content()
	if err := s.c.PutBundle(s.t.Context(), digest, content); err != nil {
		s.t.Fatal(err)
	}
	out, err := s.c.Submit(s.t.Context(), b.Spec("test"), "")
	if err != nil {
		s.t.Fatal(err)
	}
	return out.Sweep
}

// table returns everything a sweep found, as text.
func (s *system) table(id string) string {
	s.t.Helper()
	sweep, err := s.c.Sweep(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprint(&text, sweep.State, sweep.Counts.Done, sweep.Counts.ByValidity, sweep.Examples, "\n")
	for seq := int64(0); ; {
		page, _, err := s.c.Results(s.t.Context(), sweep.Num, seq, store.PageLimit)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(page) == 0 {
			return text.String()
		}
		for _, r := range page {
			fmt.Fprintln(&text, r.Seq, r.Index, r.Abandoned, r.Outcome)
			seq = r.Seq + 1
		}
	}
}

func (s *system) worker(name string, slots int, took time.Duration, conn grpc.ClientConnInterface) *worker.Worker {
	s.t.Helper()
	return s.workerOf(name, slots, conn, func(ctx context.Context, q tuner.Question, b []byte) (tuner.Outcome, error) {
		if took > 0 {
			time.Sleep(took)
		}
		return tunertest.Evaluate(ctx, q, b)
	})
}

func (s *system) workerOf(name string, slots int, conn grpc.ClientConnInterface, evaluate worker.EvaluatorFunc) *worker.Worker {
	s.t.Helper()
	w, err := worker.New(conn, worker.Options{
		ID: name, Slots: slots, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}, Leave: true,
		Evaluator: worker.Recovering(evaluate),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// undisturbed returns the table that one worker makes.
func undisturbed(t *testing.T, b tunertest.Bundle) string {
	t.Helper()
	s := newSystem(t, store.NewMemory())
	defer s.stop()
	id := s.submit(b).ID
	conn := s.connect()
	defer conn.Close()
	if exit, err := s.worker("only", 1, 0, conn).Run(t.Context()); exit != worker.Finished || err != nil {
		t.Fatal(exit, err)
	}
	return s.table(id)
}

// The final table does not depend on how many workers there were, nor on how
// fast they are.
func TestAnyNumberOfWorkersMakesOneTable(t *testing.T) {
	for _, b := range []tunertest.Bundle{{Size: 700}, {Size: 300, Batch: 5}, {Size: 300, Batch: 5, Growing: true}} {
		want := undisturbed(t, b)
		synctest.Test(t, func(t *testing.T) {
			s := newSystem(t, store.NewMemory())
			defer s.stop()
			id := s.submit(b).ID
			conn := s.connect()
			defer conn.Close()
			var left atomic.Int32
			exits := make(chan worker.Exit)
			for i := range 5 {
				w := s.worker(fmt.Sprint("w", i), i+1, time.Duration(i*7)*time.Millisecond, conn)
				left.Add(1)
				go func() {
					exit, err := w.Run(t.Context())
					if err != nil {
						t.Error(err)
					}
					exits <- exit
				}()
			}
			for range 5 {
				if exit := <-exits; exit != worker.Finished {
					t.Errorf("a worker %v", exit)
				}
			}
			if got := s.table(id); got != want {
				t.Errorf("table differs from that of one worker:\n%s\nwant\n%s", got, want)
			}
			sweep, _ := s.c.Sweep(t.Context(), id)
			if sweep.Best == nil || sweep.Best.Index != tunertest.Best(b.Size) {
				t.Errorf("best is %+v, the oracle's %d", sweep.Best, tunertest.Best(b.Size))
			}
		})
	}
}

// Workers may come before the coordinator, and sit out its restarts.
func TestCoordinatorRestartsInMidSweep(t *testing.T) {
	b := tunertest.Bundle{Size: 400, Batch: 7}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		id := s.submit(b).ID
		s.stop()
		conn := s.connect()
		defer conn.Close()
		exits := make(chan worker.Exit)
		for i := range 3 {
			w := s.worker(fmt.Sprint("w", i), 2, 30*time.Millisecond, conn)
			go func() {
				exit, err := w.Run(t.Context())
				if err != nil {
					t.Error(err)
				}
				exits <- exit
			}()
		}
		for range 5 {
			time.Sleep(3 * time.Second)
			s.begin()
			time.Sleep(300 * time.Millisecond)
			s.stop()
		}
		s.begin()
		defer func() { s.stop() }()
		for range 3 {
			<-exits
		}
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// A drained worker returns what it has not begun, at once.
func TestDrainReturnsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, store.NewMemory())
		defer s.stop()
		id := s.submit(tunertest.Bundle{Size: 100}).ID
		conn := s.connect()
		defer conn.Close()
		ctx, cancel := context.WithCancel(t.Context())
		w := s.worker("w", 4, time.Second, conn)
		go func() {
			time.Sleep(5500 * time.Millisecond)
			cancel()
		}()
		exit, err := w.Run(ctx)
		if exit != worker.Drained || err != nil {
			t.Fatal(exit, err)
		}
		sweep, _ := s.c.Sweep(t.Context(), id)
		if sweep.Counts.Leased != 0 || sweep.Counts.Done < 20 || sweep.Counts.Requeued != 0 {
			t.Errorf("after the drain: %+v", sweep.Counts)
		}
	})
}

// start starts a coordinator alone.
func start(t *testing.T, st store.Store) (*coordinator.Coordinator, <-chan error) {
	t.Helper()
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	return c, ended
}
