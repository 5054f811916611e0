package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/tunertest"
)

// The database is replaced by an older copy of it while workers live on: they
// know sweeps, hold trials and have results that it has never heard of, under
// numbers and tokens that it gives to others. What was not evaluated for the
// copy's sweeps counts for none of them.
func TestRestored(t *testing.T) {
	for range tunertest.Times(1, 10) {
		restored(t)
	}
}

func restored(t *testing.T) {
	dir := t.TempDir()
	a := newSweep(t, filepath.Join(dir, "sweeps.db"), tunertest.Bundle{Size: 300})
	second := tunertest.Bundle{Size: 2000, Salt: 1}
	third := a.other(t, tunertest.Bundle{Size: 2000, Salt: 2}, 2)
	backup := filepath.Join(dir, "copy")
	a.lease = 30 * time.Second // none expires meanwhile
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range 4 {
		w := a.worker(fmt.Sprint("w", i))
		w.Stay = true
		supervise(ctx, t, a.witness.hear, never, func() (role, []string) { return w, nil })
	}
	run := func() (*process, *observer) {
		p, err := a.coordinator().start(nil)
		if err != nil {
			t.Fatal(err)
		}
		return p, observe(t, a.address)
	}

	c, o := run()
	o.wait(t, a.id, func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() > 100 })
	c.signal(syscall.SIGTERM) // as docs/OPERATIONS.md has it
	<-c.done
	copyFile(t, a.path, backup)

	c, o = run()
	lost := o.submit(t, second)
	o.wait(t, lost, func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() > 200 })
	for len(a.witness.all()) < 200 { // each worker has results of it, and holds some
		a.progress(t)
	}
	c.signal(syscall.SIGTERM)
	<-c.done
	if err := os.Remove(a.path); err != nil {
		t.Fatal(err)
	}
	copyFile(t, backup, a.path)
	a.witness.forget() // what was acknowledged since the copy was made

	c, o = run()
	if id := o.submit(t, third.bundle); id != third.id {
		t.Fatalf("the sweep is %s, want %s", id, third.id)
	}
	o.wait(t, third.id, func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() > 200 })
	c.kill() // a restart is no restore: nobody lets go of anything
	c, o = run()
	a.calm()
	o.wait(t, a.id, completed)
	o.wait(t, third.id, completed)
	stop()
	c.signal(syscall.SIGTERM)
	<-c.done
	a.witness.forget()
	if n := a.acts(t)[tuner.ActRestore]; n != 1 {
		t.Errorf("%d acts say that the database was restored, want one", n)
	}
	a.verdict(t)
	third.verdict(t)
}

// other is another sweep of the store's, with its number in it.
func (s *sweep) other(t *testing.T, b tunertest.Bundle, num uint64) *sweep {
	o := storedSweep(t, s.path, b, num)
	o.witness = s.witness
	return o
}

func completed(s *warptunev1.Sweep) bool {
	return s.GetState() == warptunev1.SweepState_SWEEP_STATE_COMPLETED
}

func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorded = map[trial]int{}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// observer is somebody who submits and watches.
type observer struct{ warptunev1.SweepServiceClient }

// observe connects to a coordinator, which may still be starting.
func observe(t *testing.T, address string) *observer {
	t.Helper()
	conn, err := rpc.Dial(address, nil, rpc.ClientOptions(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &observer{warptunev1.NewSweepServiceClient(conn)}
}

// again repeats a call until the coordinator answers it.
func again[T any](t *testing.T, call func(context.Context) (T, error)) T {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		out, err := call(ctx)
		cancel()
		if err == nil {
			return out
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// submit submits a sweep and returns its identity.
func (o *observer) submit(t *testing.T, b tunertest.Bundle) string {
	t.Helper()
	content, digest := b.Content()
	again(t, func(ctx context.Context) (*warptunev1.PutBundleResponse, error) {
		stream, err := o.PutBundle(ctx)
		if err == nil {
			err = stream.Send(&warptunev1.PutBundleRequest{Digest: digest, Chunk: content})
		}
		if err != nil {
			return nil, err
		}
		return stream.CloseAndRecv()
	})
	spec := b.Spec("test")
	return again(t, func(ctx context.Context) (*warptunev1.SubmitResponse, error) {
		return o.Submit(ctx, &warptunev1.SubmitRequest{Spec: rpc.FromSpec(&spec)})
	}).GetSweep().GetId()
}

// wait waits until a sweep is as it should be.
func (o *observer) wait(t *testing.T, id string, is func(*warptunev1.Sweep) bool) *warptunev1.Sweep {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		s := again(t, func(ctx context.Context) (*warptunev1.GetResponse, error) {
			return o.Get(ctx, &warptunev1.GetRequest{Id: id})
		}).GetSweep()
		if is(s) {
			return s
		}
		if time.Now().After(until) {
			t.Fatalf("sweep %s is %v, %v", id, s.GetState(), s.GetCounts())
		}
	}
}
