package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
)

func load(t testing.TB, name string) (*Definition, []Warning) {
	t.Helper()
	d, warnings, err := Load("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return d, warnings
}

func launch(t testing.TB, d *Definition, problem []int64, text string) *call.Launch {
	t.Helper()
	l, err := tryLaunch(d, problem, text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tryLaunch(d *Definition, problem []int64, text string) (*call.Launch, error) {
	values := map[string]string{}
	list, err := search.ParseAssignments(text)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		values[a.Name] = a.Text
	}
	cfg, err := d.Config(values)
	if err != nil {
		return nil, err
	}
	return d.Launch(cfg, problem)
}

func warned(ws []Warning) string {
	var lines []string
	for _, w := range ws {
		lines = append(lines, w.String())
	}
	return strings.Join(lines, "\n")
}

// wantWarnings checks that each text is part of a warning.
func wantWarnings(t *testing.T, warnings []Warning, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(warned(warnings), want) {
			t.Errorf("no warning %s in\n%s", want, warned(warnings))
		}
	}
}

// TestKernelTunerShape: a file with the fields and quirks of public benchmark
// files.
func TestKernelTunerShape(t *testing.T) {
	d, warnings := load(t, "filter.json")
	want := `ConfigurationSpace.TuningParameters[1].Default: a list, read as its element
KernelSpecification.Arguments[0].Memory Type: read as MemoryType`
	if got := warned(warnings); got != want {
		t.Errorf("warnings:\n%s", got)
	}
	s, err := d.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Size() != 76 || s.Cartesian() != 128 {
		t.Errorf("%d of %d configurations", s.Size(), s.Cartesian())
	}
	l := launch(t, d, nil, "block_size_x=48,block_size_y=2,tile_x=2,use_padding=0")
	if l.Grid != [3]int64{11, 50, 1} || l.Block != [3]int64{48, 2, 1} || l.KernelName != "filter_kernel" || l.CarveOut != -1 {
		t.Errorf("launch %+v", l)
	}
	if got := fmt.Sprint(l.Compile.Macros); got != "[{kernel_tuner 1} {grid_size_x 11} {block_size_z 1} {block_size_x 48} {block_size_y 2} {tile_x 2} {use_padding 0} {loop_unroll_factor_taps 0} {taps 9}]" {
		t.Errorf("macros %s", got)
	}
	if src := string(l.Compile.Source); strings.Contains(src, "#pragma") || strings.Count(src, "\n") != 11 {
		t.Errorf("loop_unroll_factor 0 leaves\n%s", src)
	}
	if other := launch(t, d, nil, "loop_unroll_factor_taps=3"); !strings.Contains(string(other.Compile.Source), "#pragma unroll loop_unroll_factor_taps") {
		t.Error("loop_unroll_factor 3 drops the pragma")
	}
	checkFilterArguments(t, l)
}

func checkFilterArguments(t *testing.T, l *call.Launch) {
	t.Helper()
	if len(l.Args) != 3 || len(l.Constants) != 1 {
		t.Fatalf("%d arguments, %d constants", len(l.Args), len(l.Constants))
	}
	if a := l.Args[1]; a.Count != 1008*100 || a.Fill != (call.Fill{Kind: call.FillRandom, Value: 1, Seed: 3}) {
		t.Errorf("in: %+v", a)
	}
	if a := l.Args[2]; !a.Scalar || a.Bits != 0x3dcccccd {
		t.Errorf("scale: %+v", a)
	}
	c := l.Constants[0]
	g, err := c.Fill.Generator()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := g(7); c.Count != 9 || c.Fill.Expr.String() != "1 / (i + 9)" || v != 1.0/16 || err != nil {
		t.Errorf("weights: %+v, %s, %v %v", c, c.Fill.Expr, v, err)
	}
}

// TestCompileKeys: the problem size changes the compilation only through the
// macros that the source names.
func TestCompileKeys(t *testing.T) {
	d, _ := load(t, "filter.json")
	a, b, c := launch(t, d, nil, ""), launch(t, d, []int64{1000, 200}, ""), launch(t, d, []int64{2000, 100}, "")
	if a.Compile.Key != b.Compile.Key || a.Compile.Key == c.Compile.Key {
		t.Error("grid_size_x is named in the source, grid_size_y is not")
	}
	if key, err := d.CompileKey(d.Default(), nil); err != nil || key != a.Compile.Key {
		t.Errorf("key %s, %v", key, err)
	}
}

func TestQuirks(t *testing.T) {
	d, warnings := load(t, "own_defaults.json")
	wantWarnings(t, warnings,
		"ConfigurationSpace.TuningParameters[3].Values: values are not all of the declared type int: read as float",
		"ConfigurationSpace.TuningParameters[3].Default: 3 is not among the values: 1.0 is taken",
		"ConfigurationSpace.TuningParameters[5].Values: value 4 occurs twice: the second is left out",
		"ConfigurationSpace.Conditions[0].Expression: the parameters' own defaults (tile_size_x=1,tile_stride_x=1) break it",
		`KernelSpecification.LocalSize.X: "block_size_x" uses the unknown name block_size_x`,
		"KernelSpecification.KernelFile: no source, so nothing can be compiled: ",
	)
	if c := d.Default().String(); c != "tile_size_x=1,tile_stride_x=1,fast=true,alpha=1.0,mode=column,again=4" || len(warnings) != 6 {
		t.Errorf("default %s, %d warnings:\n%s", c, len(warnings), warned(warnings))
	}
	if s, err := d.Space(nil, nil); err != nil || s.Size() != 5*2*2*2*2 {
		t.Errorf("space %v, %v", s, err)
	}
	if _, err := d.Launch(d.Default(), nil); err == nil || !strings.Contains(err.Error(), "OpenCL kernels cannot be simulated") {
		t.Errorf("launch: %v", err)
	}
	if d.Name != "own_defaults" {
		t.Errorf("name %s", d.Name)
	}
}

// TestNoDefaults: a definition without defaults is not told that they break its
// conditions because the first values do.
func TestNoDefaults(t *testing.T) {
	text, err := os.ReadFile("testdata/own_defaults.json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "none.json")
	text = regexp.MustCompile(`, "Default": [^}]*`).ReplaceAll(text, nil)
	text = bytes.Replace(text, []byte("tile_size_x > 1"), []byte("tile_size_x > 2"), 1)
	text = bytes.Replace(text, []byte("tile_stride_x == 0"), []byte("tile_stride_x == 1"), 1)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	d, warnings, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if space, err := d.Space(nil, nil); err != nil || space.Check(d.Default()) == nil || strings.Contains(warned(warnings), "own defaults") {
		t.Errorf("%v\n%s", err, warned(warnings))
	}
}

func TestPTX(t *testing.T) {
	d, warnings := load(t, "scale_ptx.json")
	if len(warnings) > 0 {
		t.Error(warned(warnings))
	}
	l := launch(t, d, nil, "BLOCK_SIZE=64,ITEMS=2,max_registers=32")
	if l.Grid != [3]int64{8, 1, 1} || l.DynamicShared != 512 || l.MaxRegisters != 32 || l.CarveOut != 50 {
		t.Errorf("launch %+v", l)
	}
	if c := l.Compile; c.SourceFile != "ptx/scale_64.ptx" || string(c.Source) != "// PTX for 64\n" || c.Macros != nil {
		t.Errorf("compile %+v", c)
	}
	if other := launch(t, d, nil, "BLOCK_SIZE=64"); other.Compile.Key != l.Compile.Key {
		t.Error("parameters that the path does not name change the compilation")
	}
	var bits []uint64
	for _, a := range l.Args[1:] {
		bits = append(bits, a.Bits)
	}
	if a := l.Args[0]; a.Type != call.Float || a.Lanes != 4 || a.Count != 250 || !slices.Equal(bits, []uint64{1000, 0x3e00, 1, 0xfe}) {
		t.Errorf("arguments %+v, bits %x", a, bits)
	}
	if err := launch(t, d, nil, "BLOCK_SIZE=128").Compile.Missing; err == nil || !strings.Contains(err.Error(), "scale_128.ptx") {
		t.Errorf("a missing file: %v", err)
	}
	data, digest, err := d.Bundle()
	if err != nil || len(digest) != 64 || Digest(data) != digest {
		t.Fatal(digest, err)
	}
	o, _, err := OpenBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := launch(t, o, nil, "BLOCK_SIZE=64"); again.Compile.Key != l.Compile.Key || o.Name != "scale_ptx" {
		t.Error("the bundle launches differently")
	}
}

func TestProblemAndSet(t *testing.T) {
	d, _ := load(t, "filter.json")
	for _, c := range []struct {
		problem []int64
		set     map[string][]string
		want    string
	}{
		{[]int64{1}, nil, "kernel filter: a problem size of 2 numbers is needed, as in its own [1000 100], not [1]"},
		{[]int64{1, 0}, nil, "kernel filter: problem size [1 0]: numbers from 1 to 1099511627776 are needed"},
		{nil, map[string][]string{"tile": {"1"}}, "kernel filter has no parameter tile; it has block_size_x, block_size_y, tile_x, use_padding, loop_unroll_factor_taps, taps"},
		{nil, map[string][]string{"tile_x": {"3"}}, "kernel filter: parameter tile_x has no value 3; it has 1, 2"},
		{nil, map[string][]string{"tile_x": {"x"}}, "kernel filter: parameter tile_x has no value x; it has 1, 2"},
		{nil, map[string][]string{"tile_x": {}}, "kernel filter: parameter tile_x is restricted to no value; it has 1, 2"},
	} {
		if _, err := d.Space(c.problem, c.set); err == nil || err.Error() != c.want {
			t.Errorf("%v %v: %v", c.problem, c.set, err)
		}
	}
	s, err := d.Space(nil, map[string][]string{"block_size_x": {"32", "16"}, "use_padding": {"1"}})
	if err != nil || s.Params()[0].Values[0] != search.OfInt(16) || s.Size() != 16 {
		t.Errorf("%v, %v", s, err)
	}
}

// A problem size makes a difference wherever an expression names it or a divisor
// divides it, and nowhere else.
func TestUsesProblem(t *testing.T) {
	for change, want := range map[string]bool{
		"":                                  false,
		`"GlobalSize": {"X": "N // BLOCK"}`: false,
		`"GlobalSize": {"X": "ProblemSize[0] // BLOCK"}`:               true,
		`"ProblemSize": 64, "GridDivX": "BLOCK"`:                       true,
		`"GlobalSize": {"X": 1}, "SharedMemory": "4 * ProblemSize[0]"`: true,
		`"GlobalSize": {"X": 1}, "ProblemSize": [64, 64]`:              false,
	} {
		text := foreign
		if change != "" {
			text = strings.Replace(foreign, `"GlobalSize": {"X": "N // BLOCK"}`, change, 1)
		}
		d, _, err := Parse("x", []byte(text), call.Memory{"k.cu": nil})
		if err != nil || d.UsesProblem() != want {
			t.Errorf("%s: %v", change, err)
		}
	}
	for change, want := range map[string]bool{`"BLOCK <= ProblemSize[0]"`: true, `"BLOCK <= N"`: false} {
		d, _, err := Parse("x", []byte(strings.Replace(foreign, `"BLOCK <= LIMIT"`, change, 1)), call.Memory{"k.cu": nil})
		if err != nil || d.UsesProblem() != want {
			t.Errorf("%s: %v", change, err)
		}
	}
	for _, argument := range []string{`{"Type": "float", "Size": "ProblemSize[0]"}`, `{"Type": "int32", "MemoryType": "Scalar", "FillValue": "ProblemSize[0]"}`} {
		if d, _, err := Parse("x", withArguments(argument), call.Memory{"k.cu": nil}); err != nil || !d.UsesProblem() {
			t.Errorf("%s: %v", argument, err)
		}
	}
}

// TestDefinitionErrors: one field of a good definition changed at a time; each
// error is one line that names the field.
func TestDefinitionErrors(t *testing.T) {
	good, err := os.ReadFile("testdata/scale_ptx.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"Type": "float4"`, `"Typ": "float4"`, "KernelSpecification.Arguments[0].Typ: unknown field; did you mean Type? Known are Name, Type, "},
		{`"Type": "float4"`, `"Type": "float5"`, `KernelSpecification.Arguments[0].Type: unknown element type "float5"; known are bool, int8`},
		{`"Type": "float4"`, `"Type": 4`, "KernelSpecification.Arguments[0].Type: a text is expected, not the number 4"},
		{`"Size": "ProblemSize[0] // 4"`, `"Size": [4]`, "KernelSpecification.Arguments[0].Size: a number or an expression in a text is expected, not a list"},
		{`, "Size": "ProblemSize[0] // 4"`, ``, "KernelSpecification.Arguments[0].Size: missing; a buffer needs a number of elements"},
		{`"ProblemSize[0] // 4"`, `"N // 4"`, `KernelSpecification.Arguments[0].Size: "N // 4" uses the unknown name N; known are BLOCK_SIZE, ITEMS, max_registers, ProblemSize`},
		{`"FillType": "Random"`, `"FillType": "Noise"`, `KernelSpecification.Arguments[0].FillType: unknown type "Noise"; known are Constant, Random`},
		{`"MemoryType": "Vector"`, `"MemoryType": "Heap"`, `KernelSpecification.Arguments[0].MemoryType: unknown type "Heap"; known are Scalar`},
		{`"ReadWrite"`, `"Write"`, `KernelSpecification.Arguments[0].AccessType: unknown type "Write"`},
		{`"Values": "[1, 2]"`, `"Values": "[1, 2"`, `ConfigurationSpace.TuningParameters[1].Values: "[1, 2", column 6: ] expected`},
		{`"Values": "[1, 2]"`, `"Values": "2"`, `ConfigurationSpace.TuningParameters[1].Values: a list is expected, "2" is none`},
		{`"Values": "[1, 2]"`, `"Values": "[]"`, "ConfigurationSpace.TuningParameters[1].Values: there are no values"},
		{`"Values": "[1, 2]"`, `"Values": "[1, 'a']"`, "ConfigurationSpace.TuningParameters[1].Values: a is not a value of type int"},
		{`"Type": "int", "Values": "[1, 2]"`, `"Type": "float", "Values": "[0.5, 1e308 * 10]"`, "ConfigurationSpace.TuningParameters[1].Values: +Inf is not a finite number"},
		{`"Type": "int", "Values": "[1, 2]"`, `"Type": "float", "Values": "[1e308 * 10 - 1e308 * 10]"`, "ConfigurationSpace.TuningParameters[1].Values: NaN is not a finite number"},
		{`"Name": "ITEMS", "Type": "int"`, `"Name": "ITEMS", "Type": "i32"`, `ConfigurationSpace.TuningParameters[1].Type: unknown type "i32"; known are int, uint, float, bool, string`},
		{`"Name": "ITEMS"`, `"Name": "BLOCK_SIZE"`, "ConfigurationSpace.TuningParameters[1].Name: parameter BLOCK_SIZE is declared twice, with other values"},
		{`"Name": "ITEMS"`, `"Name": "a-b"`, `ConfigurationSpace.TuningParameters[1].Name: "a-b" is not an identifier`},
		{`{"Name": "ITEMS", `, `{`, "ConfigurationSpace.TuningParameters[1].Name: missing; T1 requires it"},
		{`"Language": "PTX"`, `"Language": "SPIR-V"`, `KernelSpecification.Language: unknown language "SPIR-V"; known are CUDA`},
		{`scale_{BLOCK_SIZE}`, `scale_{BLOCK}`, `KernelSpecification.KernelFile: "ptx/scale_{BLOCK}.ptx" uses the unknown parameter BLOCK; there are BLOCK_SIZE`},
		{`ptx/scale_{BLOCK_SIZE}`, `../scale_{BLOCK_SIZE}`, `KernelSpecification.KernelFile: file "../scale_32.ptx": a path inside`},
		{`{BLOCK_SIZE}`, `{BLOCK_SIZE`, "has a brace without its partner"},
		{`"ProblemSize": 1000`, `"ProblemSize": [0]`, "KernelSpecification.ProblemSize[0]: a number from 1 to 1099511627776 is expected, not the number 0"},
		{`"ProblemSize": 1000`, `"ProblemSize": 1000, "ProblemSize": 1000`, "field KernelSpecification.ProblemSize occurs twice"},
		{`"ProblemSize": 1000`, `"ProblemSize": 1000, "problem_size": 1000`, "KernelSpecification.problem_size: the same field as ProblemSize"},
		{`"MaxRegisters": "max_registers"`, `"MaxRegisters": "regs"`, `KernelSpecification.MaxRegisters: "regs" uses the unknown name regs`},
		{`"LocalSize": {"X": "BLOCK_SIZE"}, `, ``, "KernelSpecification.LocalSize.X: missing"},
		{`"LocalSize": {"X"`, `"LocalSize": {"W"`, "KernelSpecification.LocalSize.W: unknown field; did you mean X? Known are X, Y, Z"},
		{`"ConfigurationSpace": {`, `"ConfigurationSpace": {"Conditions": [{"Expression": "BLOCK <= 4", "Parameters": []}],`, `ConfigurationSpace.Conditions[0].Expression: "BLOCK <= 4" uses the unknown parameter BLOCK; there are BLOCK_SIZE, ITEMS, max_registers`},
		{`"ConfigurationSpace": {`, `"ConfigurationSpace": {"Conditions": [{"Expression": "1", "Parameters": ["BLOCK"]}],`, "ConfigurationSpace.Conditions[0].Parameters[0]: condition on the unknown parameter BLOCK; there are BLOCK_SIZE"},
		{`"ConfigurationSpace": {`, `"ConfigurationSpace": {"Constraints": [{"Expression": "BLOCK <= 4", "Parameters": []}],`, `ConfigurationSpace.Constraints[0].Expression: "BLOCK <= 4" uses the unknown parameter BLOCK`},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if text == string(good) {
			t.Fatalf("%s is not in the definition", c.old)
		}
		_, _, err := Parse("x", []byte(text), call.Dir("testdata"))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s -> %s:\n%v", c.old, c.new, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "line 1 column 1: not a T1 definition in JSON: the text ends early",
		"{\"General\": {\n":             "the text ends early: the file is cut off",
		"{\n  \"General\": }":           "line 2 column",
		"[]":                            "definition: an object is expected, not a list",
		"{} {}":                         "text after the end",
		"{}":                            "ConfigurationSpace: missing; T1 requires it",
		strings.Repeat("[", 100):        "nested deeper",
		`{"ConfigurationSpace":{}}`:     "ConfigurationSpace.TuningParameters: missing",
		`{"ConfigurationSpace":{"x":1}`: "ends early",
	} {
		if _, _, err := Parse("x", []byte(text), call.Memory{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %s", text, err, want)
		}
	}
	for name, want := range map[string]string{"testdata/none.json": "testdata/none.json: no such file", "testdata": "is a directory", "testdata/filter.cu": "filter.cu: line 1"} {
		if _, _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	good, err := os.ReadFile("testdata/scale_ptx.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"X": "BLOCK_SIZE"`, `"X": "BLOCK_SIZE - 32"`, "kernel x: KernelSpecification.LocalSize.X: 0 is outside 1 to 2147483647, with BLOCK_SIZE=32,ITEMS=1,max_registers=0"},
		{`"X": "BLOCK_SIZE"`, `"X": "BLOCK_SIZE / 3"`, "an integer is expected, not float 10.666666666666666"},
		{`"X": "BLOCK_SIZE"`, `"X": "ProblemSize[1]"`, `"ProblemSize[1]", column 12: index 1 is outside a list of 1`},
		{`"50 if ITEMS > 1 else -1"`, `"101"`, "KernelSpecification.SharedMemoryCarveout: 101 is outside -1 to 100"},
		{`"MaxRegisters": "max_registers"`, `"MaxRegisters": 256`, "KernelSpecification.MaxRegisters: 256 is outside 0 to 255"},
		{`"FillValue": -2`, `"FillValue": -129`, "KernelSpecification.Arguments[4].FillValue: -129 is not a value of type int8"},
		{`"FillValue": -2`, `"FillValue": 1.5`, "1.5 is not a value of type int8"},
		{`"FillValue": -2`, `"FillValue": "'a'"`, "'a' is not a value of type int8"},
		{`"Type": "float4"`, `"Type": "custom"`, "KernelSpecification.Arguments[0]: elements of a custom type cannot be simulated"},
		{`"FillType": "Random"`, `"FillType": "BinaryRaw"`, "FillType BinaryRaw: DataSource is missing: it names the file"},
		{`"ProblemSize[0] // 4"`, `"ProblemSize[0] // 4096"`, "KernelSpecification.Arguments[0].Size: 0 is outside 1"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		d, _, err := Parse("x", []byte(text), call.Dir("testdata"))
		if err == nil {
			_, err = d.Launch(d.Default(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s:\n%v", c.old, c.new, err)
		}
	}
	d, _ := load(t, "scale_ptx.json")
	for text, want := range map[string]string{"BLOCK=1": "kernel scale_ptx has no parameter BLOCK; it has BLOCK_SIZE, ITEMS, max_registers", "ITEMS=x": `parameter ITEMS: "x" is not a value of type int`} {
		if _, err := tryLaunch(d, nil, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := d.Launch(search.Config{Names: []string{"ITEMS"}, Values: search.Ints(1)}, nil); err == nil {
		t.Error("a configuration with a parameter missing is launched")
	}
}

// A definition that is too large is refused before it is read, from a file and
// in a bundle.
func TestDefinitionIsLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxDefinition+1); err != nil {
		t.Fatal(err)
	}
	_, _, fromFile := Load(path)
	spaces := strings.Repeat(" ", maxDefinition)
	_, _, fromText := Parse("x", []byte("{}"+spaces), call.Memory{})
	_, _, fromBundle := OpenBundle([]byte(`{"format":"warptune-bundle/1","name":"x","definition":{` + spaces + `}}`))
	for where, err := range map[string]error{"a file": fromFile, "a text": fromText, "a bundle": fromBundle} {
		if err == nil || !strings.Contains(err.Error(), "more than the 8 MiB that a T1 definition may have") {
			t.Errorf("%s: %.200v", where, err)
		}
	}
}

// TestFilesStayInside: no definition or bundle reads outside its directory.
func TestFilesStayInside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": "s", "in/k.cu": `#include "../secret"` + "\n" + `#include "link"`} {
		if err := os.MkdirAll(dir+"/in", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", dir+"/in/link"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", "/etc/hostname", "link", "."} {
		if b, err := call.Dir(dir + "/in").ReadFile(name); err == nil {
			t.Errorf("%s: read %q", name, b)
		}
	}
	_, _, err := OpenBundle([]byte(`{"format":"warptune-bundle/1","name":"x","definition":{},"files":[{"name":"../x","text":""}]}`))
	if err == nil || !strings.Contains(err.Error(), `file "../x"`) {
		t.Errorf("bundle: %v", err)
	}
	for _, text := range []string{"", "{}", `{"format":"warptune-bundle/2"}`, `{"format":"warptune-bundle/1","definition":[]}`} {
		if _, _, err := OpenBundle([]byte(text)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What the source includes goes with it, however the name is written: a bundle
// has the same launches. Angled names are looked for in the definition's folder
// alone, and what is not there is the compiler's.
func TestIncludedFiles(t *testing.T) {
	files := call.Memory{
		"in/k.cu":   []byte("#include <a/b.h>\n#include \"near.h\"\n# include <cuda.h>\n#include <near.h>\n#include </etc/hostname>"),
		"a/b.h":     []byte("#include <a/c.h>\n#include \"d.h\""),
		"a/c.h":     []byte("DEEP"),
		"a/d.h":     []byte("NEAR"),
		"in/near.h": []byte(""),
		"in/far.h":  []byte(""),
	}
	text := strings.Replace(foreign, `"k.cu"`, `"in/k.cu"`, 1)
	d, _, err := Parse("x", []byte(text), files)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sortedKeys(d.source.headers)); got != "[a/b.h a/c.h a/d.h in/near.h]" {
		t.Errorf("headers %s", got)
	}
	data, _, err := d.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := OpenBundle(data)
	if err != nil || launch(t, o, nil, "BLOCK=64").Compile.Key != launch(t, d, nil, "BLOCK=64").Compile.Key {
		t.Errorf("the bundle launches differently: %v", err)
	}
}

// A parameter that is declared again alike is one.
func TestParameterTwice(t *testing.T) {
	const block = `{"Name": "BLOCK", "Type": "int", "Values": "[64, 128, 256, 512]"}`
	d, warnings, err := Parse("x", []byte(strings.Replace(foreign, block, block+","+block, 1)), call.Memory{"k.cu": nil})
	if err != nil || !strings.Contains(warned(warnings), "ConfigurationSpace.TuningParameters[1].Name: parameter BLOCK is declared twice, alike: the second is left out") {
		t.Fatalf("%v\n%s", err, warned(warnings))
	}
	if s, err := d.Space(nil, nil); err != nil || s.Size() != 3 {
		t.Error(s, err)
	}
}

// FuzzParse: no text makes loading or launching panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add(withArguments(`{"Type": "float2", "FillType": "BinaryRaw", "DataSource": "filter.cu"}`))
	f.Add([]byte(withOptions(`"-D X=1 -w", "-Xptxas", "-v", "-maxrregcount=32"`, "")))
	for _, name := range []string{"filter.json", "own_defaults.json", "scale_ptx.json"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, _, err := Parse("x", text, call.Memory{"filter.cu": []byte("grid_size_x ##")})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %s", err)
			}
			return
		}
		d.Launch(d.Default(), nil)
		if data, _, err := d.Bundle(); err == nil {
			if _, _, err := OpenBundle(data); err != nil {
				t.Errorf("bundle does not open: %v", err)
			}
		}
	})
}
