package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// noticed is how long a connection whose other end says nothing any more may stay:
// after 20 s it is asked, and has 10 s to answer.
const noticed = 30 * time.Second

// drain reads a connection until its other end closes it, whatever deadlines others
// set.
func drain(conn net.Conn) {
	room := make([]byte, 1<<10)
	for {
		_, err := conn.Read(room)
		if late := (net.Error)(nil); errors.As(err, &late) && late.Timeout() {
			err = conn.SetReadDeadline(time.Time{})
		}
		if err != nil {
			return
		}
	}
}

// A connection is half open: nothing passes, either way, and nobody is told, as when
// a firewall forgets it. Both ends notice within half a minute; the worker connects
// anew, and no lease is lost.
func TestHalfOpenConnections(t *testing.T) {
	b := tunertest.Bundle{Size: 200}
	want := undisturbed(t, b)
	for name, took := range map[string]time.Duration{"busy": time.Second, "held": 10 * time.Minute} { // between calls, and while one is held
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &system{t: t, store: store.NewMemory(), ledger: tuner.LedgerOptions{LeaseTTL: 2 * time.Minute, Straggles: -1}}
				s.begin()
				defer func() { s.stop() }()
				size := b
				if took > time.Minute {
					size = tunertest.Bundle{Size: 1} // the other has it
				}
				id := s.submit(size).ID
				far := &wire{s: s}
				conn := far.connect()
				defer far.leave(conn)
				var mu sync.Mutex
				var silent, heard time.Time
				n := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
					began := time.Now()
					err := call(ctx, out)
					mu.Lock()
					defer mu.Unlock()
					if err == nil && heard.IsZero() && !silent.IsZero() && began.After(silent) {
						heard = began // it may be held
					}
					return err
				}}
				dropped := make(chan time.Duration, 1)
				go func() {
					time.Sleep(5 * time.Second)
					at := time.Now()
					mu.Lock()
					silent = at
					mu.Unlock()
					far.open.Range(func(end, _ any) bool {
						e := end.(*wireEnd)
						e.half.Store(true)
						e.mute.Store(true)
						e.deaf.Store(true)
						go func() { // what the coordinator sends goes nowhere, until it gives up
							drain(e.Conn)
							dropped <- time.Since(at)
							_ = e.Conn.Close()
						}()
						return true
					})
				}()
				other := s.connect()
				defer other.Close()
				var first sync.WaitGroup
				first.Go(func() { run(t, s.worker("near", 1, took, other)) })
				time.Sleep(time.Second)
				run(t, s.worker("far", 1, took, n))
				first.Wait()
				mu.Lock()
				defer mu.Unlock()
				if took := heard.Sub(silent); heard.IsZero() || took > noticed+5*time.Second {
					t.Errorf("the worker came back after %v, want %v and a pause", took, noticed)
				}
				d := <-dropped
				t.Logf("the worker came back after %v, the coordinator let go after %v", heard.Sub(silent), d)
				if d > noticed+time.Second {
					t.Errorf("the coordinator let the connection go after %v, want %v", d, noticed)
				}
				if sweep, err := s.c.Sweep(t.Context(), id); err != nil || sweep.Counts.Requeued != 0 {
					t.Errorf("%+v (%v)", sweep.Counts, err)
				}
				if got := s.table(id); size == b && got != want {
					t.Errorf("table differs from an undisturbed one:\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// Five hundred workers lose the coordinator at one moment and come back when it
// does: all within 15 s, not all at once, and no lease is lost.
func TestManyReconnect(t *testing.T) {
	many := 500
	if testing.Short() {
		many = 100
	}
	synctest.Test(t, func(t *testing.T) {
		s := onDisk(t)
		defer func() { s.stop() }()
		id := s.submit(tunertest.Bundle{Size: int64(2 * many)}).ID
		w := &wire{s: s}
		var mu sync.Mutex
		var up time.Time
		back := map[int]time.Duration{}
		var all []*worker.Worker
		for i := range many {
			conn := w.connect()
			defer func() { _ = conn.Close() }()
			n := &network{conn, func(ctx context.Context, _ string, _, out any, call func(context.Context, any) error) error {
				err := call(ctx, out)
				mu.Lock()
				defer mu.Unlock()
				if _, again := back[i]; err == nil && !again && !up.IsZero() {
					back[i] = time.Since(up)
				}
				return err
			}}
			all = append(all, s.worker(fmt.Sprint("w", i), 1, 30*time.Second, n))
		}
		go func() {
			time.Sleep(10 * time.Second)
			s.stop()
			time.Sleep(20 * time.Second)
			s.begin()
			mu.Lock()
			up = time.Now()
			mu.Unlock()
		}()
		run(t, all...)
		w.ends.Wait()
		var times []time.Duration
		slots := map[time.Duration]int{}
		for _, d := range back {
			times = append(times, d)
			slots[d.Truncate(500*time.Millisecond)]++
		}
		slices.Sort(times)
		if len(times) != many || times[many-1] > 15*time.Second {
			t.Errorf("%d of %d are back, the last after %v", len(times), many, times[len(times)-1])
		}
		for at, n := range slots {
			if n > many/2 {
				t.Errorf("%d of %d came within the half second after %v", n, many, at)
			}
		}
		sweep, err := s.c.Sweep(t.Context(), id)
		if err != nil || sweep.Counts.Requeued != 0 || sweep.Counts.Done != int64(2*many) {
			t.Errorf("%+v (%v)", sweep.Counts, err)
		}
		t.Logf("half are back after %v, the last after %v", times[len(times)/2], times[len(times)-1])
	})
}
