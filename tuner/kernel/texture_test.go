package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

const textureDefinition = `{
  "ConfigurationSpace": {"TuningParameters": [{"Name": "BK", "Type": "int", "Values": [16]}]},
  "KernelSpecification": {
    "Language": "PTX", "KernelName": "k", "KernelFile": "ptx/scale_32.ptx", "ProblemSize": [256], "LocalSize": {"X": 128}, "GlobalSize": {"X": 8},
    "Arguments": [{"Name": "c", "MemoryType": "Texture", FIELDS}, {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1}]}}`

// What no texel is of, and what texels of a type cannot be read as, is refused when a definition is read.
func TestTexelsOfADefinition(t *testing.T) {
	for fields, want := range map[string]string{
		`"Type": "float4", "Shape": [16, 16], "Filter": "linear"`:                       "",
		`"Type": "half", "Shape": [16], "Filter": "linear"`:                             "",
		`"Type": "uchar2", "Shape": [16], "Filter": "linear", "ReadMode": "normalized"`: "",
		`"Type": "int", "Shape": [16, 16], "Linear": true`:                              "",
		`"Type": "float", "Shape": [16, 16], "Linear": true, "Filter": "linear"`:        "",
		`"Type": "double", "Shape": [16]`:                                               "Arguments[0].Type: no texel is of type double: they are of integers of 8, 16 or 32 bits, half or float",
		`"Type": "int64", "Shape": [16]`:                                                "no texel is of type int64",
		`"Type": "bfloat16", "Shape": [16]`:                                             "no texel is of type bfloat16",
		`"Type": "float3", "Shape": [16]`:                                               "no texel is of type float3: they have 1, 2 or 4 channels",
		`"Type": "float", "Shape": [16], "ReadMode": "normalized"`:                      "Arguments[0].ReadMode: normalized is for integers of 8 or 16 bits, not float",
		`"Type": "int", "Shape": [16], "ReadMode": "normalized"`:                        "not int32",
		`"Type": "uchar", "Shape": [16], "Filter": "linear"`:                            "Arguments[0].Filter: linear is for texels of half or float",
		`"Type": "float", "Shape": [16], "Linear": true, "Filter": "linear"`:            "linear is not for linear memory of one dimension",
	} {
		_, _, err := Parse("x", []byte(strings.Replace(textureDefinition, "FIELDS", fields, 1)), call.Dir("testdata"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", fields, err, want)
		}
	}
}

// Address modes are one for all dimensions, one each, or all three of CUDA's.
func TestAddressModesOfADefinition(t *testing.T) {
	for fields, want := range map[string][]call.AddressMode{
		`"Shape": [16]`:                                                {call.AddressClamp},
		`"Shape": [16, 16], "Address": "border"`:                       {call.AddressBorder, call.AddressBorder},
		`"Shape": [16], "Address": ["border", "border"]`:               {call.AddressBorder, call.AddressBorder},
		`"Shape": [16], "Address": ["border", "clamp", "border"]`:      {call.AddressBorder, call.AddressClamp, call.AddressBorder},
		`"Shape": [16, 16, 16], "Address": ["border", "clamp"]`:        nil,
		`"Shape": [16], "Address": ["clamp","clamp","clamp", "clamp"]`: nil,
	} {
		d, _, err := Parse("x", []byte(strings.Replace(textureDefinition, "FIELDS", `"Type": "float", `+fields, 1)), call.Dir("testdata"))
		if err != nil {
			t.Fatal(fields, err)
		}
		l, err := d.Launch(d.Default(), nil)
		switch {
		case want == nil && (err == nil || !strings.Contains(err.Error(), "Arguments[0].Address: one mode is expected")):
			t.Errorf("%s: %v", fields, err)
		case want != nil && (err != nil || !slices.Equal(l.Args[0].Texture.Address, want)):
			t.Errorf("%s: %v, want %v", fields, err, want)
		}
	}
}
