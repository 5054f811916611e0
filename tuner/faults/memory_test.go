package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Bounds on the coordinator's memory, in bytes: what it is given, beyond which the
// kernel ends it, and what it may need.
const (
	givenMemory  = 512 << 20
	neededMemory = 300 << 20
)

// limited returns a command line that runs a process with so much memory, file pages
// included; nil where there are no control groups to do that.
func limited(t *testing.T, bytes int64) []string {
	t.Helper()
	for _, kind := range []struct{ root, limit, members string }{
		{"/sys/fs/cgroup", "memory.max", "cgroup.procs"}, {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "cgroup.procs"},
	} {
		group := filepath.Join(kind.root, fmt.Sprintf("warptune-%d", os.Getpid()))
		if err := os.Mkdir(group, 0o755); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(group, kind.members)); err != nil { // of no control group file system
			_ = os.Remove(group)
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		if err := os.WriteFile(filepath.Join(group, kind.limit), []byte(fmt.Sprint(bytes)), 0o600); err != nil {
			continue
		}
		return []string{"sh", "-c", `echo $$ > "$0/` + kind.members + `" && exec "$@"`, group}
	}
	t.Log("no control groups here: the coordinator's memory is measured, and not limited")
	return nil
}

// peak is the most memory that a process had at a time, in bytes, file pages
// included; 0: it is not known.
func (p *process) peak() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		var kib int64
		if _, e := fmt.Sscanf(line, "VmHWM: %d kB", &kib); e == nil && err == nil {
			return kib << 10
		}
	}
	return 0
}

// A sweep of a million configurations needs no memory for each of them: the
// coordinator runs it in half a gigabyte, and goes on in that after it was killed.
func TestMillionInLittleMemory(t *testing.T) {
	most := int64(tunertest.Times(30_000, 1_000_000)) // results
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: 1_000_000})
	s.calm()
	inside := limited(t, givenMemory)
	o := observe(t, s.address)
	var workers []*process
	for i := range 4 {
		w := s.worker(fmt.Sprint("w", i))
		w.Slots, w.Stay = 8, true
		p, err := w.start(s.witness.hear)
		if err != nil {
			t.Fatal(err)
		}
		defer p.kill()
		workers = append(workers, p)
	}
	for part := int64(1); part <= 2; part++ {
		c, err := s.coordinator().start(nil, inside...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.kill()
		at := o.wait(t, s.id, func(s *warptunev1.Sweep) bool { return s.GetCounts().GetDone() >= most*part/2 })
		peak := c.peak()
		t.Logf("%d of %d results: %d MiB", at.GetCounts().GetDone(), at.GetCounts().GetTotal(), peak>>20)
		if peak == 0 {
			t.Skip("no /proc: memory is not measured here")
		}
		if peak > neededMemory {
			t.Errorf("with %d results it needed %d MiB, want at most %d", at.GetCounts().GetDone(), peak>>20, neededMemory>>20)
		}
		if at.GetCounts().GetTotal() != 1_000_000 {
			t.Errorf("the sweep has %d configurations", at.GetCounts().GetTotal())
		}
		if errors.Is(syscall.Kill(c.cmd.Process.Pid, 0), syscall.ESRCH) {
			t.Errorf("the coordinator has ended: %v\n%s", c.cmd.ProcessState, &c.stderr)
		}
		c.kill()
	}
	for _, p := range workers {
		p.kill()
	}
	st := open(t, s.path)
	rows, err := st.Results(s.num, 0, 1000)
	if err != nil || len(rows) != 1000 {
		t.Errorf("%d rows (%v)", len(rows), err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
