package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

// scores are the lines of fidelity's output but for what it cost.
func scores(out string) string {
	before, _, _ := strings.Cut(out, "cost of a configuration")
	return before
}

// A data set by name is scored as its files are; what flags would say twice is refused.
func TestFidelityOfADataset(t *testing.T) {
	const dir, name = "../../deploy/calibrate/datasets", "h200-constant-tables"
	m, err := datasets.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	common := []string{"fidelity", "--level", "model", "--sample", "9"}
	byName := warptune(t, append(common, "--dataset", name, "--datasets", dir)...).ok(t).stdout
	byFiles := warptune(t, append(common, "--arch", s.Arch, "--timings", s.Path(s.Files.Timings),
		"--kernels", s.Path(s.Files.Kernels), "--ptx-dir", s.Path(s.Files.PTX))...).ok(t).stdout
	if scores(byName) != scores(byFiles) || !strings.Contains(byName, "9 configurations") {
		t.Errorf("by name\n%s\nby its files\n%s", byName, byFiles)
	}
	set := func(args ...string) result {
		return warptune(t, append([]string{"fidelity", "--level", "model", "--sample", "2", "--datasets", dir, "--dataset"}, args...)...)
	}
	set("nothing").refused(t, exitUsage, "h200-built-in", "all")
	set(name, "--arch", "h100").refused(t, exitUsage, "--arch")
	set(name, "--counters").refused(t, exitUsage, "profiled", name)
	set("h200-development").refused(t, exitFailed, "not in the repository")
	set("all", "--predictions", filepath.Join(t.TempDir(), "p")).refused(t, exitUsage, "--predictions")
	out := set("all").ok(t).stdout
	for _, here := range m.Here() {
		if !strings.Contains(out, "# "+here.Name+"\n") {
			t.Errorf("all has no %s", here.Name)
		}
	}
	warptune(t, "fidelity", "--dataset", name, "--datasets", t.TempDir()).refused(t, exitFailed, "manifest.json", "--datasets")
}
