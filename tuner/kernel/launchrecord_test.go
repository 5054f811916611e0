package kernel

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// A record with every kind of argument.
const everyKind = `{"kernel": "k", "group": "g", "problem_size": [4, 0], "params": {"B": 64, "mode": "fast", "on": true, "f": 0.5},
 "ptx": "scale_32", "entry": "k_entry", "block": [64], "grid": [8, 2, 1], "cluster": [2, 1, 1], "dynamic_smem": 1024,
 "args": [
  {"name": "x", "type": "bfloat16", "vector": true, "count": 4096, "offset": 8},
  {"name": "labels", "type": "int64", "vector": true, "count": 100, "min": -3, "max": 50302},
  {"name": "zeros", "type": "i32", "vector": true, "count": 7},
  {"name": "t", "type": "tensormap", "tensormap": true, "bytes": 128, "element": "half", "shape": [64, 32], "strides": [128], "box": [32, 8],
   "swizzle": "64B", "interleave": "none", "l2promotion": "256B", "oobfill": "nan", "base": {"name": "t", "type": "half", "vector": true, "count": 2048, "offset": 0}},
  {"name": "u", "type": "tensormap", "tensormap": true, "element": "bfloat16", "shape": [64, 32], "strides": [128], "box": [32, 8], "base": {"name": "x", "type": "bfloat16", "vector": true, "count": 4096, "offset": 8}},
  {"name": "n", "type": "i32", "value": -5},
  {"name": "scale", "type": "fp32", "value": 0.25},
  {"name": "flag", "type": "i1", "value": true},
  {"name": "h", "type": "bf16", "value": 1.5},
  {"name": "big", "type": "u64", "value": 18446744073709551615},
  {"name": "nan", "type": "fp32", "value": "nan"}],
 "scratch": [0, 128], "trailing_params": ["global_scratch", "profile_scratch"],
 "time_us": {"median": 3.5}, "registers": 40, "meta": [1, {"a": null}]}`

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "") }

// kernelsOf makes kernels of records, one a line.
func kernelsOf(t testing.TB, records ...string) []*Definition {
	t.Helper()
	kernels, _, err := launchesOf(records...)
	if err != nil {
		t.Fatal(err)
	}
	return kernels
}

func launchesOf(records ...string) ([]*Definition, []Listed, error) {
	var lines []LaunchLine
	for i, r := range records {
		lines = append(lines, LaunchLine{i + 1, []byte(oneLine(r))})
	}
	return Launches(lines, call.Dir("testdata"))
}

func TestLaunchRecordSaysItsLaunch(t *testing.T) {
	d := kernelsOf(t, everyKind)[0]
	l, err := d.Launch(d.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "k" || d.Group != "g" || l.KernelName != "k_entry" || d.Default().String() != "B=64,mode=fast,on=true,f=0.5" {
		t.Errorf("%s, group %s, entry %s, %s", d.Name, d.Group, l.KernelName, d.Default())
	}
	if l.Block != [3]int64{64, 1, 1} || l.Grid != [3]int64{8, 2, 1} || l.Cluster != [3]int64{2, 1, 1} || l.DynamicShared != 1024 || l.CarveOut != -1 {
		t.Errorf("launch %v", l)
	}
	if string(l.Compile.Source) != "// PTX for 32\n" || l.Compile.SourceFile != "ptx/scale_32.ptx" {
		t.Errorf("PTX %q of %s", l.Compile.Source, l.Compile.SourceFile)
	}
	a := l.Args
	buffer := func(name string, t call.Type, count int64, fill call.Fill) call.Arg {
		return call.Arg{Name: name, Type: t, Lanes: 1, Count: count, Access: call.ReadWrite, Fill: fill}
	}
	scalar := func(name string, t call.Type, bits uint64, v float64) call.Arg {
		return call.Arg{Name: name, Type: t, Lanes: 1, Scalar: true, Bits: bits, Count: 1, Access: call.ReadOnly, Fill: call.Fill{Kind: call.FillConstant, Value: v}}
	}
	random := func(seed uint64) call.Fill { return call.Fill{Kind: call.FillRandom, Value: 1, Seed: seed} }
	want := []call.Arg{
		buffer("x", call.Bfloat16, 4104, random(0)),
		buffer("labels", call.Int64, 100, call.Fill{Kind: call.FillRandom, Least: -3, Value: 50303, Seed: 1}),
		buffer("zeros", call.Int32, 7, call.Fill{Kind: call.FillConstant}),
		buffer("t", call.Half, 2048, random(3)),
		buffer("u", call.Bfloat16, 4104, random(4)),
		scalar("n", call.Int32, 0xfffffffb, -5),
		scalar("scale", call.Float, uint64(math.Float32bits(0.25)), 0.25),
		scalar("flag", call.Bool, 1, 1),
		scalar("h", call.Bfloat16, 0x3fc0, 1.5),
		scalar("big", call.Uint64, math.MaxUint64, math.MaxUint64),
		a[10],
		{Name: "global_scratch", Type: call.Uint64, Lanes: 1, Scalar: true, Count: 1, Access: call.ReadWrite, Fill: call.Fill{Kind: call.FillConstant}},
		{Name: "profile_scratch", Type: call.Uint8, Lanes: 1, Count: 16 * 128, Access: call.ReadWrite, Answer: call.AnswerNone, Fill: call.Fill{Kind: call.FillConstant}},
	}
	want[0].Offset = 16
	want[3].Map = &call.TensorMap{Elem: call.Half, Of: -1, Shape: []int64{64, 32}, Strides: []int64{128}, Box: []int64{32, 8}, Swizzle: 64, L2Promotion: 256, FillNaN: true}
	want[4].Map = &call.TensorMap{Elem: call.Bfloat16, Of: 0, Offset: 16, Shape: []int64{64, 32}, Strides: []int64{128}, Box: []int64{32, 8}}
	if len(a) != len(want) {
		t.Fatalf("%d arguments, want %d", len(a), len(want))
	}
	for i := range a {
		want[i].Position = i
		if !reflect.DeepEqual(a[i], want[i]) && i != 10 {
			t.Errorf("argument %d is\n%+v, want\n%+v", i, a[i], want[i])
		}
	}
	if f := math.Float32frombits(uint32(a[10].Bits)); f == f {
		t.Errorf("NaN is %v", f)
	}
}

// The space is exactly the records, whatever product their values make.
func TestSpaceOfLaunchRecords(t *testing.T) {
	record := func(params string) string {
		return `{"kernel": "k", "params": ` + params + `, "ptx": "scale_32", "block": [32], "grid": [1], "args": []}`
	}
	d := kernelsOf(t, record(`{"A": 4, "B": true}`), record(`{"A": 1, "B": true}`), record(`{"A": 4, "B": false}`))[0]
	s, err := d.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.All() {
		got = append(got, c.String())
	}
	if want := []string{"A=1,B=true", "A=4,B=false", "A=4,B=true"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s, err = d.Space(nil, map[string][]string{"A": {"4"}}); err != nil || s.Size() != 2 {
		t.Errorf("restricted: %v, %v", s, err)
	}
	if _, err := d.Space([]int64{5}, nil); err == nil {
		t.Error("another problem size has a space")
	}
	missing := search.Config{Names: []string{"A", "B"}, Values: []search.Value{search.OfInt(1), search.OfBool(false)}}
	if _, err := d.Launch(missing, nil); err == nil || !strings.Contains(err.Error(), "no launch record of group k [] has A=1,B=false") {
		t.Errorf("a configuration without a record: %v", err)
	}
	if c, err := d.Complete(missing, []string{"B"}); err != nil || c.String() != "A=4,B=false" {
		t.Errorf("completed: %v, %v", c, err)
	}
	if _, err := d.Complete(missing, nil); err == nil || !strings.Contains(err.Error(), "give more parameters") {
		t.Errorf("ambiguous: %v", err)
	}
	// A parameter that some lack, or that is none, is a text; one configuration of two launches is told apart.
	d = kernelsOf(t, record(`{"A": 4}`), record(`{"A": 4, "C": null}`), record(`{"A": 4, "C": 2}`), strings.Replace(record(`{"A": 4, "C": 2}`), "[32]", "[64]", 1))[0]
	got = nil
	for _, c := range d.listed.configs {
		got = append(got, c.String())
	}
	if want := []string{"A=4,C=none,launch=0", "A=4,C=none,launch=0", `A=4,C="2",launch=0`, `A=4,C="2",launch=1`}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Groups of one kernel and problem size are named apart.
	two := kernelsOf(t, strings.Replace(everyKind, `"g"`, `"g fp16"`, 1), everyKind)
	if two[0].Name != "g fp16" || two[1].Name != "g" {
		t.Errorf("called %q and %q", two[0].Name, two[1].Name)
	}
}

// TestScalarsThatAreNotFinite: texts say them, and launches with different ones differ.
func TestScalarsThatAreNotFinite(t *testing.T) {
	for typ, bits := range map[string][4]uint64{
		"fp32": {0x7f800000, 0xff800000, 0x7f800000, 0xff800000},
		"fp64": {0x7ff << 52, 0xfff << 52, 0x7ff << 52, 0xfff << 52},
		"fp16": {0x7c00, 0xfc00, 0x7c00, 0xfc00},
		"bf16": {0x7f80, 0xff80, 0x7f80, 0xff80},
	} {
		var records []string
		for _, v := range []string{"inf", "-inf", "Infinity", "-Infinity"} {
			records = append(records, strings.Replace(everyKind, `"type": "fp32", "value": 0.25`, `"type": "`+typ+`", "value": "`+v+`"`, 1))
		}
		_, of, err := launchesOf(records...)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range bits {
			l, err := of[i].Kernel.Launch(of[i].Config, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a := l.Args[6]; a.Bits != want || a.Fill != (call.Fill{Kind: call.FillConstant}) {
				t.Errorf("%s of %s: bits %#x, want %#x; %+v", a.Name, typ, a.Bits, want, a.Fill)
			}
		}
	}
}

// TestManyLaunchesOfAConfiguration: a parameter tells them apart, in time that grows with their number.
func TestManyLaunchesOfAConfiguration(t *testing.T) {
	const n = 20_000
	var records []string
	for i := range n {
		records = append(records, fmt.Sprintf(`{"kernel": "k", "params": {"A": 4}, "ptx": "scale_32", "block": [32], "grid": [%d], "args": []}`, 1+i/2))
	}
	kernels, of, err := launchesOf(records...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kernels[0].Space(nil, nil)
	if err != nil || s.Size() != n/2 {
		t.Fatalf("%v, %v", s, err)
	}
	for i, l := range of {
		if got, want := l.Config.String(), fmt.Sprintf("A=4,launch=%d", i/2); got != want {
			t.Fatalf("record %d is %s, want %s", i, got, want)
		}
	}
}

// TestBundleOfRepeatedLaunches: what only a repeated launch has stays a parameter, and keeps its kind.
func TestBundleOfRepeatedLaunches(t *testing.T) {
	record := func(params string) string {
		return `{"kernel": "k", "params": ` + params + `, "ptx": "scale_32", "block": [32], "grid": [1], "args": []}`
	}
	for _, records := range [][]string{
		{record(`{"A": 4}`), record(`{"A": 4, "C": null}`)},
		{record(`{"A": 4}`), record(`{"A": 4.0}`)},
		{record(`{"A": 4}`), record(`{"C": 1, "A": 4}`), record(`{"A": 5, "C": "x,y"}`)},
		{record(`{"A": 4}`), record(`{"A": 4, "C": null}`), strings.Replace(record(`{"A": 4}`), "[32]", "[64]", 1)},
	} {
		d := kernelsOf(t, records...)[0]
		data, digest, err := d.Bundle()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := OpenBundle(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, other, err := again.Bundle(); err != nil || other != digest {
			t.Errorf("%v: the bundle's bundle is another: %v", records, err)
		}
		sameLaunches(t, d, again)
	}
}

// What could not be assembled is a configuration that does not compile.
func TestLaunchRecordOfAnError(t *testing.T) {
	d := kernelsOf(t, everyKind, `{"kernel": "k", "group": "g", "problem_size": [4, 0], "params": {"B": 1, "mode": "fast", "on": true, "f": 0.5}, "error": "ptxas fatal: no registers\nmore"}`)[0]
	l, err := d.Launch(d.listed.configs[1], nil)
	if err != nil || l.Compile.Missing == nil || l.Compile.Missing.Error() != "ptxas fatal: no registers\nmore" {
		t.Errorf("%v, %v", l, err)
	}
}

// bad are records of which something is wrong, and what is said of it. %s stands before the last argument.
var bad = []struct{ name, old, new, want string }{
	{"unknown type", `"type": "i32", "value"`, `"type": "fp4", "value"`, `args[5] (n): unknown element type "fp4"`},
	{"negative count", `"count": 4096, "offset": 8}`, `"count": -1, "offset": 8}`, "count: -1 is outside 1 to"},
	{"negative offset", `"offset": 8}`, `"offset": -8}`, "offset: -8 is outside 0"},
	{"no block", `"block": [64]`, `"block": []`, "block: one to three numbers are needed, not 0"},
	{"four dimensions", `"grid": [8, 2, 1]`, `"grid": [8, 2, 1, 1]`, "grid: one to three numbers are needed, not 4"},
	{"negative grid", `"grid": [8, 2, 1]`, `"grid": [8, -2]`, "grid: -2 is outside 1 to"},
	{"grid too large", `"grid": [8, 2, 1]`, `"grid": [2000000000, 2000000000, 2000000000]`, "larger than any GPU launches"},
	{"shared memory", `"dynamic_smem": 1024`, `"dynamic_smem": -1`, "dynamic_smem: -1 is outside"},
	{"cluster", `"cluster": [2, 1, 1]`, `"cluster": [3, 1, 1]`, "is not made of clusters of 3"},
	{"rank 6", `"shape": [64, 32], "strides": [128], "box": [32, 8],
   "swizzle"`, `"shape": [1, 1, 1, 1, 1, 1], "box": [1, 1, 1, 1, 1, 1],
   "swizzle"`, "shape: a tensor map has 1 to 5 dimensions, not 6"},
	{"rank 0", `"shape": [64, 32], "strides": [128], "box": [32, 8],
   "swizzle"`, `"swizzle"`, "shape: a tensor map has 1 to 5 dimensions, not 0"},
	{"stride", `"strides": [128], "box": [32, 8],
   "swizzle"`, `"strides": [130], "box": [32, 8],
   "swizzle"`, "strides: 130 is not a multiple of 16"},
	{"box", `"box": [32, 8],
   "swizzle"`, `"box": [32, 257],
   "swizzle"`, "box: 257 is not a multiple of 1 from 1 to 256"},
	{"box and swizzle", `"box": [32, 8],
   "swizzle"`, `"box": [64, 8],
   "swizzle"`, "box: a row of 128 bytes is longer than the swizzle of 64"},
	{"swizzle", `"swizzle": "64B"`, `"swizzle": "65B"`, `swizzle: unknown "65B"; known are none, 32B, 64B, 128B`},
	{"beyond the base", `"count": 2048, "offset": 0}`, `"count": 2047, "offset": 0}`, "reaches to byte 4096 of its base, which has 4094"},
	{"no base", `"base": {"name": "t", "type": "half", "vector": true, "count": 2048, "offset": 0}`, `"bytes": 128`, "base: missing"},
	{"element", `"element": "half"`, `"element": "float4"`, `element: unknown type "float4"`},
	{"scalar", `"value": -5`, `"value": 3000000000`, "3000000000 is not a value of type int32"},
	{"signed and too large", `"name": "big", "type": "u64", "value": 18446744073709551615`, `"name": "big", "type": "i64", "value": 9223372036854775813`, "9223372036854775813 is not a value of type int64"},
	{"null", `"value": 0.25`, `"value": null`, `args[6] (scale): value: null is not a value of type float; what is no finite number is "inf", "-inf" or "nan"`},
	{"Python's NaN", `"value": 0.25`, `"value": NaN`, "value: null is not a value of type float"},
	{"Python's infinity", `"value": 0.25`, `"value": -Infinity`, "value: null is not a value of type float"},
	{"an infinite integer", `"value": -5`, `"value": "inf"`, "value: a number is expected, not \"inf\""},
	{"no value", `"type": "i32", "value": -5`, `"type": "i32"`, "value: missing"},
	{"fraction", `"value": -5`, `"value": 1.5`, "1.5 is not a value of type int32"},
	{"min over max", `"min": -3, "max": 50302`, `"min": 3, "max": 2`, "min: 3 is more than max, 2"},
	{"min of a type", `"type": "int64", "vector": true, "count": 100, "min": -3`, `"type": "uint64", "vector": true, "count": 100, "min": -3`, "are not values of type uint64"},
	{"scratch", `"scratch": [0, 128]`, `"scratch": [0, 128, 1]`, "3 sizes are given for 2 trailing_params"},
	{"negative scratch", `"scratch": [0, 128]`, `"scratch": [0, -128]`, "scratch: -128 bytes"},
	{"path", `"ptx": "scale_32"`, `"ptx": "../../scale_32"`, `ptx: "../../scale_32" is not the name of a file`},
	{"no ptx", `"ptx": "scale_32"`, `"ptx": ""`, `ptx: "" is not the name of a file`},
	{"shape of json", `"block": [64]`, `"block": "64"`, "not a launch: json"},
}

// What is wrong with a launch is the outcome of its configuration alone, and one sentence.
func TestBadLaunchRecords(t *testing.T) {
	for _, b := range bad {
		text := strings.Replace(everyKind, b.old, b.new, 1)
		if text == everyKind {
			t.Errorf("%s: nothing is replaced", b.name)
		}
		kernels, of, err := launchesOf(text, everyKind)
		if err != nil {
			t.Errorf("%s: %v", b.name, err)
			continue
		}
		_, err = kernels[0].Launch(of[0].Config, nil)
		if err == nil || !strings.Contains(err.Error(), b.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", b.name, err, b.want)
		}
		if _, err := kernels[0].Launch(of[1].Config, nil); err != nil {
			t.Errorf("%s: the other record: %v", b.name, err)
		}
	}
	for want, text := range map[string]string{
		`it has no "params"`:                        `{"kernel": "k"}`,
		`it has no "kernel"`:                        `{"params": {}}`,
		"not a launch record: json":                 `{"kernel": 3, "params": {}}`,
		"not a launch record: unexpected end":       everyKind[:300],
		"params.B: a value is a number":             strings.Replace(everyKind, `"B": 64`, `"B": [64]`, 1),
		`"block size" is not an identifier`:         strings.Replace(everyKind, `"B"`, `"block size"`, 1),
		`line 2: params: "block size" is not`:       strings.Replace(everyKind, `"B"`, `"B": 64, "block size"`, 1),
		"problem_size is [5], and [4 0] in line 1 ": strings.Replace(everyKind, `[4, 0]`, `[5]`, 1),
		`kernel is "q", and "k" in line 1`:          strings.Replace(everyKind, `"kernel": "k"`, `"kernel": "q"`, 1),
		"problem_size: -4":                          strings.ReplaceAll(everyKind, `[4, 0]`, `[-4, 0]`),
	} {
		first := everyKind
		if strings.Contains(want, "-4") {
			first = text
		}
		if _, _, err := launchesOf(first, text); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// folder writes a folder of launch records.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // memory takes all
	_ = z.Close()
	return b.Bytes()
}

func zippedFile(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("// PTX for 32\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Wherever a folder keeps its records and PTX, it is the same kernel; a bundle is the same again.
func TestLaunchFolders(t *testing.T) {
	text := oneLine(everyKind) + "\n\n" + oneLine(strings.Replace(everyKind, `"B": 64`, `"B": 32`, 1)) + "\n"
	ptx := []byte("// PTX for 32\n")
	var digests []string
	for _, files := range []map[string][]byte{
		{"launches.jsonl": []byte(text), "ptx/scale_32.ptx": ptx},
		{"launches.jsonl.gz": gzipped(text), "ptx.zip": zippedFile(t, "folder/scale_32.ptx")},
		{"launches.jsonl": []byte(strings.ReplaceAll(text, `"median": 3.5`, `"median": 9`)), "ptx/scale_32.ptx": ptx},
	} {
		kernels, err := LoadFolder(folder(t, files))
		if err != nil {
			t.Fatal(err)
		}
		data, digest, err := kernels[0].Bundle()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
		again, _, err := OpenBundle(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, d, err := again.Bundle(); err != nil || d != digest {
			t.Errorf("the bundle's bundle is another: %v", err)
		}
		sameLaunches(t, kernels[0], again)
	}
	if digests[0] != digests[1] || digests[0] != digests[2] {
		t.Errorf("digests %v", digests)
	}
}

// sameLaunches compares all that two kernels launch.
func sameLaunches(t *testing.T, a, b *Definition) {
	t.Helper()
	if a.Name != b.Name || a.Group != b.Group || !slices.Equal(a.Problem, b.Problem) || a.KernelName != b.KernelName {
		t.Errorf("%s, %s, %v, %s became %s, %s, %v, %s", a.Name, a.Group, a.Problem, a.KernelName, b.Name, b.Group, b.Problem, b.KernelName)
	}
	sa, errA := a.Space(nil, nil)
	sb, errB := b.Space(nil, nil)
	if errA != nil || errB != nil || sa.Size() != sb.Size() {
		t.Fatalf("spaces: %v, %v", errA, errB)
	}
	for i, c := range sa.All() {
		if other := sb.At(i); !c.Equal(other) {
			t.Fatalf("configuration %d is %s, and %s", i, c, other)
		}
		la, errA := a.Launch(c, nil)
		lb, errB := b.Launch(c, nil)
		if fmt.Sprint(errA) != fmt.Sprint(errB) || !reflect.DeepEqual(la, lb) {
			t.Errorf("%s: %.300s, %v, and %.300s, %v", c, fmt.Sprintf("%+v", la), errA, fmt.Sprintf("%+v", lb), errB)
		}
	}
}

func TestBadLaunchFolders(t *testing.T) {
	text := oneLine(everyKind)
	whole := gzipped(text)
	ptx := map[string][]byte{"ptx/scale_32.ptx": []byte("x")}
	for want, files := range map[string]map[string][]byte{
		"is a directory without launches.jsonl":                     {"ptx/scale_32.ptx": nil},
		"no launch records are in it":                               {"launches.jsonl": nil},
		"is the file cut off?":                                      {"launches.jsonl.gz": whole[:len(whole)-20], "ptx/scale_32.ptx": nil},
		"not a valid gzip file":                                     {"launches.jsonl.gz": whole[:5], "ptx/scale_32.ptx": nil},
		"none of ptx/, ptx.zip and ptx.tar.zst is in it":            {"launches.jsonl": []byte(text)},
		"line 1: no scale_32.ptx is with the PTX":                   {"launches.jsonl": []byte(text), "ptx/other.ptx": nil},
		"not a valid zip file":                                      {"launches.jsonl": []byte(text), "ptx.zip": []byte("PK")},
		`file "../scale_32.ptx" leads out of the archive`:           {"launches.jsonl": []byte(text), "ptx.zip": zippedFile(t, "../scale_32.ptx")},
		"two files are called scale_32.ptx":                         {"launches.jsonl": []byte(text), "ptx.zip": zippedFile(t, "a/scale_32.ptx", "b/scale_32.ptx")},
		`line 1: ptx: "../a" is not the name of a file`:             {"launches.jsonl": []byte(strings.Replace(text, `"scale_32"`, `"../a"`, 1)), "ptx/scale_32.ptx": nil},
		"line 2: not a launch record":                               {"launches.jsonl": []byte(text + "\n{"), "ptx/scale_32.ptx": ptx["ptx/scale_32.ptx"]},
		fmt.Sprintf("line 1 has more than %d bytes", maxLaunchLine): {"launches.jsonl": bytes.Repeat([]byte(" x"), maxLaunchLine), "ptx/scale_32.ptx": nil},
	} {
		dir := folder(t, files)
		_, err := LoadFolder(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Every kernel of the launches measured on Hopper says the same launches after its way through a
// bundle, and the same on both GPUs.
func TestMeasuredLaunches(t *testing.T) {
	dirs := []string{shared(t, "hopper/h100"), shared(t, "hopper/h200")}
	var digests [2][]string
	for i, from := range dirs {
		records, err := os.ReadFile(filepath.Join(from, "launches.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := os.ReadFile(filepath.Join(dirs[0], "ptx.zip"))
		if err != nil {
			t.Fatal(err)
		}
		kernels, err := LoadFolder(folder(t, map[string][]byte{"launches.jsonl.gz": records, "ptx.zip": ptx}))
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, d := range kernels {
			data, digest, err := d.Bundle()
			if err != nil {
				t.Fatal(err)
			}
			digests[i] = append(digests[i], digest)
			again, _, err := OpenBundle(data)
			if err != nil {
				t.Fatal(err)
			}
			sameLaunches(t, d, again)
			s, err := d.Space(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			total += s.Size()
			for _, c := range s.All() {
				if _, err := d.Launch(c, nil); err != nil {
					t.Errorf("%s: %v", d.Group, err)
				}
			}
		}
		if len(kernels) != 18 || total != 488 {
			t.Errorf("%d groups of %d launches", len(kernels), total)
		}
	}
	if !slices.Equal(digests[0], digests[1]) {
		t.Error("the same launches timed on another GPU are other kernels")
	}
}

// FuzzLaunches reads anything without a panic, and what it reads it writes and reads again.
func FuzzLaunches(f *testing.F) {
	f.Add([]byte(oneLine(everyKind)))
	for _, b := range bad {
		f.Add([]byte(oneLine(strings.Replace(everyKind, b.old, b.new, 1))))
	}
	f.Add([]byte(`{"kernel":"k","params":{"a":1},"error":"x"}` + "\n" + `{"kernel":"k","params":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines, err := launchLines(bytes.NewReader(text))
		if err != nil {
			return
		}
		kernels, of, err := Launches(lines, call.Dir("testdata"))
		if err != nil {
			return
		}
		for _, l := range of {
			_, _ = l.Kernel.Launch(l.Config, nil)
		}
		for _, d := range kernels {
			_ = d.Launchable()
			s, err := d.Space(nil, nil)
			if err != nil || s.Size() < 1 {
				t.Errorf("%s: space %v, %v", d.Name, s, err)
			}
			data, _, err := d.Bundle()
			if err != nil || d.listed.wrong() != nil {
				continue
			}
			again, _, err := OpenBundle(data)
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			sameLaunches(t, d, again)
		}
	})
}
