package kernel

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// tensorDefinition is a definition with a tensor map of its own buffer and one of another's.
const tensorDefinition = `{
  "ConfigurationSpace": {"TuningParameters": [
    {"Name": "BK", "Type": "int", "Values": [16, 32, 64]}, {"Name": "CLUSTER", "Type": "int", "Values": [1, 2]}]},
  "KernelSpecification": {
    "Language": "PTX", "KernelName": "k", "KernelFile": "ptx/scale_32.ptx", "ProblemSize": [256, 128],
    "LocalSize": {"X": 128}, "GlobalSize": {"X": 8}, "ClusterSize": {"X": "CLUSTER"},
    "Arguments": [
      {"Name": "c", "Type": "float", "Size": "ProblemSize[0]"},
      {"Name": "table", "Type": "int32", "Size": 16, "MemType": "Constant"},
      {"Name": "b", "Type": "half", "Size": "ProblemSize[0] * ProblemSize[1]", "FillType": "Random", "FillValue": 1},
      {"Name": "ta", "Type": "bfloat16", "MemoryType": "TensorMap", "Shape": ["ProblemSize[0]", "ProblemSize[1]"], "Box": ["BK", 64],
       "Swizzle": "min(2 * BK, 128)", "L2Promotion": "256B", "OutOfBounds": "nan", "FillType": "Random", "FillValue": 2, "RandomSeed": 3},
      {"Name": "tb", "Type": "half", "MemoryType": "TensorMap", "Of": "b", "Shape": ["ProblemSize[0]", 64], "Strides": ["4 * ProblemSize[0]"],
       "Box": [16, 8], "ElementStrides": [1, 2], "Swizzle": "32B"}]}}`

func TestTensorMapOfADefinition(t *testing.T) {
	d, warnings, err := Parse("x", []byte(tensorDefinition), call.Dir("testdata"))
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	cfg, err := d.Config(map[string]string{"BK": "64", "CLUSTER": "2"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Launch(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.Cluster != [3]int64{2, 1, 1} {
		t.Errorf("cluster %v", l.Cluster)
	}
	ta := call.Arg{Name: "ta", Type: call.Bfloat16, Lanes: 1, Count: 256 * 128, Access: call.ReadWrite, Position: 3, Fill: call.Fill{Kind: call.FillRandom, Value: 2, Seed: 3},
		Map: &call.TensorMap{Elem: call.Bfloat16, Of: -1, Shape: []int64{256, 128}, Strides: []int64{512}, Box: []int64{64, 64}, Swizzle: 128, L2Promotion: 256, FillNaN: true}}
	tb := &call.TensorMap{Elem: call.Half, Of: 1, Shape: []int64{256, 64}, Strides: []int64{1024}, Box: []int64{16, 8}, ElementStrides: []int64{1, 2}, Swizzle: 32}
	if !reflect.DeepEqual(l.Args[2], ta) {
		t.Errorf("%+v, map %+v", l.Args[2], l.Args[2].Map)
	}
	if !reflect.DeepEqual(l.Args[3].Map, tb) {
		t.Errorf("%+v", l.Args[3].Map)
	}
	if l, err = d.Launch(d.Default(), nil); err != nil || l.Cluster != [3]int64{} || l.Args[2].Map.Swizzle != 32 {
		t.Errorf("%v, %v", l, err)
	}
	if !d.UsesProblem() {
		t.Error("the shapes are said not to depend on the problem size")
	}
}

func TestBadTensorMaps(t *testing.T) {
	for _, b := range []struct{ old, new, want string }{
		{`"Box": ["BK", 64]`, `"Box": ["BK"]`, "box: 2 numbers are needed for 2 dimensions, not 1"},
		{`"Box": ["BK", 64]`, `"Box": ["BX", 64]`, `"BX" uses the unknown name BX`},
		{`"Box": ["BK", 64],`, ``, "KernelSpecification.Arguments[3].Box: missing"},
		{`"min(2 * BK, 128)"`, `"2 * BK + 1"`, "Swizzle: 33 bytes are none of 0, [32 64 128]"},
		{`"min(2 * BK, 128)"`, `"33B"`, "KernelSpecification.Arguments[3].Swizzle"},
		{`"nan"`, `"one"`, `OutOfBounds: unknown "one"; known are zero, nan`},
		{`"Type": "bfloat16"`, `"Type": "float4"`, "elements of one number each"},
		{`"Of": "b"`, `"Of": "x"`, `Of: there is no argument "x"`},
		{`"Of": "b"`, `"Of": "table"`, `Of: argument "table" is no buffer`},
		{`"Shape": ["ProblemSize[0]", 64]`, `"Shape": ["ProblemSize[0]", 65]`, "the tensor reaches to byte 66048 of its buffer, which has 65536"},
		{`"Strides": ["4 * ProblemSize[0]"]`, `"Strides": [24]`, "strides: 24 is not a multiple of 16"},
		{`"CLUSTER"}`, `"3"}`, "a grid of 8 CTAs in X is not made of clusters of 3"},
		{`"CLUSTER"}`, `"0"}`, "ClusterSize.X: 0 is outside 1 to"},
	} {
		text := strings.Replace(tensorDefinition, b.old, b.new, 1)
		if text == tensorDefinition {
			t.Errorf("%s: nothing is replaced", b.new)
		}
		d, _, err := Parse("x", []byte(text), call.Dir("testdata"))
		if err == nil {
			_, err = d.Launch(d.Default(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), b.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", b.new, err, b.want)
		}
	}
	// Fields of a tensor map change nothing of other arguments.
	text := strings.Replace(tensorDefinition, `"Size": 16,`, `"Size": 16, "Box": [1],`, 1)
	if _, warnings, err := Parse("x", []byte(text), call.Dir("testdata")); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "a field of MemoryType TensorMap") {
		t.Errorf("%v, %v", warnings, err)
	}
}

// Every type of T1, by every way, is of the size and the value that it says.
func TestSmallTypes(t *testing.T) {
	for name, want := range map[string]struct {
		t     call.Type
		lanes int
	}{
		"bfloat16": {call.Bfloat16, 1}, "bfloat162": {call.Bfloat16, 2}, "float8_e4m3": {call.Float8E4M3, 1}, "float8_e4m34": {call.Float8E4M3, 4}, "float8_e5m216": {call.Float8E5M2, 16}, "half2": {call.Half, 2}, "int3": {call.Int32, 3},
	} {
		if typ, lanes, err := call.ParseType(name); err != nil || typ != want.t || lanes != want.lanes {
			t.Errorf("%s is %s of %d lanes, %v", name, typ, lanes, err)
		}
	}
	for name, bits := range map[string]uint64{"bfloat16": 0x3fc0, "float8_e4m3": 0x3c, "float8_e5m2": 0x3e, "half": 0x3e00, "float": 0x3fc00000} {
		text := fmt.Sprintf(`{"ConfigurationSpace": {"TuningParameters": [{"Name": "A", "Type": "int", "Values": [1]}]}, "KernelSpecification": {"Language": "PTX", "KernelName": "k",
			"KernelFile": "ptx/scale_32.ptx", "LocalSize": {"X": 1}, "GlobalSize": {"X": 1}, "Arguments": [{"Name": "s", "Type": %q, "MemoryType": "Scalar", "FillValue": 1.5}]}}`, name)
		d, _, err := Parse("x", []byte(text), call.Dir("testdata"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := d.Launch(search.Config{Names: []string{"A"}, Values: search.Ints(1)}, nil)
		if err != nil || l.Args[0].Bits != bits {
			t.Errorf("%s: %#x, want %#x, %v", name, l.Args[0].Bits, bits, err)
		}
	}
}
