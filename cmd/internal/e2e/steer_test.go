package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// A sweep is paused, resumed, cancelled, submitted again and deleted, and says so.
func TestSteering(t *testing.T) {
	address := tunertest.FreeAddress(t)
	coordinate(t, address, t.TempDir())
	g := newGate(t, 3000)
	id := submit(t, address, g.sweep...)
	steer := func(verb string) string {
		t.Helper()
		return warptune(t, "sweep", verb, "--coordinator", address, id[:8])
	}
	worker := start(t, "worker", "--coordinator", address, "--slots", "1")
	g.pass(t, 21)
	reach(t, address, id, "under way", done(5))
	if out := steer("pause"); !strings.Contains(out, "paused") {
		t.Errorf("pause says:\n%s", out)
	}
	n := reach(t, address, id, "paused", inState(warptunev1.SweepState_SWEEP_STATE_PAUSED)).GetCounts()
	g.pass(t, int(n.GetDone()+n.GetLeased())) // all that was granted
	held := reach(t, address, id, "at rest", func(s *warptunev1.Sweep) bool { return s.GetCounts().GetLeased() == 0 }).GetCounts()
	if held.GetDone() >= held.GetTotal() {
		t.Fatalf("the sweep completed before it could be paused: %v", held)
	}
	if _, stderr, code := try(t, "sweep", "delete", "--coordinator", address, id); code != 1 || !strings.Contains(stderr, "cancel it first") {
		t.Errorf("delete of a paused sweep: exit status %d, %s", code, stderr)
	}
	steer("resume")
	g.pass(t, int(held.GetDone())+6)
	reach(t, address, id, "further", done(held.GetDone()+5))
	steer("cancel")
	g.open(t)
	if code := worker.wait(t); code != 0 {
		t.Errorf("with nothing left to do: exit status %d, want 0", code)
	}
	kept := reach(t, address, id, "cancelled", inState(warptunev1.SweepState_SWEEP_STATE_CANCELLED)).GetCounts().GetDone()
	again := reach(t, address, submit(t, address, g.sweep...), "resumed", inState(warptunev1.SweepState_SWEEP_STATE_RUNNING))
	if again.GetId() != id || again.GetCounts().GetDone() != kept {
		t.Errorf("submitted again: sweep %s with %d done, want %s with %d", again.GetId(), again.GetCounts().GetDone(), id, kept)
	}
	steer("cancel")
	steer("delete")
	if out := warptune(t, "sweep", "audit", "--coordinator", address, id[:8]); strings.Count(out, " at 127.") != 8 || !strings.Contains(out, "refused: conflict") || !strings.Contains(out, "delete") {
		t.Errorf("the audit log says:\n%s", out)
	}
	// It is deleted a part at a time, and has a status until it is gone.
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_, stderr, code := try(t, "sweep", "status", "--coordinator", address, id)
	for code == 0 && ctx.Err() == nil {
		_, stderr, code = try(t, "sweep", "status", "--coordinator", address, id)
	}
	if code != 1 || !strings.Contains(stderr, id) {
		t.Errorf("status of a deleted sweep: exit status %d, %s", code, stderr)
	}
}

// Several architectures and problem sizes are a sweep each, embedded and on a
// fleet, with equal tables.
func TestSeveralSweeps(t *testing.T) {
	several := []string{"copy", "--arch", "h200,a100", "--problem", "65536,131072", "--level", "model"}
	want := embedded(t, several)
	for _, arch := range []string{"h200", "a100"} {
		for _, problem := range []int{65536, 131072} {
			row := fmt.Sprintf("\"arch\": \"%s\",\n", arch)
			size := fmt.Sprintf("\"problem_size\": [\n        %d\n", problem)
			if n := strings.Count(want.best, row); n != 2 {
				t.Errorf("%d best rows of %s, want 2", n, arch)
			}
			if n := strings.Count(want.best, size); n != 2 {
				t.Errorf("%d best rows of problem size %d, want 2", n, problem)
			}
		}
	}
	address := tunertest.FreeAddress(t)
	coordinate(t, address, t.TempDir())
	submit(t, address, several...)
	w := start(t, "worker", "--coordinator", address)
	if code := w.wait(t); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
	exported(t, "--coordinator", address).compare(t, want)
}

// A port that is taken, and a database that is locked or cannot be written, are
// told in one line with what to do.
func TestCoordinatorRefuses(t *testing.T) {
	address, data := tunertest.FreeAddress(t), t.TempDir()
	coordinate(t, address, data)
	readOnly := t.TempDir()
	if err := os.Chmod(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup // some wait a while for a lock
	for _, tt := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"coordinator", []string{"--listen", address, "--data", t.TempDir()}, 1, []string{address, "in use", "another --listen"}},
		{"coordinator", []string{"--listen", "localhost:0", "--data", data}, 1, []string{"held by process", "(coordinator)", "stop it"}},
		{"warptune", []string{"export", "--db", filepath.Join(data, "warptune.db")}, 1, []string{"held by process", "(coordinator)", "stop it"}},
		{"coordinator", []string{"--listen", "localhost:0", "--data", readOnly}, 1, []string{readOnly, "permission denied", "another --data"}},
		{"warptune", []string{"tune", "copy", "--arch", "h200", "--db", filepath.Join(readOnly, "x.db")}, 1, []string{readOnly, "permission denied", "--db"}},
		{"coordinator", []string{"--listen", "localhost:0"}, 2, []string{"--data is required"}},
		{"coordinator", []string{"--listen", "here", "--data", data}, 2, []string{`"here"`, "HOST:PORT"}},
		{"coordinator", []string{"--listen", "0.0.0.0:0", "--data", data}, 2, []string{"--insecure"}},
		{"coordinator", []string{"--fast"}, 2, []string{"-fast", "--help"}},
	} {
		cmd := command(t, tt.name, tt.args...)
		if os.Geteuid() == 0 && strings.Contains(strings.Join(tt.args, " "), readOnly) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		wg.Go(func() { refuses(t, cmd, tt.code, tt.want) })
	}
	wg.Wait()
}

// refuses fails the test unless the command ends with the status and one line.
func refuses(t *testing.T, cmd *exec.Cmd, code int, want []string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Error(err)
		return
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit status %d, want %d", cmd, got, code)
	}
	checkLine(t, cmd, string(out), want)
}

func checkLine(t *testing.T, cmd *exec.Cmd, out string, want []string) {
	t.Helper()
	if strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, filepath.Base(cmd.Path)+": ") {
		t.Errorf("%s: want one line, got:\n%s", cmd, out)
	}
	for _, part := range want {
		if !strings.Contains(out, part) {
			t.Errorf("%s: the error does not say %q:\n%s", cmd, part, out)
		}
	}
}
