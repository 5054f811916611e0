package faults

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// Nothing passes any more between a coordinator and its workers, and nobody is told. Both ends let go of all their
// connections within half a minute. When the line is whole again the sweep goes on without a lease that was lost.
// (It takes as long as that: in virtual time TestHalfOpenConnections of tuner/worker does the same at once.)
func TestHalfOpenProcesses(t *testing.T) {
	if tunertest.Times(0, 1) == 0 {
		t.Skip("it waits for half a minute: it is among the long forms")
	}
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 2000, Batch: 40})
	s.lease, s.took = 2*time.Minute, 100*time.Millisecond
	p := between(t, s.address)
	s.book = p.address()
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	f.up(t)
	s.progress(t)
	began := time.Now()
	p.silence(true)
	was := p.halfOpen()
	time.Sleep(time.Second)
	p.silence(false) // who connects anew gets through
	for p.halfOpen() > 0 {
		if time.Since(began) > patience {
			t.Fatalf("of %d ends %d are open after %v", was, p.halfOpen(), time.Since(began))
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%d ends were let go of after %v at most", was, time.Since(began))
	if took := time.Since(began); took > 35*time.Second || was < 2*len(f.workers) {
		t.Errorf("it took %v until both ends of %d connections were let go of, want half a minute", took, was/2)
	}
	s.calm()
	f.wait(t)
	if got := s.verdict(t); got.Counts.Requeued > 0 {
		t.Errorf("%d leases were lost", got.Counts.Requeued)
	}
}

// Hundreds of workers lose the coordinator at one moment, since it is killed. All are back
// within 15 s of its return, and no lease is lost.
func TestManyReconnectToAProcess(t *testing.T) {
	many := tunertest.Times(100, 500)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(20 * many)})
	s.lease = 30 * time.Second
	calm, ended := make(chan struct{}), make(chan error, many)
	start := func() *process {
		t.Helper()
		said := make(chan struct{}, 1)
		p, err := s.coordinator().start(func(string) { said <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.kill)
		select {
		case <-said:
		case <-p.done:
			t.Fatalf("it ended:\n%s", &p.stderr)
		}
		return p
	}
	p := start()
	for i := range many {
		conn, err := rpc.Dial(s.address, nil, rpc.ClientOptions(nil)...)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		w, err := worker.New(conn, worker.Options{
			ID: fmt.Sprint("w", i), Slots: 1, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}, Leave: true,
			Evaluator: worker.EvaluatorFunc(func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
				select {
				case <-calm:
				case <-time.After(5 * time.Second):
				}
				return tunertest.Evaluate(ctx, q, bundle)
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, err := w.Run(t.Context()); ended <- err }()
	}
	o := observe(t, s.address)
	there := func() int {
		return len(again(t, func(ctx context.Context) (*warptunev1.WorkersResponse, error) {
			return o.Workers(ctx, &warptunev1.WorkersRequest{})
		}).GetWorkers())
	}
	all := func() time.Duration {
		t.Helper()
		began := time.Now()
		for n := there(); n < many; n = there() {
			if time.Since(began) > patience {
				t.Fatalf("%d of %d workers are there", n, many)
			}
			time.Sleep(20 * time.Millisecond)
		}
		return time.Since(began)
	}
	all()
	p.kill()
	time.Sleep(2 * time.Second) // they all have noticed
	p = start()
	took := all()
	t.Logf("%d workers are back %v after the coordinator serves again", many, took)
	if most := 15 * time.Second; tunertest.Times(0, 1) == 1 && took > most { // other tests may run beside the short form
		t.Errorf("%d workers are back after %v, want %v", many, took, most)
	}
	close(calm)
	for range many {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	p.signal(syscall.SIGTERM)
	<-p.done
	if got := s.verdict(t); got.Counts.Requeued > 0 {
		t.Errorf("%d leases were lost", got.Counts.Requeued)
	}
}

// Hundreds connect to a coordinator and say nothing, others a byte a second. They are let go
// after 10 s, and who asks meanwhile is answered soon.
func TestSlowClientsOfAProcess(t *testing.T) {
	silent, dripping := tunertest.Times(300, 3000), tunertest.Times(30, 100)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 10})
	p, err := s.coordinator().start(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	o := observe(t, s.address)
	list := func(ctx context.Context) (*warptunev1.ListResponse, error) {
		return o.List(ctx, &warptunev1.ListRequest{})
	}
	again(t, list)
	var all sync.WaitGroup
	var mu sync.Mutex
	var stayed []time.Duration
	hold := func(text string) {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Error(err)
			return
		}
		began := time.Now()
		all.Go(func() {
			for _, b := range []byte(text) {
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		all.Go(func() {
			defer conn.Close()
			_ = conn.SetReadDeadline(began.Add(patience))
			_, _ = io.Copy(io.Discard, conn)
			mu.Lock()
			defer mu.Unlock()
			stayed = append(stayed, time.Since(began))
		})
	}
	for range silent {
		hold("")
	}
	for range dripping {
		hold("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	}
	var took []time.Duration
	for until := time.Now().Add(8 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		asked := time.Now()
		if _, err := list(t.Context()); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(asked))
	}
	all.Wait()
	slices.Sort(took)
	slices.Sort(stayed)
	p99, longest := took[len(took)*99/100], stayed[len(stayed)-1]
	t.Logf("%d silent and %d slow connections stay %v at most; of %d calls meanwhile the 99th percentile takes %v", silent, dripping, longest, len(took), p99)
	if longest >= patience {
		t.Errorf("connections stay %v, want 10 s", longest)
	}
	if long := tunertest.Times(0, 1) == 1; long && (p99 > time.Second || longest > 15*time.Second) { // other tests may run beside the short form
		t.Errorf("connections stay %v, want 10 s; calls take %v", longest, p99)
	}
}
