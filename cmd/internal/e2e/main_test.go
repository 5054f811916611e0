package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"

	// What the commands are made of, so that a change of it runs these tests again.
	_ "github.com/warptune/warptune/cmd/internal/cluster"
	_ "github.com/warptune/warptune/cmd/internal/evaluate"
	_ "github.com/warptune/warptune/cmd/internal/fidelity"
	_ "github.com/warptune/warptune/tuner/export"
)

// scratch holds the binaries and the processes' home.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "warptune-e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	standin.Clean()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// commands builds the three commands once and returns their folder.
var commands = sync.OnceValues(func() (string, error) {
	for _, name := range []string{"coordinator", "worker", "warptune"} {
		// Reading the sources makes them part of what go test's cache goes by.
		files, err := filepath.Glob(filepath.Join("..", "..", name, "*.go"))
		if err != nil {
			return "", err
		}
		for _, f := range files {
			if _, err := os.ReadFile(f); err != nil {
				return "", err
			}
		}
	}
	bin := filepath.Join(scratch, "bin")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", bin+string(filepath.Separator),
		"../../coordinator", "../../worker", "../../warptune")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	// Unprivileged users must reach the binaries too.
	return bin, os.Chmod(scratch, 0o755)
})

// command is a command line that has not started, in a home of its own. name is one of
// the three commands, or the path of another.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	bin, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(bin, name)
	}
	cmd := exec.Command(name, args...)
	home := filepath.Join(scratch, "home")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home+"/data", "XDG_CACHE_HOME="+home+"/cache")
	return cmd
}
