package worker_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/tunertest"
)

// wire connects a client to the system by connections to which things happen.
type wire struct {
	s *system
	// mute and deaf say that nothing that is written arrives now, and nothing
	// that arrives is read. A connection that has lost something loses
	// everything from then on, as one does whose packets are not acknowledged.
	mute, deaf atomic.Bool
	// most, unless nil, draws after how many bytes a connection breaks.
	most func() int64
	// takes, unless nil, draws how long n bytes take to get through.
	takes func(n int) time.Duration
	dials atomic.Int64
	ends  sync.WaitGroup // connections that are not closed
	open  sync.Map       // of *wireEnd
}

// connect returns a client of a network like this.
func (w *wire) connect() *grpc.ClientConn {
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		w.dials.Add(1)
		if w.mute.Load() || w.deaf.Load() {
			<-ctx.Done() // no answer
			return nil, ctx.Err()
		}
		pipe := w.s.memory.Load().Listener().(interface {
			DialContext(context.Context) (net.Conn, error)
		})
		c, err := pipe.DialContext(ctx)
		if err != nil {
			return nil, err
		}
		w.ends.Add(1)
		end := &wireEnd{Conn: c, wire: w, closed: make(chan struct{})}
		end.left.Store(1 << 60)
		w.open.Store(end, true)
		if w.most != nil {
			end.left.Store(w.most())
		}
		return end, nil
	}
	conn, err := grpc.NewClient("passthrough:///wire", append(rpc.ClientOptions(nil), grpc.WithContextDialer(dial))...)
	if err != nil {
		w.s.t.Fatal(err)
	}
	return conn
}

// leave closes a client, and waits for its connections: what is still being
// written to one is waited for, and virtual time ends with the test.
func (w *wire) leave(conn *grpc.ClientConn) {
	_ = conn.Close()
	w.ends.Wait()
}

// wireEnd is the client's end of one connection.
type wireEnd struct {
	net.Conn
	wire       *wire
	left       atomic.Int64 // bytes until it breaks
	mute, deaf atomic.Bool  // it has lost something
	half       atomic.Bool  // that it is closed does not arrive either
	close      sync.Once
	closed     chan struct{}
}

func (e *wireEnd) Write(b []byte) (int, error) {
	if e.wire.mute.Load() {
		e.mute.Store(true)
	}
	if e.mute.Load() {
		return len(b), nil
	}
	e.carry(len(b))
	if left := e.left.Add(-int64(len(b))); left < 0 {
		_, _ = e.Conn.Write(b[:max(0, int64(len(b))+left)])
		_ = e.Close()
		return 0, io.ErrClosedPipe
	}
	return e.Conn.Write(b)
}

func (e *wireEnd) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if e.wire.deaf.Load() {
		e.deaf.Store(true)
	}
	if e.deaf.Load() {
		<-e.closed
		return 0, io.ErrClosedPipe
	}
	e.carry(n)
	if err == nil && e.left.Add(-int64(n)) < 0 {
		_ = e.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// carry waits for as long as n bytes take, or until the connection is closed:
// what is still under way then reaches nobody.
func (e *wireEnd) carry(n int) {
	if e.wire.takes == nil || n <= 0 {
		return
	}
	arrives := time.NewTimer(e.wire.takes(n))
	defer arrives.Stop()
	select {
	case <-arrives.C:
	case <-e.closed:
	}
}

func (e *wireEnd) Close() (err error) {
	e.close.Do(func() {
		close(e.closed)
		e.wire.open.Delete(e)
		if !e.half.Load() {
			err = e.Conn.Close()
		}
		e.wire.ends.Done()
	})
	return err
}

// A network is cut, in both directions or in one, for some workers or for all,
// for longer than leases last. Workers keep what they finish, come back soon
// after it has healed, and the table is that of an undisturbed sweep.
func TestPartitions(t *testing.T) {
	b := tunertest.Bundle{Size: 300}
	want := undisturbed(t, b)
	for _, cut := range []struct {
		name           string
		mute, deaf, of bool // of: all workers
	}{
		{"both directions", true, true, false}, {"from the worker", true, false, false}, {"to the worker", false, true, false},
		{"of all workers", true, true, true},
	} {
		t.Run(cut.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := onDisk(t)
				defer func() { s.stop() }()
				id := s.submit(b).ID
				far, near := &wire{s: s}, &wire{s: s}
				farConn, nearConn := far.connect(), near.connect()
				defer far.leave(farConn)
				defer near.leave(nearConn)
				var back time.Duration // from the healing to the first call
				healed := make(chan time.Time, 1)
				n := &network{farConn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
					err := call(ctx, out)
					select {
					case at := <-healed:
						if err != nil {
							healed <- at
						} else {
							back = time.Since(at)
						}
					default:
					}
					return err
				}}
				go func() {
					time.Sleep(5 * time.Second)
					for _, w := range []*wire{far, near} {
						if w == far || cut.of {
							w.mute.Store(cut.mute)
							w.deaf.Store(cut.deaf)
						}
					}
					time.Sleep(90 * time.Second)
					for _, w := range []*wire{far, near} {
						w.mute.Store(false)
						w.deaf.Store(false)
					}
					healed <- time.Now()
				}()
				run(t, s.worker("far", 2, time.Second, n), s.worker("near", 1, time.Second, nearConn))
				if back == 0 || back > 15*time.Second {
					t.Errorf("the worker came back %v after the network had healed", back)
				}
				if got := s.table(id); got != want {
					t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// Connections break after any number of bytes, either way, in the middle of
// whatever they carry.
func TestConnectionsBreakAnywhere(t *testing.T) {
	b := tunertest.Bundle{Size: 300, Batch: 8}
	want := undisturbed(t, b)
	seed := tunertest.Seed(t)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(b).ID
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(seed, 1))
		w := &wire{s: s, most: func() int64 {
			mu.Lock()
			defer mu.Unlock()
			return 100 + rng.Int64N(6000)
		}}
		first, second := w.connect(), w.connect()
		defer w.leave(first) // both are closed then
		defer func() { _ = second.Close() }()
		run(t, s.worker("a", 2, 100*time.Millisecond, first), s.worker("b", 2, 100*time.Millisecond, second))
		if n := w.dials.Load(); n < 50 {
			t.Errorf("there were only %d connections", n)
		}
		if got := s.table(id); got != want {
			t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
		}
	})
}

// Lines of 256 kbit/s and 100 ms give each worker at least 5 results a second,
// and cost no lease. When they lose 30 % of the packets, what is lost holds up
// what follows until it is sent again, as TCP does it after 200 ms and then twice
// as long each time; the table is the same.
func TestNarrowLossyLines(t *testing.T) {
	b := tunertest.Bundle{Size: 600}
	want := undisturbed(t, b)
	seed := tunertest.Seed(t)
	for _, percent := range []int{0, 30} {
		synctest.Test(t, func(t *testing.T) {
			s := onDisk(t)
			defer func() { s.stop() }()
			id := s.submit(b).ID
			var mu sync.Mutex
			rng := rand.New(rand.NewPCG(seed, 1))
			takes := func(n int) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				const packet, rate = 1448, 256_000 / 8 // bytes, bytes a second
				d := 100*time.Millisecond + time.Duration(n)*time.Second/rate
				for range (n + packet - 1) / packet {
					for again := 200 * time.Millisecond; rng.IntN(100) < percent; again *= 2 {
						d += again
					}
				}
				return d
			}
			line := &wire{s: s, takes: takes}
			one, other := line.connect(), line.connect()
			defer line.leave(one) // both are closed then
			defer func() { _ = other.Close() }()
			begun := time.Now()
			run(t, s.worker("a", 4, 50*time.Millisecond, one), s.worker("b", 4, 50*time.Millisecond, other))
			rate := float64(b.Size) / 2 / time.Since(begun).Seconds()
			t.Logf("%d %% lost: %.1f results a second of each worker", percent, rate)
			sweep, err := s.c.Sweep(t.Context(), id)
			if err != nil || percent == 0 && (rate < 5 || sweep.Counts.Requeued != 0) {
				t.Errorf("%.1f results a second, %+v (%v)", rate, sweep.Counts, err)
			}
			if got := s.table(id); got != want {
				t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Half of all calls are lost, and no lease is: a worker renews long before it
// must.
func TestHalfTheCallsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(tunertest.Bundle{Size: 60}).ID
		conn := s.connect()
		defer conn.Close()
		var calls atomic.Int64
		n := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
			if calls.Add(1)%2 == 0 {
				return lost
			}
			return call(ctx, out)
		}}
		run(t, s.worker("a", 2, 40*time.Second, n), s.worker("b", 1, 50*time.Second, n))
		if sweep, err := s.c.Sweep(t.Context(), id); err != nil || sweep.Counts.Requeued != 0 || sweep.Counts.Done != 60 {
			t.Errorf("%+v (%v)", sweep.Counts, err)
		}
	})
}

// Requests and replies are lost, and nothing is evaluated twice for it, but the
// best, which a second worker confirms.
func TestNothingIsEvaluatedTwice(t *testing.T) {
	b := tunertest.Bundle{Size: 200}
	seed := tunertest.Seed(t)
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		s.submit(b)
		conn := s.connect()
		defer conn.Close()
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(seed, 1))
		n := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
			mu.Lock()
			dice := rng.IntN(5)
			mu.Unlock()
			if dice == 0 {
				return lost
			}
			err := call(ctx, out)
			if dice == 1 {
				return lost
			}
			return err
		}}
		evaluated, again := map[int64]int{}, map[int64]int{}
		evaluate := func(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
			mu.Lock()
			evaluated[q.Index]++
			if q.Again {
				again[q.Index]++
			}
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			return tunertest.Evaluate(ctx, q, bundle)
		}
		run(t, s.workerOf("a", 2, n, evaluate), s.workerOf("b", 1, n, evaluate))
		if len(again) != 1 || again[tunertest.Best(b.Size)] != 1 {
			t.Errorf("evaluated again to confirm: %v", again)
		}
		for i := range b.Size {
			want := 1
			if i == tunertest.Best(b.Size) {
				want = 2
			}
			if evaluated[i] != want {
				t.Errorf("configuration %d is evaluated %d times, want %d", i, evaluated[i], want)
			}
		}
	})
}
