package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// proved is small at both levels, until the best is proven.
var proved = append(append([]string{}, small[:5]...), append([]string{"--budget", "within=0%"}, small[7:]...)...)

// A sweep of two levels finds what evaluating everything finds, for fewer
// evaluations, and proves it; whoever evaluates and whatever is killed on the
// way, it ends with the same tables.
func TestTwoLevels(t *testing.T) {
	everything := filepath.Join(t.TempDir(), "all.db")
	warptune(t, append(append([]string{"tune", "--db", everything, "--level", "cycle"}, small[:5]...), small[7:]...)...)
	all := exported(t, "--db", everything)

	alone := filepath.Join(t.TempDir(), "x.db")
	out := warptune(t, append([]string{"tune", "--db", alone, "--slots", "1"}, proved...)...)
	if !strings.Contains(out, "34 of 34 configurations ranked") || !strings.Contains(out, "proven best of the simulator's predictions of 34: ") {
		t.Errorf("no proof in\n%s", out)
	}
	want := exported(t, "--db", alone)
	if best(want.best) == "" || best(want.best) != best(all.best) {
		t.Errorf("the best is\n%s, of all it is\n%s", want.best, all.best)
	}
	if n, of := strings.Count(want.all, `"time_us"`), strings.Count(all.all, `"time_us"`); n >= of {
		t.Errorf("%d of %d configurations evaluated: nothing is saved", n, of)
	}

	data, address := t.TempDir(), tunertest.FreeAddress(t)
	c := coordinate(t, address, data)
	id := submit(t, address, proved...)
	start(t, "worker", "--coordinator", address, "--slots", "2")
	victim := start(t, "worker", "--coordinator", address, "--slots", "2")
	reach(t, address, id, "under way", done(5))
	c.kill(t)
	victim.kill(t)
	coordinate(t, address, data)
	s := reach(t, address, id, "complete", inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED))
	if p := s.GetProof(); p.Gap == nil || p.GetGap() != 0 || p.GetOf() != 34 || p.GetEvaluated()+p.GetPruned() != 34 {
		t.Errorf("the proof is %v", p)
	}
	exported(t, "--coordinator", address).compare(t, want)
}

// best is the configuration and the time in a table of one row.
func best(table string) string {
	var kept []string
	for _, line := range strings.Split(table, "\n") {
		if !strings.Contains(line, `"sweep"`) && !strings.Contains(line, `"trial"`) && !strings.Contains(line, `"seq"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// A budget of time ends a sweep, and what it came to is the answer when asked
// again; what is best elsewhere is begun with.
func TestTimeBudgetAndTransfer(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	short := append([]string{"tune", "--db", db, "--slots", "1", "--budget", "1ms"}, long...)
	out, progress, code := try(t, short...)
	if code != 0 || !strings.Contains(out, "not proven: ") || !strings.Contains(out, " of 374 configurations were not looked at") {
		t.Fatalf("exit status %d: %s\n%s", code, progress, out)
	}
	if again, progress, code := try(t, short...); code != 0 || again != out || !strings.Contains(progress, "nothing evaluated") {
		t.Errorf("asked again: exit status %d, %s\n%s", code, progress, again)
	}
	out = warptune(t, "tune", "transpose_tiled", "--arch", "h200", "--problem", "2048", "--level", "model", "--db", db, "--strategy", "random", "--budget", "3", "--transfer")
	if !strings.Contains(out, "3 of 374 configurations evaluated") || !strings.Contains(out, "that are best elsewhere") {
		t.Errorf("nothing is transferred:\n%s", out)
	}
}
