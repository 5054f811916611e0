package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// document of a test file, to be changed.
func decoded(t testing.TB, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// objects lists a document's objects by path, those in ignored fields left out.
func objects(path string, v any, out map[string]map[string]any) map[string]map[string]any {
	switch v := v.(type) {
	case map[string]any:
		out[path] = v
		for key, field := range v {
			if key != "Misc" && key != "BenchmarkConfig" {
				objects(join(path, key), field, out)
			}
		}
	case []any:
		for i, item := range v {
			objects(fmt.Sprintf("%s[%d]", path, i), item, out)
		}
	}
	return out
}

func parsed(doc map[string]any) (*Definition, []Warning, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, nil, err
	}
	return Parse("x", text, call.Dir("testdata"))
}

// Fields of other tools change nothing, wherever they stand and whatever they
// hold; each is a warning that gives its path.
func TestForeignFieldsAreIgnored(t *testing.T) {
	foreign := []string{"verification", "SharedMemoryOriginal", "SearchSettings", "Objective", "Minimize", "BenchmarksPath", "BenchmarkPath", "Comment", "note", "x-author", ""}
	held := []any{1.5, "text", true, []any{1.0}, map[string]any{"type": "reference"}}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"filter.json", "scale_ptx.json"}).Draw(rt, "file")
		doc := decoded(t, name)
		plain, before, err := parsed(doc)
		if err != nil {
			rt.Fatal(err)
		}
		all := objects("", doc, map[string]map[string]any{})
		path := rapid.SampledFrom(sortedKeys(all)).Draw(rt, "path")
		field := rapid.SampledFrom(foreign).Draw(rt, "field")
		all[path][field] = rapid.SampledFrom(held).Draw(rt, "value")
		d, warnings, err := parsed(doc)
		if err != nil {
			rt.Fatal(err)
		}
		if len(warnings) != len(before)+1 || !slices.ContainsFunc(warnings, func(w Warning) bool {
			return w.Field == join(path, field) && strings.HasPrefix(w.Message, "unknown field, ignored")
		}) {
			rt.Errorf("warnings:\n%s", warned(warnings))
		}
		a, b := launch(t, plain, nil, ""), launch(t, d, nil, "")
		if a.Compile.Key != b.Compile.Key || fmt.Sprint(a.Grid, a.Block, a.Args) != fmt.Sprint(b.Grid, b.Block, b.Args) {
			rt.Error("the field changes the launch")
		}
	})
}

// A field that matters, misspelt, is never silently another definition: it is
// refused by its path, with the name that was meant, or read as it.
func TestMisspeltFieldsAreRefused(t *testing.T) {
	ignored := []string{"General", "Default", "OutputFormat", "FormatVersion", "Stream", "Misc", "Output", "BenchmarkConfig", "iterations", "jitify"}
	rapid.Check(t, func(rt *rapid.T) {
		doc := decoded(t, rapid.SampledFrom([]string{"filter.json", "scale_ptx.json"}).Draw(rt, "file"))
		all := objects("", doc, map[string]map[string]any{})
		path := rapid.SampledFrom(sortedKeys(all)).Draw(rt, "path")
		field := rapid.SampledFrom(sortedKeys(all[path])).Draw(rt, "field")
		if slices.Contains(ignored, field) || strings.Contains(field, " ") || len(field) < 4 {
			rt.Skip()
		}
		at := rapid.IntRange(1, len(field)-1).Draw(rt, "at")
		wrong := rapid.SampledFrom([]string{
			field[:at] + "q" + field[at:], field[:at] + field[at+1:], field[:at] + "q" + field[at+1:], field[:at-1] + field[at:at+1] + field[at-1:at] + field[at+1:],
			strings.ToUpper(field), field[:at] + "_" + field[at:],
		}).Draw(rt, "wrong")
		if _, taken := all[path][wrong]; taken || wrong == field {
			rt.Skip()
		}
		all[path][wrong] = all[path][field]
		delete(all[path], field)
		_, warnings, err := parsed(doc)
		if fold(wrong) == fold(field) {
			if err != nil || !strings.Contains(warned(warnings), join(path, wrong)+": read as "+field) {
				rt.Errorf("%s: %v\n%s", wrong, err, warned(warnings))
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), join(path, wrong)+": unknown field; did you mean ") {
			rt.Errorf("%s for %s: %v", wrong, field, err)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"size", "size", 0}, {"szie", "size", 1}, {"name", "type", 3}, {"benchmarkpath", "benchmarkname", 3}} {
		if d, e := distance(c.a, c.b), distance(c.b, c.a); d != c.want || e != c.want {
			t.Errorf("%q %q: %d and %d, want %d", c.a, c.b, d, e, c.want)
		}
	}
}

// foreign is a definition as BAT's files are.
const foreign = `{
  "General": {"FormatVersion": "0.0.1", "LoggingLevel": 3, "Objective": "time", "Minimize": true},
  "Budget": {"Type": "ConfigurationCount", "BudgetValue": 10},
  "Search": [],
  "SearchSettings": {"TunerName": "x"},
  "verification": {"type": "reference"},
  "BenchmarkConfig": {"N": 4096, "LIMIT": 256, "BLOCK": 64, "i": 3, "half": 0.5, "mode": "fast", "bad-name": 1, "list": [1], "two": "a\nb", "block_size_x": 7},
  "ConfigurationSpace": {
    "TuningParameters": [{"Name": "BLOCK", "Type": "int", "Values": "[64, 128, 256, 512]"}, {"Name": "ONE", "Type": "int", "Values": "[1]"}],
    "Constraints": [{"Parameters": ["BLOCK"], "Expression": "BLOCK <= LIMIT"}]
  },
  "KernelSpecification": {
    "Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "SharedMemoryOriginal": 4, "Profiling": "no",
    "LocalSize": {"X": "BLOCK"}, "GlobalSize": {"X": "N // BLOCK"},
    "Arguments": [
      {"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": "N", "FillType": "Generator", "DataSource": "i + N"},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": "sum([N for N in [1, 2]])"}
    ]
  }
}`

// What BAT's files have means what it means to BAT: entries of BenchmarkConfig
// are names in expressions and macros, and Constraints are Conditions.
func TestBenchmarkConfig(t *testing.T) {
	source := "extern \"C\" __global__ void k(float *x, int n) { /* N half mode BLOCK bad list two block_size_x */ }"
	d, warnings, err := Parse("x", []byte(foreign), call.Memory{"k.cu": []byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	wantWarnings(t, warnings,
		"BenchmarkConfig.BLOCK: ignored: the tuning parameter of that name has 64, 128, 256, 512",
		"BenchmarkConfig.bad-name: ignored: \"bad-name\" is not an identifier",
		"BenchmarkConfig.list: ignored: a number, a truth value or a text of one line is expected, not a list",
		"BenchmarkConfig.two: ignored: a number",
		"BenchmarkConfig.block_size_x: ignored: block_size_x is the launch's own",
		"ConfigurationSpace.Constraints: read as Conditions",
		"KernelSpecification.SharedMemoryOriginal: unknown field, ignored; did you mean SharedMemory?",
		"verification: unknown field, ignored",
	)
	s, err := d.Space(nil, nil)
	if err != nil || s.Size() != 3 {
		t.Fatalf("%v, %v: want 3 configurations", s, err)
	}
	l := launch(t, d, nil, "BLOCK=128")
	if l.Grid[0] != 32 || l.Args[0].Count != 4096 || l.Args[0].Fill.Expr.String() != "i + 4096" || l.Args[1].Bits != 3 {
		t.Errorf("launch %+v, %s", l, l.Args[0].Fill.Expr)
	}
	if got := fmt.Sprint(l.Compile.Macros); got != "[{kernel_tuner 1} {block_size_x 128} {block_size_y 1} {block_size_z 1} {N 4096} {half 0.5} {mode fast} {BLOCK 128} {ONE 1}]" {
		t.Errorf("macros %s", got)
	}
}
