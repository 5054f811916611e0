package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/worker"
)

// Embedded is a coordinator and, once Work is called, a worker in this
// process, over an in-memory connection.
type Embedded struct {
	memory *rpc.Memory
	server *rpc.Server
	store  store.Store
	run    *errgroup.Group // coordinator and server
	stop   context.CancelFunc
	work   *errgroup.Group // worker
	drain  context.CancelFunc
}

// Embed opens the database at path, making it and its directory when there is
// none, and starts a coordinator over it. Close it.
func Embed(ctx context.Context, path string) (*Embedded, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	st, err := store.Open(path, store.OpenOptions{})
	if err != nil {
		return nil, err
	}
	c, err := coordinator.New(st, coordinator.Options{Planner: Planner{}})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	// The coordinator outlives an interrupted command until Close, so that what
	// workers have finished is stored.
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e := &Embedded{memory: rpc.NewMemory(), server: rpc.NewServer(c, nil), store: st, run: new(errgroup.Group), stop: stop}
	e.run.Go(func() error { return c.Run(run) })
	e.run.Go(func() error { return e.server.Serve(e.memory.Listener()) })
	return e, nil
}

// Dial connects to the coordinator. Close the connection before Embedded.
func (e *Embedded) Dial() (*grpc.ClientConn, error) { return e.memory.Dial() }

// Work starts a worker with so many slots, once.
func (e *Embedded) Work(slots int) error {
	if e.work != nil {
		return nil
	}
	conn, err := e.Dial()
	if err != nil {
		return err
	}
	archs, err := Descriptors()
	if err != nil {
		return err
	}
	w, err := worker.New(conn, worker.Options{
		ID: fmt.Sprintf("embedded-%d", os.Getpid()), Slots: slots, Engine: simengine.Version(), Archs: archs,
		Evaluator: worker.Recovering(NewEvaluator()),
	})
	if err != nil {
		return err
	}
	ctx, drain := context.WithCancel(context.Background())
	e.work, e.drain = new(errgroup.Group), drain
	e.work.Go(func() error {
		defer conn.Close()
		_, err := w.Run(ctx)
		return err
	})
	return nil
}

// Close drains the worker, stores what it has finished, and closes the
// database.
func (e *Embedded) Close() error {
	var err error
	if e.work != nil {
		e.drain()
		err = e.work.Wait()
	}
	e.server.Stop()
	e.stop()
	return errors.Join(err, e.run.Wait(), e.store.Close())
}
