package kernel

import (
	"bytes"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// byValue is a definition of one argument passed by value.
func byValue(fields string) string {
	return `{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[32]"}]},
"KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "LocalSize": {"X": "B"}, "GlobalSizeType": "CUDA", "GlobalSize": {"X": "1"},
"Arguments": [{"Name": "p", "MemoryType": "Scalar", ` + fields + `}]}}`
}

// TestByValue: scalars, vectors and structures come to the bytes that a kernel is passed.
func TestByValue(t *testing.T) {
	files := call.Memory{"k.cu": []byte("__global__ void k() {}"), "p.bin": {1, 2, 3, 4, 5}}
	for _, c := range []struct {
		fields string
		bits   uint64
		bytes  []byte
	}{
		{`"Type": "half", "FillValue": 1`, 0x3c00, nil},
		{`"Type": "bfloat16", "FillValue": 1`, 0x3f80, nil},
		{`"Type": "float8_e4m3", "FillValue": 1`, 0x38, nil},
		{`"Type": "half2", "FillValue": 1`, 0, []byte{0, 0x3c, 0, 0x3c}},
		{`"Type": "int3", "FillValue": [1, "2*3", "B"]`, 0, []byte{1, 0, 0, 0, 6, 0, 0, 0, 32, 0, 0, 0}},
		{`"Type": "uchar2", "FillValue": "[255, 7]"`, 0, []byte{255, 7}},
		{`"Type": "float2"`, 0, make([]byte, 8)},
		{`"Type": "custom", "Fields": [{"Type": "uint8", "FillValue": 1}, {"Type": "int32", "FillValue": "B"}, {"Type": "half2", "Size": 2, "FillValue": [0, 1]}, {"Type": "uint8"}]`, 0,
			[]byte{1, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0x3c, 0, 0, 0, 0x3c, 0, 0, 0, 0}},
		{`"Type": "custom", "Fields": [{"Type": "uint8", "FillValue": 2}, {"Type": "custom", "Fields": [{"Type": "uint64", "FillValue": 3}]}]`, 0, []byte{2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}},
		{`"Type": "custom", "FillType": "BinaryRaw", "DataSource": "p.bin"`, 0, []byte{1, 2, 3, 4, 5}},
	} {
		d, _, err := Parse("k", []byte(byValue(c.fields)), files)
		if err != nil {
			t.Fatalf("%s: %v", c.fields, err)
		}
		l, err := d.Launch(d.Default(), nil)
		if err != nil {
			t.Errorf("%s: %v", c.fields, err)
		} else if a := l.Args[0]; a.Bits != c.bits || !bytes.Equal(a.Bytes, c.bytes) {
			t.Errorf("%s: bits %#x, bytes %v", c.fields, a.Bits, a.Bytes)
		}
	}
	for fields, want := range map[string]string{
		`"Type": "int3", "FillValue": [1, 2]`:                               "2 values are given, type int3 has 3",
		`"Type": "uchar2", "FillValue": 256`:                                "256 is not a value of type uint8",
		`"Type": "float2", "FillType": "Random"`:                            "not random",
		`"Type": "custom"`:                                                  "a Scalar whose bytes are a file's",
		`"Type": "int2", "FillType": "BinaryRaw", "DataSource": "p.bin"`:    "not a number of elements of 8",
		`"Type": "half", "FillType": "BinaryRaw", "DataSource": "none.bin"`: "none.bin",
	} {
		d, _, err := Parse("k", []byte(byValue(fields)), files)
		if err == nil {
			_, err = d.Launch(d.Default(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fields, err, want)
		}
	}
}
