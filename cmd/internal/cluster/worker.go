package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/worker"
)

// Worker is a worker of this process.
type Worker struct {
	drain context.CancelFunc
	ended chan error
}

// connection is a client's, of either kind.
type connection interface {
	grpc.ClientConnInterface
	io.Closer
}

// Join starts a worker for the coordinator of another process that has the database
// open (DialBeside). fault is called, from another goroutine, if it cannot go on. The
// connection is the worker's. Close it.
func Join(conn *grpc.ClientConn, slots int, fault func(error)) (*Worker, error) {
	w, err := work(conn, fmt.Sprintf("joined-%d", os.Getpid()), slots, joinedGrace, fault)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

// joinedGrace is how long a worker that has joined another process tries to report what
// it has finished: that process may have ended.
const joinedGrace = 2 * time.Second

// work starts a worker, whose connection is its own.
func work(conn connection, id string, slots int, grace time.Duration, fault func(error)) (*Worker, error) {
	archs, err := Descriptors()
	if err != nil {
		return nil, err
	}
	evaluator := NewEvaluator(worker.NewKnown(conn))
	evaluator.AnyCompiler = true
	return run(conn, worker.Options{
		ID: id, Slots: slots, Engine: simengine.Version(), Archs: archs,
		Evaluator: worker.Recovering(evaluator), Grace: grace,
	}, fault)
}

// run starts a worker with these options, whose connection is its own.
func run(conn connection, options worker.Options, fault func(error)) (*Worker, error) {
	w, err := worker.New(conn, options)
	if err != nil {
		return nil, err
	}
	ctx, drain := context.WithCancel(context.Background())
	o := &Worker{drain: drain, ended: make(chan error, 1)}
	go func() {
		_, err := w.Run(ctx)
		if err != nil {
			fault(err)
		}
		_ = conn.Close()
		o.ended <- err
	}()
	return o, nil
}

// Close drains the worker: what it has finished is reported, the rest returned.
func (w *Worker) Close() error {
	w.drain()
	return <-w.ended
}
