package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/rpc"
)

// quick are flags that make a sweep of the given copy kernel small.
var quick = []string{"--arch", "h200", "--problem", "65536", "--level", "model", "--slots", "1"}

func part(t *testing.T, document map[string]any, path ...string) map[string]any {
	t.Helper()
	for _, name := range path {
		var ok bool
		if document, ok = document[name].(map[string]any); !ok {
			t.Fatalf("the definition has no %s", strings.Join(path, "."))
		}
	}
	return document
}

// A bad definition is refused by field and position, and no database is made.
func TestBadDefinitions(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(d map[string]any)
		want   []string
	}{
		"unknown parameter in a condition": {func(d map[string]any) {
			part(t, d, "ConfigurationSpace")["Conditions"] = []any{map[string]any{"Parameters": []any{"ITEMS"}, "Expression": "ITEMS < TILE"}}
		}, []string{"ConfigurationSpace.Conditions[0].Expression", `"ITEMS < TILE"`, "unknown parameter TILE", "BLOCK_SIZE, ITEMS"}},
		"unknown parameter in the grid": {func(d map[string]any) {
			part(t, d, "KernelSpecification", "GlobalSize")["X"] = "TILE"
		}, []string{"KernelSpecification.GlobalSize.X", "TILE"}},
		"unknown field":   {func(d map[string]any) { part(t, d, "KernelSpecification")["Registers"] = 32 }, []string{"KernelSpecification.Registers", "unknown field", "MaxRegisters"}},
		"unknown section": {func(d map[string]any) { d["ConfigurationSpaces"] = 1; delete(d, "ConfigurationSpace") }, []string{"ConfigurationSpaces", "unknown field", "did you mean ConfigurationSpace?"}},
		"wrong type":      {func(d map[string]any) { part(t, d, "KernelSpecification")["KernelName"] = 7 }, []string{"KernelSpecification.KernelName", "text"}},
		"cut expression": {func(d map[string]any) {
			part(t, d, "ConfigurationSpace")["TuningParameters"].([]any)[0].(map[string]any)["Values"] = "[32, 64,"
		}, []string{"ConfigurationSpace.TuningParameters[0].Values", "column 9"}},
		"no source": {func(d map[string]any) { part(t, d, "KernelSpecification")["KernelFile"] = "gone_{ITEMS}.ptx" }, []string{"KernelSpecification.KernelFile", "gone_"}},
		"another language": {func(d map[string]any) {
			part(t, d, "KernelSpecification")["Language"] = "OpenCL"
			part(t, d, "KernelSpecification")["KernelFile"] = "x.cl"
		},
			[]string{"copy.json: kernel copy: KernelSpecification.Language: OpenCL kernels cannot be simulated"}},
		"a file that is not there": {func(d map[string]any) {
			a := part(t, d, "KernelSpecification")["Arguments"].([]any)[0].(map[string]any)
			a["FillType"], a["DataSource"] = "BinaryRaw", "gone.bin"
		}, []string{"KernelSpecification.Arguments[0]: FillType BinaryRaw: ", "gone.bin: no such file or directory; use FillType Random"}},
		"an option that is not accepted": {func(d map[string]any) {
			spec := part(t, d, "KernelSpecification")
			spec["Language"], spec["KernelFile"], spec["CompilerOptions"] = "CUDA", "x.cu", []any{"-w", "-G"}
		}, []string{`KernelSpecification.CompilerOptions[1]: compiler option "-G" is not accepted: debug code`}},
	} {
		t.Run(name, func(t *testing.T) {
			path := given(t, "copy", tt.change)
			db := filepath.Join(t.TempDir(), "x.db")
			warptune(t, append([]string{"tune", path, "--db", db}, quick...)...).refused(t, exitFailed, tt.want...)
			if _, err := os.Stat(db); err == nil {
				t.Error("a database was made")
			}
		})
	}
	path := given(t, "copy", nil)
	write(t, path, read(t, path)[:300])
	warptune(t, append([]string{"tune", path}, quick...)...).refused(t, exitFailed, path, "line 1", "cut off")
}

// What no configuration can be launched of is refused by each command that would,
// and its space can be read.
func TestNothingCanBeLaunched(t *testing.T) {
	path := given(t, "copy", func(d map[string]any) {
		a := part(t, d, "KernelSpecification")["Arguments"].([]any)[0].(map[string]any)
		a["FillType"], a["DataSource"] = "BinaryRaw", "gone.bin"
	})
	const want = "KernelSpecification.Arguments[0]: FillType BinaryRaw: "
	for _, command := range []string{"simulate", "explain"} {
		warptune(t, command, path, "--arch", "h200", "--config", "ITEMS=2").refused(t, exitFailed, path, want)
	}
	records := write(t, filepath.Join(t.TempDir(), "x.jsonl"), []byte(`{"kernel": "copy", "params": {}, "time_us": {"median": 1}}`))
	warptune(t, "fidelity", "--arch", "h200", "--timings", records, "--kernels", filepath.Dir(path)).refused(t, exitFailed, path, want)
	warptune(t, "space", path).ok(t)
}

// A kernel that depends on no problem size is given none, and none is printed.
func TestNoProblemSize(t *testing.T) {
	path := given(t, "copy", func(d map[string]any) {
		spec := part(t, d, "KernelSpecification")
		delete(spec, "ProblemSize")
		delete(spec, "GridDivX")
		spec["GlobalSize"] = map[string]any{"X": 64}
		for _, a := range spec["Arguments"].([]any) {
			for _, field := range []string{"Size", "FillValue"} {
				if a := a.(map[string]any); strings.Contains(fmt.Sprint(a[field]), "ProblemSize") {
					a[field] = 1 << 20
				}
			}
		}
	})
	db := filepath.Join(t.TempDir(), "x.db")
	tune := []string{"tune", path, "--arch", "h200", "--level", "model", "--slots", "1", "--budget", "2", "--db", db}
	if out := warptune(t, tune...).ok(t).stdout; !strings.HasPrefix(out, "copy on h200: 2 of 24 configurations evaluated: 2 ran clean\n") {
		t.Errorf("got:\n%s", out)
	}
	for _, args := range [][]string{tune, {"space", path}, {"simulate", path, "--arch", "h200", "--config", "ITEMS=2"}} {
		warptune(t, append(args, "--problem", "1024")...).refused(t, exitUsage, "--problem 1024: nothing of copy depends on a problem size")
	}
	if out := warptune(t, "best", path, "--arch", "h200", "--db", db).ok(t).stdout; !strings.Contains(out, "copy on h200\n") {
		t.Errorf("got:\n%s", out)
	}
}

// ranked is what tune --json prints, as far as it is looked at here.
type ranked struct {
	Sweep struct {
		State  string
		Counts struct {
			Done       string
			Space      string
			ByValidity []string `json:"by_validity"`
		}
		Failures []struct{ Kind, Message string }
	}
	Top []struct {
		Parameters map[string]any
		Outcome    struct {
			TimeUS float64 `json:"time_us"`
			Bound  string
		}
	}
	Failures []struct {
		Parameters        map[string]any
		Validity, Message string
	}
}

func (r result) ranked(t *testing.T) ranked {
	t.Helper()
	var out ranked
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	return out
}

// PTX that is cut off in the middle is its configurations' outcome; the others are
// ranked, and a sweep without any valid configuration fails.
func TestTruncatedPTX(t *testing.T) {
	path := given(t, "copy", nil)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "copy_*_4.ptx"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		whole := read(t, f)
		write(t, f, whole[:len(whole)*2/3])
	}
	db := filepath.Join(t.TempDir(), "x.db")
	tune := append([]string{"tune", path, "--db", db, "--top", "0"}, quick...)
	r := warptune(t, append(tune, "--json")...).ok(t).ranked(t)
	if r.Sweep.Counts.Done != "24" || len(r.Top) != 18 {
		t.Errorf("%s trials done and %d ranked, want 24 and 18", r.Sweep.Counts.Done, len(r.Top))
	}
	if f := r.Sweep.Failures; len(f) != 1 || f[0].Kind != "compile" || !strings.Contains(f[0].Message, "_4.ptx:") || noise.MatchString(f[0].Message) {
		t.Errorf("failures %+v, want one kind, compile, with file and position", f)
	}
	if len(r.Failures) != 6 || len(r.Top[0].Parameters) < 2 {
		t.Errorf("%d failures listed of 6; the best is %v", len(r.Failures), r.Top[0].Parameters)
	}
	for _, f := range r.Failures {
		if f.Parameters["ITEMS"] != 4.0 || f.Validity != "compile" || !strings.Contains(f.Message, "_4.ptx:") {
			t.Errorf("failure %+v", f)
		}
	}
	text := warptune(t, tune...).ok(t).stdout
	if !strings.Contains(text, "24 of 24 configurations evaluated: 18 ran clean, 6 compile") || strings.Contains(text, "NaN") {
		t.Errorf("got:\n%s", text)
	}
	none := warptune(t, append(tune, "--set", "ITEMS=4")...)
	none.refused(t, exitFailed, "no configuration of copy is valid on h200")
	if !strings.Contains(none.stdout, "6 of 6 configurations evaluated: 6 compile") || strings.Contains(none.stdout, "RANK") {
		t.Errorf("got:\n%s", none.stdout)
	}
}

// A space without a configuration is refused, and why is said once.
func TestEmptySpace(t *testing.T) {
	path := given(t, "copy", func(d map[string]any) {
		part(t, d, "ConfigurationSpace")["Conditions"] = []any{map[string]any{"Parameters": []any{"ITEMS"}, "Expression": "ITEMS > 99"}}
	})
	r := warptune(t, append([]string{"tune", path, "--db", filepath.Join(t.TempDir(), "x.db")}, quick...)...)
	if r.code != exitFailed || !strings.Contains(r.stderr, "plan sweep of copy: the space is empty: no configuration satisfies its conditions and --set") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
}

// A kernel that does not compile has the compiler's message in its outcome.
func TestFailedCompilation(t *testing.T) {
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("clang++-19 is not installed")
	}
	path := given(t, "copy", func(d map[string]any) {
		spec := part(t, d, "KernelSpecification")
		spec["Language"], spec["KernelFile"] = "CUDA", "copy.cu"
	})
	write(t, filepath.Join(filepath.Dir(path), "copy.cu"), []byte(
		"extern \"C\" __global__ void copy(const float *in, float *out, int n) {\n#if ITEMS == 2\n  out[0] = missing;\n#endif\n}\n"))
	tune := append([]string{"tune", path, "--db", filepath.Join(t.TempDir(), "x.db"), "--set", "BLOCK_SIZE=128"}, quick...)
	tune = append(tune, "--set", "ITEMS=1,2")
	text := warptune(t, tune...).ok(t).stdout
	for _, want := range []string{"2 of 2 configurations evaluated: 1 ran clean, 1 compile", "clang 19", "copy.cu:3:", "undeclared identifier 'missing'"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	tune[len(tune)-1] = "ITEMS=2"
	warptune(t, tune...).refused(t, exitFailed, "no configuration of copy is valid")
	out := warptune(t, "simulate", path, "--arch", "h200", "--config", "ITEMS=2").ok(t).stdout
	var rec map[string]any
	if err := json.Unmarshal([]byte(out), &rec); err != nil || rec["validity"] != "compile" || rec["predicted_us"] != nil || !strings.Contains(rec["message"].(string), "'missing'") {
		t.Errorf("%v: %s", err, out)
	}
}

// Without a compiler that can, nothing is evaluated or given up: the error says
// what to install, and the same command goes on once it is there.
func TestNoCompiler(t *testing.T) {
	path := given(t, "copy", func(d map[string]any) {
		spec := part(t, d, "KernelSpecification")
		spec["Language"], spec["KernelFile"] = "CUDA", "copy.cu"
	})
	write(t, filepath.Join(filepath.Dir(path), "copy.cu"), []byte("extern \"C\" __global__ void copy(const float *in, float *out, int n) {}\n"))
	t.Setenv("PATH", t.TempDir())
	db := filepath.Join(t.TempDir(), "x.db")
	warptune(t, append([]string{"tune", path, "--db", db}, quick...)...).refused(t, exitFailed, "nvcc", "install clang")
	list := warptune(t, "sweep", "list", "--db", db).ok(t).stdout
	if !bytes.Contains([]byte(list), []byte("running")) {
		t.Errorf("the sweep does not wait:\n%s", list)
	}
}

// What is printed of a configuration is what --config takes, whatever its values.
func TestConfigurationsAreTakenAsPrinted(t *testing.T) {
	path := given(t, "copy", func(d map[string]any) {
		space := part(t, d, "ConfigurationSpace")
		space["TuningParameters"] = append(space["TuningParameters"].([]any), map[string]any{"Name": "MODE", "Type": "string", "Values": []any{`a,b`, `7`, `"`}})
	})
	def, _, err := kernel.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{`a,b`, `7`, `"`} {
		c := def.Default()
		c.Values[slices.Index(c.Names, "MODE")] = search.OfString(value)
		text := message.ConfigText(c.Names, rpc.FromValues(c.Values))
		rec, err := input.ConfigRecord(def, text, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, err := evaluate.Config(def, &rec); err != nil || !got.Equal(c) {
			t.Errorf("%s is read as %s (%v)", text, got, err)
		}
	}
}
