package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// never is for processes that must not die by themselves.
func never(*process) bool { return false }

// fleet is a coordinator and eight workers, each started again when it dies.
type fleet struct {
	coordinator *supervised
	workers     []*supervised
	stop        context.CancelFunc
}

func (s *sweep) fleet(t *testing.T, dies func(*process) bool, coordinator func() (role, []string)) *fleet {
	ctx, stop := context.WithCancel(context.Background())
	f := &fleet{stop: stop, coordinator: supervise(ctx, t, nil, dies, coordinator)}
	for i := range 8 {
		w := s.worker(fmt.Sprint("w", i))
		f.workers = append(f.workers, supervise(ctx, t, s.witness.hear, never, func() (role, []string) { return w, s.inside }))
	}
	t.Cleanup(stop) // before it waits for them
	return f
}

// up waits for the coordinator to serve, and returns its process.
func (f *fleet) up(t *testing.T) *process {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if p := f.coordinator.process(); p != nil && p.serves() {
			return p
		}
	}
	t.Fatal("the coordinator does not serve")
	return nil
}

// wait waits until every worker has ended because nothing is left.
func (f *fleet) wait(t *testing.T) {
	t.Helper()
	late := time.After(patience)
	for _, w := range f.workers {
		select {
		case <-w.ended:
		case <-f.coordinator.ended:
			t.Fatal("the coordinator has ended")
		case <-late:
			t.Fatal("the sweep does not end")
		}
	}
	f.stop()
	<-f.coordinator.ended
}

// over reports whether every worker has ended.
func (f *fleet) over() bool {
	for _, w := range f.workers {
		select {
		case <-w.ended:
		default:
			return false
		}
	}
	return true
}

// workerDeaths returns how often workers died.
func (f *fleet) workerDeaths() int {
	n := 0
	for _, w := range f.workers {
		n += w.died()
	}
	return n
}

// deaths draws how coordinators die: half of them before, within or after a
// commit, the others when they are killed.
type deaths struct {
	mu  sync.Mutex
	rng *rand.Rand
	off bool
}

func (d *deaths) draw() *death {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off || d.rng.IntN(2) == 0 {
		return nil
	}
	at := &death{
		Commit: 1 + d.rng.IntN(40), Stage: []stage{before, within, within, after}[d.rng.IntN(4)],
		Delay: time.Duration(d.rng.IntN(3000)) * time.Microsecond,
	}
	if at.Stage == before { // a busy machine takes a while to deliver an answer that does not wait
		at.Delay *= 20
	}
	return at
}

func (d *deaths) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

// The coordinator, workers, and both are killed at random moments, the
// coordinator also within transactions.
func TestKilledAgainAndAgain(t *testing.T) {
	kills := tunertest.Times(6, 100)
	b := tunertest.Bundle{Size: int64(700 * kills), Batch: 40}
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), b)
	s.took = slowly
	rng := tunertest.Rand(t)
	d := &deaths{rng: rand.New(rand.NewPCG(rng.Uint64(), 2))}
	f := s.fleet(t, never, func() (role, []string) {
		r := s.coordinator()
		r.Die = d.draw()
		return r, nil
	})
	for both := 0; f.coordinator.died() < kills || f.workerDeaths() < kills || both < kills; both++ {
		if f.over() {
			t.Error("the sweep ended before the storm did")
			break
		}
		time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
		victims := []*supervised{f.coordinator, f.workers[rng.IntN(8)]}
		switch rng.IntN(4) {
		case 0:
			victims = victims[:1]
		case 1:
			victims = victims[1:]
		}
		for _, v := range victims {
			if p := v.process(); p != nil {
				p.signal(syscall.SIGKILL)
			}
		}
	}
	d.end()
	s.calm()
	if p := f.coordinator.process(); p != nil {
		p.signal(syscall.SIGKILL) // it may have been told to die later
	}
	f.wait(t)
	t.Logf("the coordinator died %d times, workers %d times", f.coordinator.died(), f.workerDeaths())
	s.verdict(t)
}

// Workers are killed, and nothing else, so often that many trials are lost several
// times with whoever holds them. That is nobody's fault but the killer's: with what
// coordinators ship with, no configuration is given up for it.
func TestWorkersKilled(t *testing.T) {
	kills := tunertest.Times(60, 600)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 714, Batch: 40})
	s.took = 300 * time.Millisecond
	rng := tunertest.Rand(t)
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	f.up(t)
	killed := 0
	for ; killed < kills && !f.over(); killed++ {
		time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
		if p := f.workers[rng.IntN(8)].process(); p != nil {
			p.signal(syscall.SIGKILL)
		}
	}
	s.calm()
	f.wait(t)
	t.Logf("workers were killed %d times", killed)
	s.verdict(t)
}

// Two processes of one name, as when a batch system starts a job anew that it holds for dead, are two workers:
// both are useful, and neither is taken for the other when one is killed, or stands still and goes on.
func TestTwoCopiesOfAProcess(t *testing.T) {
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 6000})
	s.took, s.lease = slowly, 5*time.Second // longer than workers wait for a processor
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	f.up(t)
	var copies []*process
	var recorded [2]atomic.Int64
	for i := range recorded {
		p, err := s.worker("copy").start(func(line string) {
			s.witness.hear(line)
			if strings.HasPrefix(line, "recorded") {
				recorded[i].Add(1)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.kill()
		copies = append(copies, p)
	}
	useful := func(which int) {
		t.Helper()
		before := recorded[which].Load()
		for until := time.Now().Add(patience); recorded[which].Load() == before; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("copy %d records nothing:\n%s", which, &copies[which].stderr)
			}
		}
	}
	for range 8 {
		useful(0)
		useful(1)
	}
	if n := s.witness.tardy(); n > 0 {
		t.Errorf("%d reports were of what somebody else held", n)
	}
	copies[0].halt(t)
	useful(1)
	copies[0].signal(syscall.SIGCONT)
	useful(0)
	copies[1].kill()
	useful(0)
	s.calm()
	f.wait(t)
	s.verdict(t)
}
