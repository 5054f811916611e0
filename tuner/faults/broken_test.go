package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Workers whose disk is full fail at everything. They are set aside, by name, and
// nothing that they failed at is held against it: alone they abandon nothing, and
// beside others, who come later, they change nothing.
func TestBrokenWorkers(t *testing.T) {
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 600})
	s.calm()
	c, err := s.coordinator().start(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := observe(t, s.address)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range 4 {
		w := s.worker(fmt.Sprint("broken", i))
		w.Broken = true
		supervise(ctx, t, s.witness.hear, never, func() (role, []string) { return w, nil })
	}
	all := o.wait(t, s.id, func(s *warptunev1.Sweep) bool { return len(s.GetSetAside()) == 4 })
	for i, a := range all.GetSetAside() {
		if a.GetWorker() != fmt.Sprint("broken", i) || !strings.Contains(a.GetWhy(), "no space left on device") || a.GetForMs() <= 0 {
			t.Errorf("set aside: %v", a)
		}
	}
	time.Sleep(6 * time.Second) // one more trial each
	if n := o.wait(t, s.id, func(*warptunev1.Sweep) bool { return true }).GetCounts(); n.GetAbandoned() > 0 || n.GetDone() > 0 || n.GetRequeued() > 80 {
		t.Errorf("with broken workers alone: %v", n)
	}
	for i := range 2 {
		w := s.worker(fmt.Sprint("w", i))
		supervise(ctx, t, s.witness.hear, never, func() (role, []string) { return w, nil })
	}
	o.wait(t, s.id, completed)
	stop()
	c.signal(syscall.SIGTERM)
	<-c.done
	if text := c.stderr.String(); strings.Count(text, "worker set aside") < 2 || strings.Contains(text, "trial given up") {
		t.Errorf("the coordinator says:\n%s", text)
	}
	s.verdict(t)
}

// A disk that is full for a while, on all workers at once and in the middle of a
// sweep, costs nothing but that time.
func TestAllAreBrokenForAWhile(t *testing.T) {
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 1500})
	s.full, s.took = filepath.Join(t.TempDir(), "full"), slowly
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	o := observe(t, s.address)
	o.wait(t, s.id, func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() > 300 })
	touch(t, s.full)
	o.wait(t, s.id, func(s *warptunev1.Sweep) bool { return len(s.GetSetAside()) == len(f.workers) })
	remove(t, s.full)
	o.wait(t, s.id, func(s *warptunev1.Sweep) bool { return len(s.GetSetAside()) == 0 })
	s.calm()
	f.wait(t)
	s.verdict(t)
	if acts := s.acts(t); acts[tuner.ActSetAside] < len(f.workers) || acts[tuner.ActPutBack] == 0 || acts[tuner.ActPutBack] > acts[tuner.ActSetAside] {
		t.Errorf("the audit log says %v", acts)
	}
}
