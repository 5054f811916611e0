package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
)

// tritonDir is where the Python side lies.
const tritonDir = "../../../deploy/triton"

// triton runs Python with the Python side in its path, and with the triton package: the test is
// skipped where that is missing.
func triton(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles kernels with Triton")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 in PATH: Triton's side is not run")
	}
	if exec.Command(python, "-c", "import triton").Run() != nil {
		t.Skip("python3 has no package triton: Triton's side is not run; make triton runs it")
	}
	dir, err := filepath.Abs(tritonDir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"-B"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir+string(filepath.ListSeparator)+filepath.Join(dir, "examples"), "TRITON_CACHE_DIR="+filepath.Join(scratch, "triton"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// capture captures an example and returns the folder of its launch records.
func capture(t *testing.T, example, arch string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "launches")
	if out, err := triton(t, nil, "-m", "warptune_triton", "capture", "examples/"+example+".py", "--arch", arch, "-o", dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// The Python side's own checks: arguments, failures, hooks, predictions for Triton's autotuner.
func TestTritonChecks(t *testing.T) {
	bin, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	out, err := triton(t, []string{"WARPTUNE=" + filepath.Join(bin, "warptune")}, "-W", "ignore", "checks.py")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Log(out)
}

// The examples, and how many configurations each has in each of its groups. The descriptors of
// matmul_descriptors need Triton 3.4.
var examples = map[string][]int{
	"matmul": {5, 5}, "matmul_descriptors": {4}, "attention": {4}, "softmax": {4, 4}, "layernorm": {6, 1},
}

// Every configuration of the examples compiles for both architectures, and what is captured is
// read as kernels whose launches are complete.
func TestTritonCaptures(t *testing.T) {
	for example, groups := range examples {
		for _, name := range []string{"h100", "a100"} {
			t.Run(example+" "+name, func(t *testing.T) {
				if out, err := triton(t, nil, "-c", "import triton.tools.tensor_descriptor"); err != nil && example == "matmul_descriptors" {
					t.Skipf("this Triton has no tensor descriptors: %s", out)
				}
				kernels, err := kernel.LoadFolder(capture(t, example, name))
				if err != nil {
					t.Fatal(err)
				}
				if len(kernels) != len(groups) {
					t.Fatalf("%d groups, want %d", len(kernels), len(groups))
				}
				for i, d := range kernels {
					checkLaunches(t, d, groups[i])
				}
			})
		}
	}
}

func checkLaunches(t *testing.T, d *kernel.Definition, want int) {
	t.Helper()
	space, err := d.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if space.Size() != int64(want) {
		t.Errorf("%s: %d configurations, want %d", d.Group, space.Size(), want)
	}
	for _, cfg := range space.All() {
		l, err := d.Launch(cfg, nil)
		if err != nil {
			t.Errorf("%s: %s: %v", d.Group, cfg, err)
			continue
		}
		if warps, ok := cfg.Get("num_warps"); !ok || l.Block[0] != 32*warps.I || l.Compile.Missing != nil || len(l.Args) < 3 {
			t.Errorf("%s: %s: block %v, %d arguments, PTX %v", d.Group, cfg, l.Block, len(l.Args), l.Compile.Missing)
		}
	}
}

// From a script to a table that a program starts with: captured, tuned, exported, and then taken
// by Triton's autotuner in the place of timing, from the module and from the cache on disk.
func TestTritonThereAndBack(t *testing.T) {
	dir := capture(t, "matmul", "a100")
	db := filepath.Join(t.TempDir(), "triton.db")
	tuned := filepath.Join(t.TempDir(), "tuned.py")
	for _, args := range [][]string{{"tune", dir, "--arch", "a100", "--db", db}, {"export", "--format", "triton", "--db", db, "-o", tuned}} {
		if out, err := command(t, "warptune", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	out, err := command(t, "warptune", "export", "--format", "json", "--db", db).Output()
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Rows []struct {
			Problem       []int64        `json:"problem_size"`
			Configuration map[string]any `json:"configuration"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &table); err != nil || len(table.Rows) != 2 || table.Rows[0].Problem[0] != 256 {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := triton(t, nil, "takes.py", tuned, "a100")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got [2]map[string]any
	if err := json.Unmarshal([]byte(text[strings.LastIndex(text, "\n[{")+1:]), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if want := []map[string]any{table.Rows[1].Configuration, table.Rows[0].Configuration}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the autotuner takes %v, want %v", got, want)
	}
}

// What the Python side says of architectures is what the simulator has of them.
func TestTritonArchitectures(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(tritonDir, "warptune_triton.py"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\nARCHITECTURES = {")
	table, _, _ = strings.Cut(table, "\n}")
	for _, name := range arch.Names() {
		d, err := arch.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		row := fmt.Sprintf("%q: (%d, %d)", name, d.CC[0]*10+d.CC[1], d.SMs)
		if listed := strings.Contains(table, row); listed != (d.CC[0] >= 8 && !strings.HasPrefix(name, "cc")) {
			t.Errorf("%s stands in the table: %v", row, listed)
		}
	}
}
