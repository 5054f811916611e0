package e2e

import (
	"strings"
	"syscall"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Workers that start before their coordinator join it; three give the tables that
// an embedded run gives, and leave when nothing is left.
func TestFleet(t *testing.T) {
	want := embedded(t, small)
	address := tunertest.FreeAddress(t)
	var workers []*process
	for range 3 {
		workers = append(workers, start(t, "worker", "--coordinator", address, "--slots", "1"))
	}
	workers[0].says(t, "does not answer; trying again")
	c := coordinate(t, address, t.TempDir())
	id := submit(t, address, small...)
	if out := warptune(t, "sweep", "watch", "--coordinator", address, id[:6]); !strings.Contains(out, "34 of 34 done") {
		t.Errorf("sweep watch says:\n%s", out)
	}
	for _, w := range workers {
		if code := w.wait(t); code != 0 {
			t.Errorf("a worker with nothing left to do ends with status %d, want 0", code)
		}
	}
	exported(t, "--coordinator", address).compare(t, want)
	c.signal(t, syscall.SIGTERM)
	if code := c.wait(t); code != 0 {
		t.Errorf("the coordinator ends with status %d, want 0", code)
	}
}

// The coordinator and a worker are killed in mid-sweep. The tables are those of an
// undisturbed run, and whoever follows the sweep does so to its end.
func TestFleetKilled(t *testing.T) {
	const size = 120
	g := newGate(t, size)
	address, data := tunertest.FreeAddress(t), t.TempDir()
	c := coordinate(t, address, data, "--lease", "2s")
	id := submit(t, address, g.sweep...)
	g.pass(t, 21)
	first := start(t, "worker", "--coordinator", address, "--slots", "1")
	follower := start(t, "warptune", append([]string{"tune", "--coordinator", address, "--top", "3"}, g.sweep...)...)
	before := reach(t, address, id, "under way", done(20)).GetCounts()
	c.kill(t)
	coordinate(t, address, data, "--lease", "2s")
	after := reach(t, address, id, "restored", func(*warptunev1.Sweep) bool { return true }).GetCounts()
	if after.GetDone() < before.GetDone() || after.GetTotal() != before.GetTotal() {
		t.Errorf("after the restart %v, before it was killed %v", after, before)
	}
	g.pass(t, int(after.GetDone())+21)
	reach(t, address, id, "further", done(after.GetDone()+20))
	first.kill(t)
	g.open(t)
	for range 3 {
		start(t, "worker", "--coordinator", address, "--slots", "1")
	}
	n := reach(t, address, id, "completed", inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED)).GetCounts()
	if n.GetDone() != size || n.GetAbandoned() != 0 || n.GetTotal() != size {
		t.Errorf("at the end %v, want %d done", n, size)
	}
	exported(t, "--coordinator", address).compare(t, embedded(t, g.sweep))
	if code := follower.wait(t); code != 0 || !strings.Contains(follower.log.String(), "120 of 120 configurations evaluated: 120 ran clean") {
		t.Errorf("tune --coordinator ends with status %d", code)
	}
}
