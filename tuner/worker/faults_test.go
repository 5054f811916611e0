package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// network is a connection that does to calls what fault says.
type network struct {
	grpc.ClientConnInterface
	fault func(ctx context.Context, method string, in, out any, call func(context.Context, any) error) error
}

func (n *network) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	return n.fault(ctx, method, in, out, func(ctx context.Context, out any) error {
		return n.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
	})
}

// run runs workers to their ends.
func run(t *testing.T, workers ...*worker.Worker) {
	t.Helper()
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			if exit, err := w.Run(t.Context()); err != nil || exit != worker.Finished {
				t.Error(exit, err)
			}
		})
	}
	group.Wait()
}

var lost = status.Error(codes.Unavailable, "the network is down")

// Calls are lost on their way there and on their way back, arrive twice, and
// arrive long after the caller has given up: the table is the same.
func TestUnreliableNetwork(t *testing.T) {
	b := tunertest.Bundle{Size: 300, Batch: 8}
	want := undisturbed(t, b)
	seed := tunertest.Seed(t)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(seed, 1))
		var late sync.WaitGroup
		n := &network{conn, func(ctx context.Context, method string, in, out any, call func(context.Context, any) error) error {
			mu.Lock()
			dice, delay := rng.IntN(10), time.Duration(rng.IntN(90))*time.Second
			mu.Unlock()
			switch dice {
			case 0:
				return lost
			case 1: // it arrives, but its answer does not
				_ = call(ctx, out)
				return lost
			case 2: // and arrives once more, late and out of order
				late.Go(func() {
					time.Sleep(delay)
					ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
					defer cancel()
					_ = call(ctx, new(warptunev1.SynchronizeResponse))
				})
				if dice%2 == 0 {
					return lost
				}
			}
			return call(ctx, out)
		}}
		run(t, s.worker("a", 2, 200*time.Millisecond, n), s.worker("b", 1, 300*time.Millisecond, n), s.worker("c", 3, 0, n))
		late.Wait()
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// One worker is cut off for longer than its leases last. It keeps its results,
// is fenced from what others have done meanwhile, and joins in again.
func TestPartitionHeals(t *testing.T) {
	b := tunertest.Bundle{Size: 400}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		started := time.Now()
		var stale atomic.Int64
		n := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
			if since := time.Since(started); since > 5*time.Second && since < 65*time.Second {
				return lost
			}
			err := call(ctx, out)
			if m, ok := out.(*warptunev1.SynchronizeResponse); ok {
				for _, a := range m.GetAcknowledgements() {
					if a.GetStatus() == warptunev1.ReportStatus_REPORT_STATUS_STALE || a.GetStatus() == warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED {
						stale.Add(1)
					}
				}
			}
			return err
		}}
		run(t, s.worker("cut off", 4, time.Second, n), s.worker("near", 1, time.Second/2, conn))
		if stale.Load() == 0 {
			t.Error("no late report was fenced: was anything cut off?")
		}
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// A configuration that kills or hangs whatever evaluates it is given up after
// its attempts, blamed on nobody else, and the sweep completes.
func TestPoisonedConfigurations(t *testing.T) {
	const kills, panics, size = 17, 40, 120
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(tunertest.Bundle{Size: size}).ID
		var deaths atomic.Int64
		var live sync.WaitGroup
		// process is a worker that a supervisor starts again when it dies.
		process := func(name string) {
			for n := 0; ; n++ {
				conn := s.connect()
				ctx, kill := context.WithCancel(t.Context())
				w := s.workerOf(name, 4, conn, func(ctx context.Context, q tuner.Question, b []byte) (tuner.Outcome, error) {
					switch q.Index {
					case kills:
						deaths.Add(1)
						_ = conn.Close() // nothing more is heard of it
						kill()
						<-ctx.Done()
						return tuner.Outcome{}, ctx.Err()
					case panics:
						panic("unexpected instruction")
					}
					time.Sleep(50 * time.Millisecond)
					return tunertest.Evaluate(ctx, q, b)
				})
				exit, _ := w.Run(ctx)
				kill()
				_ = conn.Close()
				if exit == worker.Finished {
					return
				}
			}
		}
		for _, name := range []string{"a", "b"} {
			live.Go(func() { process(name) })
		}
		live.Wait()
		sweep, err := s.c.Sweep(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if sweep.State != tuner.Completed || sweep.Counts.Abandoned != 2 || sweep.Counts.Done != size-2 || deaths.Load() > 22 {
			t.Errorf("%d deaths, counts %+v, examples %+v", deaths.Load(), sweep.Counts, sweep.Examples)
		}
		results, _, _ := s.c.Results(t.Context(), sweep.Num, 0, 1000)
		for _, r := range results {
			if poison := r.Index == kills || r.Index == panics; r.Abandoned != poison {
				t.Errorf("configuration %d: abandoned %v, %s", r.Index, r.Abandoned, r.Outcome.Message)
			}
			if r.Index == panics && !strings.Contains(r.Outcome.Message, "unexpected instruction") {
				t.Errorf("the panic is reported as %q", r.Outcome.Message)
			}
		}
	})
}

// While the disk is full nothing is acknowledged; when there is space the sweep
// goes on by itself, and nothing is missing.
func TestFullDiskPausesTheSweep(t *testing.T) {
	b := tunertest.Bundle{Size: 500, Batch: 9}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		s := newSystem(t, &store.Failing{Store: store.NewMemory(), Fail: func() error {
			if full.Load() {
				return tuner.Errorf(tuner.DiskFull, "store changes", "%w", syscall.ENOSPC)
			}
			return nil
		}})
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		go func() {
			for range 3 {
				time.Sleep(2 * time.Second)
				full.Store(true)
				time.Sleep(45 * time.Second)
				if err := s.c.Healthy(); tuner.KindOf(err) != tuner.DiskFull {
					t.Errorf("healthy while the disk is full: %v", err)
				}
				full.Store(false)
			}
		}()
		run(t, s.worker("a", 2, 100*time.Millisecond, conn), s.worker("b", 1, 100*time.Millisecond, conn))
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// A failed sync may or may not have stored something, so the coordinator ends
// rather than go on with what it believes.
func TestFailedSyncEndsTheCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		st := &store.Failing{Store: store.NewMemory(), Fail: func() error {
			if broken.Load() {
				return tuner.Errorf(tuner.Internal, "store changes", "%w", syscall.EIO)
			}
			return nil
		}}
		c, ended := start(t, st)
		content, digest := tunertest.Bundle{Size: 5}.Content()
		if err := c.PutBundle(t.Context(), digest, content); err != nil {
			t.Fatal(err)
		}
		broken.Store(true)
		_, err := c.Submit(t.Context(), tunertest.Bundle{Size: 5}.Spec("test"), "")
		if err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("submit gives %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("the coordinator goes on")
		}
	})
}

// Two copies of one worker, as a cluster scheduler may run, are told apart.
func TestTwoCopiesOfAWorker(t *testing.T) {
	b := tunertest.Bundle{Size: 200}
	want := undisturbed(t, b)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		conn := s.connect()
		defer conn.Close()
		run(t, s.worker("twin", 2, 80*time.Millisecond, conn), s.worker("twin", 3, 50*time.Millisecond, conn))
		if got := s.table(id); got != want {
			t.Errorf("table differs:\n%s\nwant\n%s", got, want)
		}
		if n := len(s.c.Workers(t.Context())); n != 2 {
			t.Errorf("%d workers are known", n)
		}
	})
}

// A sweep of the same question, with other restrictions or another budget, is
// answered from what is stored, without a worker.
func TestStoredResultsAnswerOtherSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		b := tunertest.Bundle{Size: 150}
		s.submit(b)
		conn := s.connect()
		defer conn.Close()
		run(t, s.worker("a", 2, 0, conn))
		spec := b.Spec("test")
		spec.Budget = 100
		again, err := s.c.Submit(t.Context(), spec, "")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		sweep, _ := s.c.Sweep(t.Context(), again.Sweep.ID)
		if sweep.State != tuner.Completed || sweep.Counts.Reused != 100 || sweep.Counts.Done != 100 {
			t.Errorf("the other sweep: %v, %+v", sweep.State, sweep.Counts)
		}
		spec = b.Spec("test")
		spec.Engine = "engine-2"
		other, err := s.c.Submit(t.Context(), spec, "")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if sweep, _ := s.c.Sweep(t.Context(), other.Sweep.ID); sweep.Counts.Done != 0 {
			t.Errorf("another engine is answered from the store: %+v", sweep.Counts)
		}
		if out, err := s.c.Submit(t.Context(), b.Spec("test"), ""); err != nil || out.Created || out.Sweep.State != tuner.Completed {
			t.Errorf("the same sweep again: %+v (%v)", out, err)
		}
	})
}

// Idle workers learn at once of work that is submitted later.
func TestIdleWorkersAreWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, store.NewMemory())
		defer func() { s.stop() }()
		conn := s.connect()
		defer conn.Close()
		var group sync.WaitGroup
		for i := range 5 {
			w := s.worker(fmt.Sprint("w", i), 1, time.Second, conn)
			group.Go(func() { _, _ = w.Run(t.Context()) })
		}
		time.Sleep(7*time.Second + 300*time.Millisecond)
		submitted := time.Now()
		s.submit(tunertest.Bundle{Size: 5})
		group.Wait()
		if took := time.Since(submitted); took > 2100*time.Millisecond {
			t.Errorf("5 workers took %v for 5 trials of 1 s and 1 s to confirm the best", took)
		}
	})
}

// What one sweep found out answers the same question reached in another way.
func TestKnownByDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		s.submit(tunertest.Bundle{Size: 30})
		conn := s.connect()
		defer conn.Close()
		known := worker.NewKnown(conn)
		stored, other := tunertest.Oracle(7), tunertest.Oracle(77)
		found := func(o tuner.Outcome) string {
			o.Found = true // not evaluated
			return fmt.Sprint(o)
		}
		if _, found := known.Find(t.Context(), stored.Digest); found {
			t.Error("known before it was evaluated")
		}
		run(t, s.worker("a", 2, 0, conn))
		if o, ok := known.Find(t.Context(), stored.Digest); !ok || fmt.Sprint(o) != found(stored) {
			t.Errorf("found %+v (%v)", o, ok)
		}
		if _, found := known.Find(t.Context(), other.Digest); found {
			t.Error("another digest is known")
		}
		known.Note(other)
		if o, ok := known.Find(t.Context(), other.Digest); !ok || fmt.Sprint(o) != found(other) {
			t.Errorf("what was noted is %+v (%v)", o, ok)
		}
	})
}

// What compilers and machines say is cut between letters, and what is no text is
// not sent: a message that cannot be written would be tried again for ever.
func TestMessagesAreText(t *testing.T) {
	long := strings.Repeat("中é", 2*tuner.MaxMessage/5)
	texts := []string{long, "a" + long, "aa" + long, "Wei\xdfe Zeile", long + "\xff"}
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(tunertest.Bundle{Size: int64(2 * len(texts))}).ID
		conn := s.connect()
		defer conn.Close()
		wire := &network{conn, func(ctx context.Context, method string, in, out any, call func(context.Context, any) error) error {
			if _, err := proto.Marshal(in.(proto.Message)); err != nil {
				t.Error(err)
				return status.Error(codes.InvalidArgument, err.Error())
			}
			return call(ctx, out)
		}}
		run(t, s.workerOf("w", 1, wire, func(_ context.Context, q tuner.Question, _ []byte) (tuner.Outcome, error) {
			text := texts[q.Seq/2]
			if q.Seq%2 == 0 {
				return tuner.Outcome{}, errors.New(text)
			}
			return tuner.Outcome{Validity: tuner.Compile, Message: text}, nil
		}))
		if table := s.table(id); !utf8.ValidString(table) || !strings.Contains(table, "Wei�e Zeile") {
			t.Errorf("no text: %q", table)
		}
	})
}

// A worker that cannot evaluate for a sweep, for want of a compiler, say, returns what it holds of it and uses up
// nobody's attempts. It goes on with others, or ends and says why, and the sweep waits for one that can.
func TestWorkerThatLacksWhatASweepNeeds(t *testing.T) {
	b, other := tunertest.Bundle{Size: 40}, tunertest.Bundle{Size: 41}
	want, wantOther := undisturbed(t, b), undisturbed(t, other)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id, otherID := s.submit(b).ID, s.submit(other).ID
		conn := s.connect()
		defer conn.Close()
		var tried atomic.Int64
		lacking := s.workerOf("lacking", 2, conn, func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
			if q.Sweep == id {
				tried.Add(1)
				return tuner.Outcome{}, fmt.Errorf("evaluate: %w", tuner.Errorf(tuner.Mismatch, "", "no compiler in PATH"))
			}
			time.Sleep(time.Second)
			return tunertest.Evaluate(ctx, q, bundle)
		})
		exit, err := lacking.Run(t.Context())
		if exit != worker.Faulted || err == nil || !strings.Contains(err.Error(), "no compiler in PATH") {
			t.Errorf("it ends %v (%v)", exit, err)
		}
		if got := s.table(otherID); got != wantOther || tried.Load() > 2 {
			t.Errorf("it tried %d times; the other sweep's table is\n%s", tried.Load(), got)
		}
		run(t, s.worker("able", 2, time.Second, conn))
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// What a worker knows of sweeps does not grow with all that it has ever worked on.
func TestWorkerForgetsSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, store.NewMemory())
		defer func() { s.stop() }()
		for n := range 700 {
			s.submit(tunertest.Bundle{Size: int64(n+1)/100 + 1, Batch: int64(n + 1)})
		}
		conn := s.connect()
		defer conn.Close()
		run(t, s.worker("w", 2, time.Millisecond, &network{conn, func(ctx context.Context, _ string, in, out any, call func(context.Context, any) error) error {
			if m, ok := in.(*warptunev1.SynchronizeRequest); ok && len(m.GetKnownSweeps()) > max(256, len(m.GetHeld())) {
				t.Errorf("the worker says that it knows %d sweeps, and holds %d trials", len(m.GetKnownSweeps()), len(m.GetHeld()))
				return status.Error(codes.InvalidArgument, "too many")
			}
			return call(ctx, out)
		}}))
	})
}
