package e2e

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/record"
	"github.com/warptune/warptune/tuner/tunertest"
)

// launchFolder is a folder of the launch records of some kernels measured on Hopper, beside the
// repository.
func launchFolder(t *testing.T, kernels ...string) string {
	t.Helper()
	shared := filepath.Join("..", "..", "..", "..", "shared", "hopper", "h100")
	f, err := os.Open(filepath.Join(shared, "launches.jsonl.gz"))
	if err != nil {
		t.Skip("the measured launches are not here: ", err)
	}
	defer f.Close()
	all, _, err := record.Read("launches", f)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(shared, "ptx.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ptx"), 0o755); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for i := range all {
		if !strings.Contains(strings.Join(kernels, " "), all[i].Kernel) {
			continue
		}
		lines.Write(append(all[i].Raw, '\n'))
		name := all[i].PTX + ".ptx"
		in, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "ptx", name), text)
	}
	writeFile(t, filepath.Join(dir, "launches.jsonl"), lines.Bytes())
	return dir
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A folder of launch records is tuned by workers of a coordinator to the tables of an embedded run,
// whatever is killed on the way, and their definition and PTX need not be where the workers are.
func TestLaunchRecords(t *testing.T) {
	dir := launchFolder(t, "xent_fused", "ln_back_rows")
	sweep := []string{dir, "--arch", "h100", "--level", "model"}
	want := embedded(t, sweep)
	if n := strings.Count(want.best, `"time_us"`); n != 2 {
		t.Fatalf("%d groups have a best of 2:\n%s", n, want.best)
	}
	data, address := t.TempDir(), tunertest.FreeAddress(t)
	c := coordinate(t, address, data)
	id := submit(t, address, sweep...)
	start(t, "worker", "--coordinator", address)
	victim := start(t, "worker", "--coordinator", address)
	reach(t, address, id, "under way", done(3))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.kill(t)
	victim.kill(t)
	coordinate(t, address, data)
	start(t, "worker", "--coordinator", address)
	list, err := sweeps(t, address).List(t.Context(), &warptunev1.ListRequest{})
	if err != nil || len(list.GetSweeps()) != 2 {
		t.Fatalf("%d sweeps of 2, %v", len(list.GetSweeps()), err)
	}
	for _, s := range list.GetSweeps() {
		reach(t, address, s.GetId(), "complete", inState(warptunev1.SweepState_SWEEP_STATE_COMPLETED))
	}
	exported(t, "--coordinator", address).compare(t, want)
}
