package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/tunertest"
)

// A database that a coordinator has made is synced, and so is its name, before the
// coordinator serves: no power cut takes away the file that others were told of.
func TestNewDatabasesAreSynced(t *testing.T) {
	under(t) // or skip
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal(err)
	}
	dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	path := filepath.Join(dir, "sweeps.db")
	said := make(chan struct{}, 1)
	r := role{Address: tunertest.FreeAddress(t), Path: path}
	p, err := r.start(func(string) { said <- struct{}{} }, strace, "-f", "-y", "-qq", "-o", trace, "-e", "trace=rename,renameat,renameat2,fsync,fdatasync,write")
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	select {
	case <-said:
	case <-p.done:
		t.Fatalf("it ended:\n%s", &p.stderr)
	}
	p.kill()
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct{ what, call, of string }{
		{"the file is synced", "sync(", "<" + path + ".new-"},
		{"it gets its name", "rename", "\"" + path + "\""},
		{"the name is synced", "fsync(", "<" + dir + ">"},
		{"it serves", "write(", "\"serving"},
	}
	for line := range strings.Lines(string(text)) {
		if len(steps) > 0 && strings.Contains(line, steps[0].call) && strings.Contains(line, steps[0].of) {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 {
		t.Errorf("in the order of system calls it is not so that %s:\n%s", steps[0].what, text)
	}
}
