package e2e

import (
	"strings"
	"syscall"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

func TestWorkerExitStatus(t *testing.T) {
	for line, want := range map[string]int{
		"--help":                                  0,
		"":                                        64,
		"--coordinator nowhere":                   64,
		"--coordinator localhost:1 --slots none":  64,
		"--coordinator localhost:1 --slots 0":     64,
		"--coordinator localhost:1 more":          64,
		"--coordinator localhost:1 --tls-cert x":  64,
		"--coordinator localhost:1 --id \xff":     64,
		"--coordinator localhost:1 --id a\x1b[2J": 64,
		"--coordinator localhost:1 --fast":        64,
		"--coordinator localhost:1 --lifetime 1s": 75, // drained without ever having met it
	} {
		w := start(t, "worker", strings.Fields(line)...)
		if code := w.wait(t); code != want {
			t.Errorf("worker %s: exit status %d, want %d", line, code, want)
		}
		if want == 64 && strings.Count(w.log.String(), "\n") != 1 {
			t.Errorf("worker %s: want one line, got:\n%s", line, w.log)
		}
	}
}

// A drained worker ends with status 75, and what it held goes to the next at once.
func TestWorkerDrains(t *testing.T) {
	address := tunertest.FreeAddress(t)
	coordinate(t, address, t.TempDir(), "--lease", "10m")
	g := newGate(t, 3000)
	id := submit(t, address, g.sweep...)
	g.pass(t, 21)
	drained := start(t, "worker", "--coordinator", address, "--slots", "1")
	reach(t, address, id, "under way", done(1))
	drained.signal(t, syscall.SIGTERM)
	drained.says(t, "draining")
	g.open(t)
	drained.signal(t, syscall.SIGTERM) // a batch system tells the script and the worker, and the script the worker
	if code := drained.wait(t); code != 75 {
		t.Errorf("SIGTERM twice: exit status %d, want 75", code)
	}
	reach(t, address, id, "free of leases", func(s *warptunev1.Sweep) bool { return s.GetCounts().GetLeased() == 0 })
	aged := start(t, "worker", "--coordinator", address, "--slots", "1", "--lifetime", "300ms")
	if code := aged.wait(t); code != 75 {
		t.Errorf("--lifetime: exit status %d, want 75", code)
	}
	reach(t, address, id, "free of leases", func(s *warptunev1.Sweep) bool { return s.GetCounts().GetLeased() == 0 })
}

// A batch system tells a coordinator and its workers at once. The coordinator
// stays until they have returned what they held, so that nobody waits for leases
// to run out.
func TestAllAreStoppedAtOnce(t *testing.T) {
	address, data := tunertest.FreeAddress(t), t.TempDir()
	c := coordinate(t, address, data, "--lease", "10m", "--grace", "1m")
	g := newGate(t, 3000)
	id := submit(t, address, g.sweep...)
	g.pass(t, 21)
	w := start(t, "worker", "--coordinator", address, "--slots", "2")
	reach(t, address, id, "under way", done(1))
	c.signal(t, syscall.SIGTERM)
	w.signal(t, syscall.SIGTERM)
	w.says(t, "draining")
	g.open(t)
	if code := w.wait(t); code != 75 {
		t.Errorf("worker: exit status %d, want 75", code)
	}
	if code := c.wait(t); code != 0 {
		t.Errorf("coordinator: exit status %d, want 0", code)
	}
	if text := w.log.String(); strings.Contains(text, "leaving with reports") {
		t.Errorf("the coordinator did not take the worker's reports:\n%s", text)
	}
	coordinate(t, address, data)
	got, err := sweeps(t, address).Get(t.Context(), &warptunev1.GetRequest{Id: id})
	if n := got.GetSweep().GetCounts(); err != nil || n.GetLeased() != 0 || n.GetDone() < 1 {
		t.Errorf("afterwards %d are leased and %d done (%v)", n.GetLeased(), n.GetDone(), err)
	}
}

// A worker of another simulator version is refused by name and is a fault.
func TestWorkerOfAnotherVersion(t *testing.T) {
	address := tunertest.FreeAddress(t)
	coordinate(t, address, t.TempDir())
	id := submit(t, address, small...)
	client := sweeps(t, address)
	got, err := client.Get(t.Context(), &warptunev1.GetRequest{Id: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Cancel(t.Context(), &warptunev1.CancelRequest{Id: id}); err != nil {
		t.Fatal(err)
	}
	spec := got.GetSweep().GetSpec()
	spec.Engine = "0-of-long-ago"
	if _, err := client.Submit(t.Context(), &warptunev1.SubmitRequest{Spec: spec}); err != nil {
		t.Fatal(err)
	}
	w := start(t, "worker", "--coordinator", address, "--id", "newer")
	if code := w.wait(t); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	lines := strings.Split(strings.TrimSpace(w.log.String()), "\n")
	last := lines[len(lines)-1]
	for _, part := range []string{"worker: worker newer", `"0-of-long-ago"`, "start a worker of that version, or submit the sweep anew"} {
		if !strings.Contains(last, part) {
			t.Errorf("the last line does not say %q: %s", part, last)
		}
	}
}
