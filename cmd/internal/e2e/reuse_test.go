package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/tunertest"
)

// edited writes a definition of a kernel given as PTX, with block sizes and the name of
// its function, into dir.
func edited(t *testing.T, dir, blocks, function string) string {
	t.Helper()
	text := `{"General": {"BenchmarkName": "k"}, "ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "` + blocks + `"}]},
		"KernelSpecification": {"Language": "PTX", "KernelName": "` + function + `", "KernelFile": "` + function + `.ptx", "ProblemSize": [16384], "LocalSize": {"X": "B"}, "GridDivX": ["B"],
		"Arguments": [{"Name": "out", "Type": "int32", "MemoryType": "Vector", "Size": "ProblemSize[0]", "FillType": "Constant", "FillValue": 0}]}}`
	ptx := strings.ReplaceAll(strings.ReplaceAll(gatePTX, "TURN", "1"), "count", function)
	for name, content := range map[string]string{"k.json": text, function + ".ptx": ptx} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "k.json")
}

// A value that is added to a parameter is all that is evaluated, on one machine and by workers of a coordinator.
// What is stored answers for the definition as it was: the new one is told what has changed, and another kernel of
// the name gets no answer.
func TestAddedValues(t *testing.T) {
	address := tunertest.FreeAddress(t)
	coordinate(t, address, t.TempDir())
	start(t, "worker", "--coordinator", address, "--slots", "1", "--stay")
	for name, where := range map[string][]string{
		"embedded": {"--db", filepath.Join(t.TempDir(), "x.db")}, "coordinator": {"--coordinator", address},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			on := append([]string{"--arch", "h200"}, where...)
			tune := func(def string) string {
				return warptune(t, append([]string{"tune", def, "--level", "model"}, on...)...)
			}
			if out := tune(edited(t, dir, "[64, 128]", "f")); strings.Contains(out, "earlier results") {
				t.Errorf("the first: %s", out)
			}
			def := edited(t, dir, "[64, 128, 256]", "f")
			best := append([]string{"best", def}, on...)
			if out := warptune(t, best...); !strings.Contains(out, "not what is asked for: changed since are parameter B: ") {
				t.Errorf("best of the changed definition: %s", out)
			}
			if out := tune(def); !regexp.MustCompile(`3 of 3 .*\(2 answered from earlier results\)`).MatchString(out) {
				t.Errorf("with a value added: %s", out)
			}
			if out := warptune(t, best...); !regexp.MustCompile(`found by +exact match\n`).MatchString(out) {
				t.Errorf("best of the definition: %s", out)
			}
			edited(t, dir, "[32]", "f")
			if _, stderr, code := try(t, best...); code != 1 || !strings.Contains(stderr, "it has changed since (parameter B)") || !strings.Contains(stderr, "not in its space") {
				t.Errorf("best where its configuration is not in the space: status %d, %s", code, stderr)
			}
			edited(t, dir, "[64, 128]", "g")
			if _, stderr, code := try(t, best...); code != 1 || !strings.Contains(stderr, "another kernel, function f instead of g") {
				t.Errorf("best of another kernel of the name: status %d, %s", code, stderr)
			}
		})
	}
}
