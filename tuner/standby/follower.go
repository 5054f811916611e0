package standby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
)

// Follower keeps a node's copy of the database equal to the primary's.
type Follower struct {
	// Constant fields.
	node    *Node
	conn    grpc.ClientConnInterface
	arbiter Arbiter
	timing  Timing
	options store.OpenOptions
	log     hclog.Logger

	// Mutable fields, under mu.
	mu      sync.Mutex
	of      string // the log of writes that number counts in; "": the copy is of no log that is known
	number  uint64 // the last write that is on disk
	last    uint64 // the primary's
	heard   time.Time
	problem string // why it is not connected; "": it is
	cannot  string // why nothing can be stored; "": it can
	record  Record // as it was read last

	// st is the copy, opened; nil: there is none. Used by follow alone.
	st *store.Bolt
}

// NewFollower returns the follower of the primary at the other end of a connection.
func NewFollower(n *Node, conn grpc.ClientConnInterface, a Arbiter, t Timing, options store.OpenOptions, log hclog.Logger) *Follower {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Follower{node: n, conn: conn, arbiter: a, timing: t, options: options, log: log}
}

// follow follows until ctx ends. Nothing is acknowledged any more when it returns.
func (f *Follower) follow(ctx context.Context) {
	said := ""
	for ctx.Err() == nil {
		began := time.Now()
		err := rpc.FromStatus(f.session(ctx))
		if ctx.Err() != nil {
			return
		}
		if text := err.Error(); text != said { // once, however long it lasts
			f.log.Warn("the primary is not followed; trying again", "error", text)
			said = text
		}
		f.mu.Lock()
		f.problem = tuner.Clip(err.Error(), maxProblem)
		f.mu.Unlock()
		if time.Since(began) > lostAfter(f.timing) { // connections are made anew every hour or so
			said = ""
			continue
		}
		select {
		case <-time.After(f.timing.Heartbeat):
		case <-ctx.Done():
		}
	}
}

// maxProblem is the most bytes of a problem that is told.
const maxProblem = 256

// stored notes whether the last write, or copy, could be stored, and returns err.
func (f *Follower) stored(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cannot = ""; err != nil {
		f.cannot = tuner.Clip(err.Error(), maxProblem)
	}
	return err
}

// session is one connection.
func (f *Follower) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := warptunev1.NewStandbyServiceClient(f.conn).Follow(ctx)
	if err != nil {
		return err
	}
	if f.st == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	says := &speaker{stream: stream, f: f}
	if err := says.say(); err != nil {
		return err
	}
	var beats sync.WaitGroup
	beats.Go(func() { says.beat(ctx) })
	defer beats.Wait()
	defer cancel()
	err = f.take(ctx, stream, says)
	_ = says.say() // why it ends, if it is for a reason of its own
	return err
}

// take takes what the primary sends.
func (f *Follower) take(ctx context.Context, stream grpc.BidiStreamingClient[warptunev1.FollowRequest, warptunev1.FollowResponse], says *speaker) error {
	var whole bytes.Buffer
	for {
		m, err := f.receive(stream)
		if err != nil {
			return err
		}
		switch m.GetKind() {
		case warptunev1.FollowKind_FOLLOW_KIND_COPY:
			if err := f.takeCopy(ctx, stream, m); err != nil {
				return err
			}
		case warptunev1.FollowKind_FOLLOW_KIND_WRITE:
			whole.Write(m.GetPiece())
			if m.GetMore() {
				continue
			}
			if err := f.stored(f.apply(m, whole.Bytes())); err != nil {
				return err
			}
			if whole.Reset(); whole.Cap() > batchBytes {
				whole = bytes.Buffer{}
			}
		}
		if err := says.say(); err != nil {
			return err
		}
	}
}

// receive receives a message; an error, if none comes in the time in which several do.
func (f *Follower) receive(stream grpc.BidiStreamingClient[warptunev1.FollowRequest, warptunev1.FollowResponse]) (*warptunev1.FollowResponse, error) {
	type received struct {
		m   *warptunev1.FollowResponse
		err error
	}
	got := make(chan received, 1)
	go func() {
		m, err := stream.Recv()
		got <- received{m, err}
	}()
	timer := time.NewTimer(lostAfter(f.timing))
	defer timer.Stop()
	select {
	case r := <-got:
		if r.err != nil {
			return nil, r.err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.heard, f.last, f.problem = time.Now(), r.m.GetLast(), ""
		return r.m, nil
	case <-timer.C:
		return nil, tuner.Errorf(tuner.Unavailable, "follow", "the primary says nothing for %v", lostAfter(f.timing))
	}
}

// apply does a write.
func (f *Follower) apply(m *warptunev1.FollowResponse, write []byte) error {
	if f.st == nil || m.GetLog() != f.of || m.GetNumber() != f.number+1 {
		f.forget()
		return tuner.Errorf(tuner.Conflict, "follow", "write %d does not come after write %d: a new copy is needed", m.GetNumber(), f.number)
	}
	if err := f.st.Apply(write); err != nil {
		if tuner.KindOf(err) != tuner.DiskFull { // it is unknown what is stored
			f.forget()
			_ = f.close()
		}
		return err
	}
	f.mu.Lock()
	f.number = m.GetNumber()
	f.mu.Unlock()
	return nil
}

// forget has the next session ask for a new copy.
func (f *Follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of, f.number = "", 0
}

// takeCopy receives a copy, and puts it in the place of the one before once it is
// durable, verified, and of who still holds the lease: it has everything acknowledged
// then. m is its first piece.
func (f *Follower) takeCopy(ctx context.Context, stream grpc.BidiStreamingClient[warptunev1.FollowRequest, warptunev1.FollowResponse], m *warptunev1.FollowResponse) error {
	f.forget()
	began, size := time.Now(), int64(0)
	path := f.node.Copy() + store.Partial
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	for err == nil {
		if _, err = file.Write(m.GetPiece()); err != nil || !m.GetMore() {
			break
		}
		size += int64(len(m.GetPiece()))
		if m, err = f.receive(stream); err == nil && m.GetKind() != warptunev1.FollowKind_FOLLOW_KIND_COPY {
			err = tuner.Errorf(tuner.Damaged, "follow", "the copy is not whole")
		}
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if rpc.Unreachable(err) || ctx.Err() != nil {
		return err
	}
	if err == nil {
		err = f.verify(path)
	}
	if err := f.stored(store.DiskError("receive a copy of the database", err)); err != nil {
		return err
	}
	record, err := f.arbiter.Read(ctx)
	if err != nil {
		return err
	}
	if record.Process != m.GetLog() {
		return tuner.Errorf(tuner.Conflict, "follow", "who sent the copy does not hold the lease: %s does, in term %d", record.Holder, record.Term)
	}
	if err := f.stored(f.install(path)); err != nil {
		return err
	}
	f.mu.Lock()
	f.of, f.number = m.GetLog(), m.GetNumber()
	f.mu.Unlock()
	f.log.Info("the copy of the database is whole", "bytes", size, "took", time.Since(began))
	return nil
}

// verify opens a copy, which looks at every page of it.
func (f *Follower) verify(path string) error {
	st, err := store.OpenCopy(path, f.options)
	if err != nil {
		return fmt.Errorf("the copy of the database: %w", err)
	}
	defer os.Remove(path + ".lock")
	return st.Close()
}

// install puts a new copy in the place of the one before, and opens it.
func (f *Follower) install(path string) error {
	if err := f.close(); err != nil {
		return err
	}
	if err := os.Rename(path, f.node.Copy()); err != nil {
		return err
	}
	if err := store.SyncDir(f.node.dir); err != nil {
		return err
	}
	return f.open()
}

// open opens the copy if there is one.
func (f *Follower) open() error {
	st, err := store.OpenCopy(f.node.Copy(), f.options)
	switch {
	case err == nil:
		f.st = st
	case tuner.KindOf(err) == tuner.NotFound && !has(f.node.Copy()) || errors.Is(err, fs.ErrNotExist):
	case tuner.KindOf(err) == tuner.Damaged || errors.Is(err, store.ErrOlder): // another comes
		f.log.Error("the copy of the database cannot be used: a new one is fetched", "error", err)
		f.forget()
	default:
		return err
	}
	return nil
}

// close closes the copy.
func (f *Follower) close() error {
	if f.st == nil {
		return nil
	}
	st := f.st
	f.st = nil
	return st.Close()
}

// speaker says what the standby has, whoever wants it said.
type speaker struct {
	mu     sync.Mutex
	stream grpc.BidiStreamingClient[warptunev1.FollowRequest, warptunev1.FollowResponse]
	f      *Follower
}

func (s *speaker) say() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.f
	f.mu.Lock()
	m := &warptunev1.FollowRequest{Node: f.node.Name, Log: f.of, Number: f.number, Format: format, Problem: f.cannot}
	f.mu.Unlock()
	return s.stream.Send(m)
}

// beat says it now and then until ctx ends: a write may take long.
func (s *speaker) beat(ctx context.Context) {
	tick := time.NewTicker(s.f.timing.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.say() != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
