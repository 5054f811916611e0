package worker_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// BenchmarkDurableResults is how many results a second become durable when
// evaluating costs nothing: coordinator and 8 workers in one process.
func BenchmarkDurableResults(b *testing.B) {
	bolt := func(b *testing.B) store.Store {
		st, err := store.Open(filepath.Join(b.TempDir(), "sweeps.db"), store.OpenOptions{AnyFileSystem: true})
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	tcp := func(b *testing.B, server *rpc.Server) func() (connection, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		go func() { _ = server.Serve(l) }()
		return func() (connection, error) { return grpc.NewClient(l.Addr().String(), rpc.ClientOptions(nil)...) }
	}
	memory := func(_ *testing.B, server *rpc.Server) func() (connection, error) {
		m := rpc.NewMemory()
		go func() { _ = server.Serve(m.Listener()) }()
		return func() (connection, error) { return m.Dial() }
	}
	b.Run("tcp,bbolt", func(b *testing.B) { durable(b, bolt(b), tcp) })
	b.Run("memory,bbolt", func(b *testing.B) { durable(b, bolt(b), memory) })
	b.Run("memory,memory", func(b *testing.B) { durable(b, store.NewMemory(), memory) })
}

type connection interface {
	grpc.ClientConnInterface
	Close() error
}

func durable(b *testing.B, st store.Store, serve func(*testing.B, *rpc.Server) func() (connection, error)) {
	defer st.Close()
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	server := rpc.NewServer(c, nil)
	dial := serve(b, server)
	bundle := tunertest.Bundle{Size: int64(b.N)}
	content, digest := bundle.Content()
	if err := c.PutBundle(ctx, digest, content); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	before := cpuTime()
	sweep, err := c.Submit(ctx, bundle.Spec("bench"), "")
	if err != nil {
		b.Fatal(err)
	}
	exits := make(chan error)
	const workers = 8
	for i := range workers {
		conn, err := dial()
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		w, err := worker.New(conn, worker.Options{
			ID: fmt.Sprint("w", i), Slots: 2, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest},
			Leave: true, Evaluator: worker.EvaluatorFunc(tunertest.Evaluate),
		})
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			_, err := w.Run(ctx)
			exits <- err
		}()
	}
	for range workers {
		if err := <-exits; err != nil {
			b.Error(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "results/s")
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/result")
	b.StopTimer()
	if s, err := c.Sweep(ctx, sweep.Sweep.ID); err != nil || s.Counts.Done != int64(b.N) {
		b.Errorf("%+v (%v)", s.Counts, err)
	}
	cancel()
	server.Stop()
	<-ended
	if bolt, ok := st.(*store.Bolt); ok {
		if u, err := bolt.Usage(); err == nil {
			b.ReportMetric(float64(u.Used)/float64(b.N), "storeB/result")
		}
	}
}

// cpuTime is what the process has used so far: on a busy machine it says more
// than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
