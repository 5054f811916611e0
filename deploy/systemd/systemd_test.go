// Package systemd has units for a few machines; its test has systemd read them.
package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// systemd-analyze, where it is installed, finds nothing wrong with the units.
func TestUnitsVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	dir := t.TempDir()
	// The programs that the units start must exist.
	for _, name := range []string{"coordinator", "worker"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	units, err := filepath.Glob("*.service")
	if err != nil || len(units) != 2 {
		t.Fatalf("the units are %v (%v)", units, err)
	}
	for _, name := range units {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		unit := filepath.Join(dir, strings.Replace(name, "@.", "@1.", 1)) // a template, as its first instance
		if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/", dir+"/")), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(analyze, "verify", "--man=no", unit).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
