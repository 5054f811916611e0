package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// Somebody's home is no place where a compiler is installed.
func TestWallKeepsHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	var w Wall
	w.install(filepath.Join(bin, "nvcc"))
	w.install(filepath.Join(home, "cuda", "bin", "nvcc"))
	w.install("/nvcc")
	for _, path := range w.read {
		if path == home || path == filepath.Dir(home) {
			t.Errorf("%s may be read", path)
		}
	}
}
