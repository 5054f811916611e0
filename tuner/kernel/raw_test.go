package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// withArguments is a definition with other arguments.
func withArguments(arguments string) []byte {
	before, _, _ := strings.Cut(foreign, `"Arguments": [`)
	return []byte(before + `"Arguments": [` + arguments + "]}}")
}

// Files of arguments travel with the definition, are its elements, and say how
// many there are; what they hold is part of its digest.
func TestBinaryRaw(t *testing.T) {
	var data []byte
	for i := range 8 {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i)/2))
	}
	files := call.Memory{"k.cu": []byte("BLOCK"), "in/x.bin": data, "n.bin": {0xfe, 0xff, 0xff, 0xff}}
	text := withArguments(`{"Type": "float2", "FillType": "BinaryRaw", "DataSource": "in/x.bin"},
		{"Type": "float", "Size": 3, "FillType": "BinaryRaw", "DataSource": "in\\x.bin"},
		{"Type": "int32", "MemoryType": "Scalar", "FillType": "BinaryRaw", "DataSource": "n.bin"}`)
	d, warnings, err := Parse("x", text, files)
	if err != nil || d.Launchable() != nil {
		t.Fatal(err, d.Launchable())
	}
	if !strings.Contains(warned(warnings), "KernelSpecification.Arguments[0].Name: missing; called argument 0") {
		t.Errorf("warnings:\n%s", warned(warnings))
	}
	data0, digest, err := d.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := OpenBundle(data0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Definition{d, o} {
		a := launch(t, d, nil, "BLOCK=64").Args
		if a[0].Count != 4 || a[0].Fill.Kind != call.FillBinaryRaw || a[0].Fill.Raw.Value(call.Float, 7) != 3.5 || a[0].Name != "argument 0" {
			t.Errorf("%+v", a[0])
		}
		if a[1].Count != 3 || a[1].Fill.Raw != a[0].Fill.Raw || a[2].Bits != 0xfffffffe || a[2].Fill != (call.Fill{Kind: call.FillConstant, Value: -2}) {
			t.Errorf("%+v\n%+v", a[1], a[2])
		}
	}
	data[0] = 1
	if d, _, err = Parse("x", text, files); err != nil {
		t.Fatal(err)
	}
	if _, other, err := d.Bundle(); err != nil || other == digest {
		t.Error("another file, the same digest", err)
	}
	text = withArguments(`{"Type": "float", "Size": "BLOCK", "FillType": "BinaryRaw", "DataSource": "in/x.bin"}`)
	if d, _, err = Parse("x", text, files); err != nil {
		t.Fatal(err)
	}
	if _, err := tryLaunch(d, nil, "BLOCK=64"); err == nil || !strings.Contains(err.Error(), "Arguments[0].Size: 64 elements of type float are asked for, in/x.bin holds 8, with BLOCK=64") {
		t.Error(err)
	}
}

// What makes every configuration impossible is said once, and the space can be
// read nevertheless.
func TestNothingCanBeLaunched(t *testing.T) {
	files := call.Memory{"k.cu": nil, "odd.bin": make([]byte, 5), "long.bin": make([]byte, 8)}
	for argument, want := range map[string]string{
		`"Type": "float", "FillType": "BinaryRaw", "DataSource": "gone.bin"`: "FillType BinaryRaw: open gone.bin: file does not exist; use FillType Random where contents do not matter",
		`"Type": "float", "FillType": "BinaryRaw", "DataSource": "../x.bin"`: `file "../x.bin": a path inside`,
		`"Type": "float", "FillType": "BinaryRaw"`:                           "DataSource is missing",
		`"Type": "float", "FillType": "BinaryRaw", "DataSource": "odd.bin"`:  "the 5 bytes of odd.bin are not a number of elements of 4",
		`"Type": "float", "Size": 1, "FillType": "BinaryHDF5"`:               "FillType BinaryHDF5 cannot be simulated",
		`"Type": "custom", "Size": 1`:                                        "elements of a custom type cannot be simulated",
		`"Type": "float", "Size": 1, "MemType": "Texture"`:                   "texture references are gone",
	} {
		d, _, err := Parse("x", withArguments("{"+argument+"}"), files)
		if err != nil {
			t.Errorf("%s: %v", argument, err)
			continue
		}
		if s, err := d.Space(nil, nil); err != nil || s.Size() != 3 {
			t.Errorf("%s: %v", argument, err)
		}
		err = d.Launchable()
		if err == nil || !strings.HasPrefix(err.Error(), "kernel x: KernelSpecification.Arguments[0]: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", argument, err)
		}
		if _, again := tryLaunch(d, nil, "BLOCK=64"); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s: a launch says %v", argument, again)
		}
	}
	d, _, err := Parse("x", []byte(strings.Replace(foreign, `"CUDA"`, `"OpenCL"`, 1)), files)
	if err != nil || d.Launchable() == nil || !strings.Contains(d.Launchable().Error(), "OpenCL kernels cannot be simulated") {
		t.Error(err, d.Launchable())
	}
	if _, _, err := Parse("x", withArguments(`{"Type": "float", "Size": 1, "MemType": "Constant"}`), files); err == nil || !strings.Contains(err.Error(), "Arguments[0].Name: missing; it is the __constant__") {
		t.Error(err)
	}
}

// Files that are too large are not read.
func TestFilesAreLimited(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"large.bin": maxRaw + 4, "huge.bin": 1 << 40, "k.cu": 0} {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			err = errors.Join(f.Truncate(size), f.Close())
		}
		var p *fs.PathError
		if errors.As(err, &p) {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{"large.bin": "more than the 32 MiB that may be", "huge.bin": "more than the 64 MiB that a definition's file may have"} {
		d, _, err := Parse("x", withArguments(`{"Type": "float", "FillType": "BinaryRaw", "DataSource": "`+name+`"}`), call.Dir(dir))
		if err != nil || d.Launchable() == nil || !strings.Contains(d.Launchable().Error(), want) {
			t.Errorf("%s: %v, %v", name, err, d.Launchable())
		}
	}
}
