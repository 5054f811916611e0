package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Who interrupts tune, changes the definition and tunes again is told what has changed. Nothing is begun
// until it is accepted; then what stays is not evaluated again, and the sweep of before is cancelled.
func TestChangedDefinition(t *testing.T) {
	g := newGate(t, 40)
	db := filepath.Join(t.TempDir(), "x.db")
	tune := append([]string{"tune", "--db", db, "--slots", "1"}, g.sweep...)
	p := start(t, "warptune", tune...)
	g.pass(t, 12)
	done := 0
	for until := time.Now().Add(patience); done < 10; time.Sleep(50 * time.Millisecond) {
		if out, _, code := try(t, "sweep", "list", "--json", "--db", db); code == 0 && strings.Contains(out, "SWEEP_STATE_RUNNING") {
			done = stored(t, db)
		}
		if time.Now().After(until) {
			t.Fatalf("%d configurations are stored:\n%s", done, p.log)
		}
	}
	p.signal(t, syscall.SIGINT)
	g.pass(t, 13) // what is being evaluated ends
	if code := p.wait(t); code != 1 {
		t.Errorf("interrupted: exit status %d, want 1", code)
	}
	done = stored(t, db)

	definition := filepath.Join(g.dir, "gated.json")
	text, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	write(t, definition, []byte(strings.Replace(string(text), "range(0, 40)", "range(0, 50) if i % 8 != 7", 1)), 0o644)
	_, stderr, code := try(t, tune...)
	for _, want := range []string{"has changed since it was begun: parameter TURN; configurations: 35 stay, 9 are added (TURN=40, …), 5 are removed (TURN=7, …)", `"--accept"`} {
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("the changed definition: exit status %d, want 1 with %q: %s", code, want, stderr)
		}
	}
	if n := stored(t, db); n != done { // which wants one sweep, too
		t.Errorf("%d configurations are stored then, %d before", n, done)
	}

	g.pass(t, 60)
	_, stderr, code = try(t, append(tune, "--accept")...)
	stay := done - done/8 // of those that are done
	if code != 0 || number(t, stderr, `(\d+) answered from earlier results`) != stay {
		t.Errorf("accepted: exit status %d, want 0 with %d answered from earlier results: %s", code, stay, stderr)
	}
	if list := warptune(t, "sweep", "list", "--db", db); !strings.Contains(list, "cancelled") || !strings.Contains(list, "completed") {
		t.Errorf("the sweeps afterwards:\n%s", list)
	}
	if _, stderr, code := try(t, tune...); code != 0 || !strings.Contains(stderr, "nothing evaluated") {
		t.Errorf("asked again: exit status %d, %s", code, stderr)
	}
}
