package replay

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRelative: a page and its plots may be named from anywhere, each its own way.
func TestRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"docs", "docs/search"}, {"docs", filepath.Join(here, "docs/search")}, {filepath.Join(here, "docs"), "docs/search"}} {
		if got, err := relative(c[0], c[1]); got != "search" || err != nil {
			t.Errorf("relative(%q, %q) is %q, %v; want search", c[0], c[1], got, err)
		}
	}
}
