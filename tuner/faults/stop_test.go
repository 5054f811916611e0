package faults

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// A worker that stands still for longer than its leases last is fenced when it
// goes on: what it then reports is not new. A coordinator that stands still
// takes no leases away, since nobody could renew them.
func TestStopped(t *testing.T) {
	const lease, long = 600 * time.Millisecond, 5 * time.Second
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(4000 * tunertest.Times(1, 10))})
	rng := tunertest.Rand(t)
	s.lease, s.took = long, slowly // longer than workers wait for a processor on a machine with much else to do
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	c := f.up(t)
	for range tunertest.Times(1, 10) {
		s.progress(t)
		c.halt(t)
		time.Sleep(long + lease)
		c.signal(syscall.SIGCONT)
		time.Sleep(lease) // what was under way when it was stopped is done
		s.progress(t)
	}
	if text := c.stderr.String(); strings.Contains(text, "expired") {
		t.Errorf("a coordinator that stood still took leases away:\n%s", text)
	}
	s.mu.Lock()
	s.lease = lease
	s.mu.Unlock()
	c.kill() // the next one grants for as long
	for range tunertest.Times(1, 10) {
		s.progress(t)
		before := s.witness.tardy()
		// One that had nothing under way, or hears that its leases are gone before it
		// reports, has nothing late to say: another stands still.
		for until := time.Now().Add(patience); s.witness.tardy() == before; time.Sleep(lease) {
			if time.Now().After(until) {
				t.Fatal("no worker's late reports are fenced")
			}
			w := f.workers[rng.IntN(8)].process()
			if w == nil { // it has not been started yet
				continue
			}
			w.halt(t)
			time.Sleep(3 * lease)
			w.signal(syscall.SIGCONT)
		}
	}
	s.calm()
	f.wait(t)
	s.verdict(t)
}

// progress waits until something more is acknowledged.
func (s *sweep) progress(t *testing.T) {
	t.Helper()
	known := len(s.witness.all())
	for until := time.Now().Add(patience); len(s.witness.all()) == known; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the sweep makes no progress")
		}
	}
}

// One configuration ends every process that evaluates it, another makes it
// stand still for ever. Both are given up in the end, are named with
// what happened, and the sweep completes without them.
func TestPoison(t *testing.T) {
	const crash, freeze, most = 17, 140, 2 + 20 // lost among others, and alone: the workers live for seconds
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 400})
	s.crash, s.freeze = crash, freeze
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	s.calm()
	frozen := map[*process]bool{} // one that was killed may be seen once more before it is gone
	for ended := 0; ended < len(f.workers); time.Sleep(10 * time.Millisecond) {
		ended = 0
		for _, w := range f.workers {
			select {
			case <-w.ended:
				ended++
			default:
				// As whoever watches over the machine does, in the end.
				if p := w.process(); p != nil && !frozen[p] && p.stopped() && time.Since(p.started) > 2*time.Second {
					frozen[p] = true
					p.kill()
				}
			}
		}
	}
	f.wait(t)
	// Fewer, when it was in the queue of a worker that the other one ended.
	if crashed := f.workerDeaths() - len(frozen); min(crashed, len(frozen)) < 1 || max(crashed, len(frozen)) > most {
		t.Errorf("the poisoned configurations ended %d processes and froze %d, want at most %d", crashed, len(frozen), most)
	}
	got := s.verdict(t, crash, freeze)
	if text := f.coordinator.process().stderr.String(); strings.Count(text, "trial given up") != 2 {
		t.Errorf("the coordinator's log does not name them:\n%s", text)
	}
	for _, e := range got.Examples {
		if e.Kind == "abandoned" && !strings.Contains(e.Message, "expired") {
			t.Errorf("the example of those given up says %q", e.Message)
		}
	}
}
