package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// A configuration at which the only worker fails, though it evaluates others, is
// given up. Every command that answers from its sweep then says that it is
// incomplete, and ends with status 3, until it has been tried again.
func TestIncomplete(t *testing.T) {
	const size = 20
	g := newGate(t, size)
	g.open(t)
	poison := filepath.Join(g.dir, gateEnd)
	if err := os.WriteFile(poison, []byte("7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := tunertest.FreeAddress(t)
	coordinate(t, address, t.TempDir())
	id := submit(t, address, g.sweep...)
	start(t, "worker", "--coordinator", address, "--slots", "1", "--stay")
	answers := map[string][]string{
		"watch":  {"sweep", "watch", "--coordinator", address, id},
		"status": {"sweep", "status", "--coordinator", address, id},
		"best":   {"best", "--coordinator", address, g.sweep[0], "--arch", "h200"},
		"export": {"export", "--coordinator", address},
		"tune":   append([]string{"tune", "--coordinator", address}, g.sweep...),
	}
	reach(t, address, id, "completed", inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED))
	for name, args := range answers {
		stdout, stderr, code := try(t, args...)
		if code != 3 || stdout == "" || !strings.Contains(stderr, "incomplete: 1 configuration") || !strings.Contains(stderr, "sweep retry") {
			t.Errorf("%s: status %d\n%s%s", name, code, stdout, stderr)
		}
		if name == "status" && (!strings.Contains(stdout, "incomplete") || !strings.Contains(stdout, "1 x abandoned")) {
			t.Errorf("the status is\n%s", stdout)
		}
	}
	if list := warptune(t, "sweep", "list", "--coordinator", address); !strings.Contains(list, "incomplete") {
		t.Errorf("the list is\n%s", list)
	}
	if err := os.Remove(poison); err != nil {
		t.Fatal(err)
	}
	warptune(t, "sweep", "retry", "--coordinator", address, id)
	n := reach(t, address, id, "completed", func(s *warptunev1.Sweep) bool {
		return inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED)(s) && s.GetCounts().GetAbandoned() == 0
	}).GetCounts()
	if n.GetDone() != size {
		t.Errorf("after the retry: %v", n)
	}
	for name, args := range answers {
		if stdout, stderr, code := try(t, args...); code != 0 {
			t.Errorf("%s after the retry: status %d\n%s%s", name, code, stdout, stderr)
		}
	}
	exported(t, "--coordinator", address).compare(t, embedded(t, g.sweep))
	if _, stderr, code := try(t, "sweep", "retry", "--coordinator", address, id); code != 1 || !strings.Contains(stderr, "nothing was given up") {
		t.Errorf("another retry: status %d, %s", code, stderr)
	}
}
