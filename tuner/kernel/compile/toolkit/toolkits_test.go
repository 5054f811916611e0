package toolkit

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestToolkitPrograms: nvcc is found where Python's packages put it, the newest release first.
func TestToolkitPrograms(t *testing.T) {
	env := t.TempDir()
	t.Setenv("VIRTUAL_ENV", env)
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("CUDA_HOME", "")
	var want []string
	for _, dir := range []string{"cu13", "cu9", "cuda_nvcc"} {
		path := filepath.Join(env, "lib", "python3.12", "site-packages", "nvidia", dir, "bin", "nvcc")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	var got []string
	for _, p := range Programs("nvcc") {
		if slices.Contains(want, p) && !slices.Contains(got, p) {
			got = append(got, p)
		}
	}
	// "cu*" takes cuda_nvcc in, too; a release stands before it.
	if i, j := slices.Index(got, want[0]), slices.Index(got, want[1]); len(got) != 3 || i < 0 || i > j {
		t.Errorf("found %q, want %q", got, want)
	}
}
