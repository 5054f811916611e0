package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/cmd/internal/measure"
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
	worker *Worker // nil: there is none
	gpu    *Worker // one that measures; nil: there is none
}

// EmbedOptions say what an embedded coordinator is for; the zero value, to look
// at what there is.
type EmbedOptions struct {
	// Create makes the database, and its directory, when there is none.
	Create bool
	// Sweeps are the identities of the sweeps to work on: others that were
	// interrupted stay as they are. nil: all.
	Sweeps []string
}

// Embed opens the database at path and starts a coordinator over it. Close it.
func Embed(ctx context.Context, path string, o EmbedOptions) (*Embedded, error) {
	if err := provide(path, o.Create); err != nil {
		return nil, err
	}
	st, err := store.Open(path, store.OpenOptions{Salvage: true})
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("no place for the database %s: %w: name another by --db", path, err)
	} else if err != nil {
		return nil, err
	}
	// Who submits is who waits: planning may take any time, until the command ends.
	options := coordinator.Options{Planner: Planner{AnyCompiler: true}, Alone: true, Parts: Parts, PlanTime: -1, Context: ctx, Salvage: true}
	if o.Sweeps != nil {
		options.Dormant = func(id string) bool { return !slices.Contains(o.Sweeps, id) }
	}
	c, err := coordinator.New(st, options)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	// The coordinator outlives an interrupted command until Close, so that what
	// workers have finished is stored.
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e := &Embedded{memory: rpc.NewMemory(), server: rpc.NewServer(c, nil), store: st, run: new(errgroup.Group), stop: stop}
	e.run.Go(func() error { return c.Run(run) })
	e.run.Go(func() error { return e.serve(e.memory.Listener()) })
	// Where there can be no socket, for a long path or a file system without, others
	// are told who has the database.
	if l, err := listenBeside(path); err == nil {
		e.run.Go(func() error { return e.serve(l) })
	}
	return e, nil
}

// serve serves until Close, which may come before it has begun.
func (e *Embedded) serve(l net.Listener) error {
	if err := e.server.Serve(l); !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// provide makes the database's directory, or says that there is no database.
func provide(path string, create bool) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("the database %s is a directory: name a file in it by --db", path)
	}
	if create {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("no place for the database %s: %w: name another by --db", path, err)
		}
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database %s: \"warptune tune\" makes one, --db names another", path)
	}
	return nil
}

// Dial connects to the coordinator. Close the connection before Embedded.
func (e *Embedded) Dial() (*rpc.MemoryConn, error) { return e.memory.Dial() }

// Names of the workers: the database's lock lets one of each live at a time.
const (
	embeddedID  = "embedded"
	measuringID = "embedded-gpu"
)

// Work starts a worker with so many slots, once. fault is called, from another
// goroutine, if the worker cannot go on.
func (e *Embedded) Work(slots int, fault func(error)) error {
	if e.worker != nil {
		return nil
	}
	conn, err := e.Dial()
	if err != nil {
		return err
	}
	if e.worker, err = work(conn, embeddedID, slots, 0, fault); err != nil {
		return errors.Join(err, conn.Close())
	}
	return nil
}

// Measure starts a worker that measures, once; slots is how many configurations are made
// ready at a time.
func (e *Embedded) Measure(m *Measuring, slots int, fault func(error)) error {
	if e.gpu != nil {
		return nil
	}
	conn, err := e.Dial()
	if err != nil {
		return err
	}
	m.prepare.AnyCompiler = true
	o := worker.Options{ID: measuringID, Slots: slots, Engine: measure.Engine, Archs: m.Archs(), Labels: m.Labels(), Evaluator: worker.Recovering(m)}
	if e.gpu, err = start(conn, o, fault); err != nil {
		return errors.Join(err, conn.Close())
	}
	return nil
}

// Works reports whether Work or Measure was called.
func (e *Embedded) Works() bool { return e.worker != nil || e.gpu != nil }

// Close drains the worker, stores what it has finished, and closes the
// database.
func (e *Embedded) Close() error {
	var err error
	for _, w := range []*Worker{e.worker, e.gpu} {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
	}
	e.server.Stop()
	e.stop()
	return errors.Join(err, e.run.Wait(), e.store.Close())
}
