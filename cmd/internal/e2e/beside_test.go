package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// While a tune runs on a database, other processes look at it through that one: list,
// status, best, export and a tune that is answered. What was watched is seen to its end.
func TestDatabaseInUse(t *testing.T) {
	g := newGate(t, 30)
	db := filepath.Join(t.TempDir(), "x.db")
	finished := warptune(t, append([]string{"tune", "--db", db}, small...)...)
	g.pass(t, 12)
	tune := start(t, "warptune", append([]string{"tune", "--db", db, "--slots", "1"}, g.sweep...)...)
	tune.says(t, `\d+ of 30 configurations`)
	if info, err := os.Stat(db + ".sock"); err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("the socket: %v (%v)", info, err)
	}
	var id string
	for end := time.Now().Add(patience); id == "" && time.Now().Before(end); { // what is done is stored
		if m := regexp.MustCompile(`(\w+) +gated +h200 +16384 +running +1[0-9] `).FindStringSubmatch(warptune(t, "sweep", "list", "--db", db)); m != nil {
			id = m[1]
		}
	}
	if id == "" {
		t.Fatal("the sweep is not seen to go on")
	}
	if out := warptune(t, "sweep", "status", id, "--db", db); !regexp.MustCompile(`of 30 done`).MatchString(out) {
		t.Errorf("status says %s", out)
	}
	if out := warptune(t, "best", g.sweep[0], "--arch", "h200", "--db", db); !strings.Contains(out, "exact match") {
		t.Errorf("best says %s", out)
	}
	if out := warptune(t, "export", "--all", "--format", "csv", "--db", db); strings.Count(out, "\ngated,") < 10 {
		t.Errorf("export says %s", out)
	}
	if out, stderr, code := try(t, append([]string{"tune", "--db", db}, small...)...); code != 0 || out != finished || !strings.Contains(stderr, "nothing evaluated") {
		t.Errorf("a tune that is answered: status %d, %s, %s", code, out, stderr)
	}
	watch := start(t, "warptune", "sweep", "watch", id, "--db", db)
	watch.says(t, `\d+ of 30 configurations`)
	g.open(t)
	if code := tune.wait(t); code != 0 {
		t.Errorf("tune ends with status %d", code)
	}
	if code := watch.wait(t); code != 0 || !strings.Contains(watch.log.String(), "30 of 30 done") {
		t.Errorf("watch ends with status %d", code)
	}
	if _, err := os.Stat(db + ".sock"); err == nil {
		t.Error("the socket is still there")
	}
}

// A tune beside another one on the same database joins it: its sweep is taken by whoever has the database, and it helps
// with all. When that process is killed, it takes the database and ends its own sweep; the other one's stays as it is,
// for the same command to go on with.
func TestTuneBesideATune(t *testing.T) {
	g := newGate(t, 30)
	db := filepath.Join(t.TempDir(), "x.db")
	g.pass(t, 12)
	first := start(t, "warptune", append([]string{"tune", "--db", db, "--slots", "1"}, g.sweep...)...)
	first.says(t, `1[0-9] of 30 configurations`)
	second := start(t, "warptune", append([]string{"tune", "--db", db, "--slots", "1"}, long...)...)
	for end := time.Now().Add(patience); !regexp.MustCompile(`transpose_tiled.*running.*\n.*gated.*running`).MatchString(warptune(t, "sweep", "list", "--db", db)); {
		if time.Now().After(end) {
			t.Fatalf("the second sweep is not taken:\n%s\n%s", warptune(t, "sweep", "list", "--db", db), second.log)
		}
	}
	first.kill(t)
	second.says(t, "the process that had the database has ended; going on")
	if code := second.wait(t); code != 0 {
		t.Fatalf("the second ends with status %d:\n%s", code, second.log)
	}
	if out := warptune(t, "sweep", "list", "--db", db); !regexp.MustCompile(`gated.* running +1[0-9] +30 `).MatchString(out) || strings.Count(out, "completed") != 1 {
		t.Errorf("left is %s", out)
	}
	g.open(t)
	if out, stderr, code := try(t, append([]string{"tune", "--db", db}, g.sweep...)...); code != 0 || !strings.Contains(stderr, "resuming: 1") {
		t.Errorf("the first again: status %d, %s, %s", code, out, stderr)
	}
}

// A socket of a process that was killed is in nobody's way. A sweep that nobody
// evaluates for is not waited for.
func TestDatabaseOfAKilledProcess(t *testing.T) {
	g := newGate(t, 30)
	db := filepath.Join(t.TempDir(), "x.db")
	g.pass(t, 3)
	tune := start(t, "warptune", append([]string{"tune", "--db", db, "--slots", "1"}, g.sweep...)...)
	tune.says(t, `\d+ of 30 configurations`)
	tune.signal(t, syscall.SIGKILL)
	<-tune.done
	if _, err := os.Stat(db + ".sock"); err != nil {
		t.Fatalf("there is no socket left to test with: %v", err)
	}
	m := regexp.MustCompile(`(\w+) +gated`).FindStringSubmatch(warptune(t, "sweep", "list", "--db", db))
	if m == nil {
		t.Fatal("the sweep is not listed")
	}
	if _, stderr, code := try(t, "sweep", "watch", m[1], "--db", db); code != 1 || !strings.Contains(stderr, "nobody evaluates for it") {
		t.Errorf("watch: status %d, %s", code, stderr)
	}
	if _, stderr, code := try(t, append([]string{"sweep", "submit", "--db", db}, small...)...); code != 2 || !strings.Contains(stderr, "--coordinator") || !strings.Contains(stderr, "warptune tune") {
		t.Errorf("submit: status %d, %s", code, stderr)
	}
}
