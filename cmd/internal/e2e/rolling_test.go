package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// earlierEnv names the commit whose programs the present ones are tried with; by
// default it is the twentieth before this one.
const earlierEnv = "WARPTUNE_EARLIER"

// earlier builds the commands of an earlier commit and returns where they are.
func earlier(t *testing.T) func(name string) string {
	t.Helper()
	if tunertest.Times(0, 1) == 0 && os.Getenv("CI") == "" && os.Getenv(earlierEnv) == "" {
		t.Skip("builds the programs of an earlier commit: with WARPTUNE_SOAK, or where CI is set")
	}
	here := module(t)
	git := func(args ...string) ([]byte, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = here
		return cmd.Output()
	}
	commit := os.Getenv(earlierEnv)
	if commit == "" {
		out, err := git("rev-list", "--first-parent", "-n", "1", "--skip=20", "HEAD")
		if commit = strings.TrimSpace(string(out)); err != nil || commit == "" {
			t.Skipf("the history here has no earlier commit (%v)", err)
		}
	}
	tree, err := git("archive", commit)
	if err != nil {
		t.Skipf("the history here has not commit %s (%v)", commit, err)
	}
	source := t.TempDir()
	unpack := exec.Command("tar", "-x", "-C", source)
	unpack.Stdin = bytes.NewReader(tree)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", bin+string(filepath.Separator), "./cmd/coordinator", "./cmd/worker", "./cmd/warptune")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("commit %s: %v\n%s", commit, err, out)
	}
	t.Logf("the earlier programs are of commit %.12s", commit)
	return func(name string) string { return filepath.Join(bin, name) }
}

// In mid-sweep the coordinator of an earlier version is replaced by the present one.
// The worker and the clients of before work on; a present worker works with them where
// its simulator is the one that the sweep was submitted with, and else ends and names
// both. The table is that of the earlier version. The other way round, present workers
// and clients work with an earlier coordinator.
func TestRollingUpgrade(t *testing.T) {
	old := earlier(t)
	version := func(warptune string) string {
		out, err := command(t, warptune, "version", "--json").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	same := simulator(t, version("warptune")) == simulator(t, version(old("warptune")))
	t.Logf("the simulators are the same: %v", same)
	// joins checks what a present worker does at a sweep of the earlier version.
	joins := func(w *process) {
		t.Helper()
		want, says := 1, "has engine"
		if same {
			want, says = 0, ""
		}
		if code := w.wait(t); code != want || !strings.Contains(w.log.String(), says) {
			t.Errorf("a present worker: exit status %d, want %d with %q:\n%s", code, want, says, w.log)
		}
	}

	g := newGate(t, 40)
	address, data := tunertest.FreeAddress(t), t.TempDir()
	serve := func(name, data string) *process {
		t.Helper()
		p := start(t, name, "--listen", address, "--data", data, "--grace", "1s")
		p.says(t, `serving: address=(\S+)`)
		return p
	}
	c := serve(old("coordinator"), data)
	run := func(name string, args ...string) (string, int) {
		t.Helper()
		stdout, stderr, code := tryNamed(t, name, args...)
		return stdout + stderr, code
	}
	if said, code := run(old("warptune"), append([]string{"sweep", "submit", "--coordinator", address}, g.sweep...)...); code != 0 {
		t.Fatal(said)
	}
	list, err := sweeps(t, address).List(t.Context(), &warptunev1.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	id := list.GetSweeps()[0].GetId()
	w := start(t, old("worker"), "--coordinator", address, "--slots", "1", "--id", "earlier")
	g.pass(t, 15)
	reach(t, address, id, "under way", done(10))
	c.signal(t, syscall.SIGTERM)
	if code := c.wait(t); code != 0 {
		t.Errorf("the earlier coordinator: exit status %d", code)
	}

	c = serve("coordinator", data)
	n := start(t, "worker", "--coordinator", address, "--slots", "1", "--id", "present")
	g.pass(t, 30)
	reach(t, address, id, "further", done(20))
	for _, args := range [][]string{{"sweep", "list"}, {"sweep", "status", id}, {"best", g.sweep[0], "--arch", "h200"}} {
		if said, code := run(old("warptune"), append(args, "--coordinator", address)...); code != 0 {
			t.Errorf("an earlier client: %v: exit status %d, %s", args, code, said)
		}
	}
	g.open(t)
	if code := w.wait(t); code != 0 {
		t.Errorf("the earlier worker: exit status %d:\n%s", code, w.log)
	}
	joins(n)
	reach(t, address, id, "complete", inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED))
	got := exported(t, "--coordinator", address)
	c.signal(t, syscall.SIGTERM)
	c.wait(t)
	undisturbed := filepath.Join(t.TempDir(), "x.db")
	if said, code := run(old("warptune"), append([]string{"tune", "--db", undisturbed}, g.sweep...)...); code != 0 {
		t.Fatal(said)
	}
	exported(t, "--db", undisturbed).compare(t, got)

	if upgraded, _ := filepath.Glob(filepath.Join(data, "*.v*.backup")); len(upgraded) > 0 { // there is no way back but the backup
		p := start(t, old("coordinator"), "--listen", address, "--data", data)
		if code := p.wait(t); code != 1 || !strings.Contains(p.log.String(), "use a newer program") {
			t.Errorf("the earlier coordinator on the upgraded database: exit status %d, %s", code, p.log)
		}
	}

	serve(old("coordinator"), t.TempDir())
	if said, code := run(old("warptune"), append([]string{"sweep", "submit", "--coordinator", address}, small...)...); code != 0 {
		t.Fatal(said)
	}
	for _, args := range [][]string{{"sweep", "list"}, {"sweep", "list", "--json"}} {
		if said, code := run("warptune", append(args, "--coordinator", address)...); code != 0 {
			t.Errorf("a present client: %v: exit status %d, %s", args, code, said)
		}
	}
	joins(start(t, "worker", "--coordinator", address, "--slots", "1"))
}

// simulator is what a version says of the simulator.
func simulator(t *testing.T, version string) string {
	t.Helper()
	for line := range strings.Lines(version) {
		if strings.Contains(line, `"simulator"`) || strings.Contains(line, `"engine"`) {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("the version does not name the simulator: %s", version)
	return ""
}
