package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// The database is restored from a copy as docs/OPERATIONS.md has it, while workers
// live on that know sweeps which the copy does not have: the next sweep, which gets
// the number of one of those, ends with its own table.
func TestRestoredUnderWorkers(t *testing.T) {
	of := func(problem string) []string {
		return append([]string{"transpose_tiled", "--arch", "h200", "--problem", problem}, small[5:]...)
	}
	address, data := tunertest.FreeAddress(t), t.TempDir()
	database, backup := filepath.Join(data, "warptune.db"), filepath.Join(t.TempDir(), "copy")
	run := func(sweep []string) *process {
		c := coordinate(t, address, data)
		reach(t, address, submit(t, address, sweep...), "completed", inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED))
		return c
	}
	stop := func(c *process) {
		c.signal(t, syscall.SIGTERM)
		if code := c.wait(t); code != 0 {
			t.Errorf("the coordinator ends with status %d, want 0", code)
		}
	}
	for range 2 {
		start(t, "worker", "--coordinator", address, "--slots", "1", "--stay")
	}
	stop(run(of("1024")))
	copyFile(t, database, backup)
	stop(run(of("2048")))
	if err := os.Rename(database, database+".lost"); err != nil {
		t.Fatal(err)
	}
	copyFile(t, backup, database)
	run(of("512"))
	undisturbed := filepath.Join(t.TempDir(), "db")
	for _, problem := range []string{"1024", "512"} {
		warptune(t, append([]string{"tune", "--db", undisturbed}, of(problem)...)...)
	}
	exported(t, "--coordinator", address).compare(t, exported(t, "--db", undisturbed))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
