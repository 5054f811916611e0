package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/tunertest"
)

// A sweep for a descriptor file goes with it to a coordinator and to workers that have
// never seen it, and gives what it gives here.
func TestDescriptorTravels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "half.json")
	text := `{"name": "half", "title": "half of an H200", "base": "h200", "numbers": {"sms": {"value": 66, "unit": "count", "source": "a test", "verified": true}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep := append([]string{}, small...)
	for i := range sweep {
		if sweep[i] == "h200" {
			sweep[i] = file + ",h200"
		}
	}
	want := embedded(t, sweep)
	if strings.Count(want.best, `"arch": "half"`) != 1 || strings.Count(want.best, `"arch": "h200"`) != 1 {
		t.Fatalf("the table has not one row for each: %s", want.best)
	}
	address, data := tunertest.FreeAddress(t), t.TempDir()
	c := coordinate(t, address, data)
	warptune(t, append([]string{"sweep", "submit", "--coordinator", address}, sweep...)...)
	c.kill(t) // the descriptor is stored
	coordinate(t, address, data)
	for range 2 {
		start(t, "worker", "--coordinator", address, "--slots", "1").wait(t)
	}
	exported(t, "--coordinator", address).compare(t, want)
	if out := warptune(t, "best", sweep[0], "--arch", file, "--problem", "1024", "--coordinator", address); !strings.Contains(out, "exact match") {
		t.Errorf("best says %s", out)
	}
}
