package evaluate

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// gather reads x[idx[i]], n numbers of it, into y.
const gather = `.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 weights[16];
.visible .entry _Z6gatherPfPiS_i(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3)
{
.reg .pred %p<2>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<12>;
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2]; ld.param.u32 %r1, [p3];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
setp.ge.s32 %p1, %r5, %r1;
@%p1 bra DONE;
mul.wide.s32 %rd4, %r5, 4;
add.s64 %rd5, %rd2, %rd4;
ld.global.u32 %r6, [%rd5];
mul.wide.s32 %rd6, %r6, 4;
add.s64 %rd7, %rd1, %rd6;
ld.global.f32 %f1, [%rd7];
ld.const.f32 %f2, [weights];
mul.f32 %f1, %f1, %f2;
add.s64 %rd8, %rd3, %rd4;
st.global.f32 [%rd8], %f1;
DONE: ret;
}
`

func evaluated(t *testing.T, arguments string, files fstest.MapFS) tuner.Outcome {
	t.Helper()
	files["k.ptx"] = &fstest.MapFile{Data: []byte(gather)}
	def, _, err := kernel.Parse("g", []byte(`{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[64]"}]},
		"KernelSpecification": {"Language": "PTX", "KernelName": "gather", "KernelFile": "k.ptx", "LocalSize": {"X": "B"}, "GlobalSize": {"X": 4},
		"Arguments": [`+arguments+`]}}`), files)
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := New(compile.Of(compile.Given{})).Evaluate(t.Context(), Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	x       = `{"Name": "x", "Type": "float", "Size": 256}`
	idx     = `{"Name": "idx", "Type": "int32", "Size": 256, "FillType": "Generator", "DataSource": "i"}`
	y       = `{"Name": "y", "Type": "float", "Size": 256}`
	n       = `{"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 256}`
	weights = `{"Name": "weights", "Type": "float", "Size": 4, "MemoryType": "Symbol"}`
)

// What fails because of a launch's arguments names the definition's field.
func TestFailuresNameTheDefinition(t *testing.T) {
	list := func(a ...string) string { return strings.Join(a, ", ") }
	for name, tt := range map[string]struct{ arguments, want string }{
		"too small":                    {list(x, idx, `{"Name": "out", "Type": "float", "Size": 100}`, n), "; KernelSpecification.Arguments[2].Size (out) gives it 100 elements"},
		"behind a constant":            {list(weights, `{"Name": "x (a, b)", "Type": "float", "Size": 9}`, idx, y, n), "; KernelSpecification.Arguments[1].Size (x (a, b)) gives it 9 elements"},
		"before":                       {list(x, `{"Name": "idx", "Type": "int32", "Size": 256, "FillValue": -3}`, y, n), "; the buffer is KernelSpecification.Arguments[0] (x)"},
		"too many":                     {list(x, idx, y, n, n), "kernel gather takes 4 arguments, but KernelSpecification.Arguments lists 5 that are not Constant memory: x, idx, y, n, n"},
		"none":                         {"", "kernel gather takes 4 arguments, but KernelSpecification.Arguments lists none that are not Constant memory"},
		"wide scalar":                  {list(x, idx, y, `{"Name": "n", "Type": "double", "MemoryType": "Scalar"}`), "KernelSpecification.Arguments[3].Type (n): a scalar of double has 8 bytes, but that parameter of kernel gather has 4"},
		"another kind":                 {list(x, idx, y, `{"Name": "n", "Type": "float", "MemoryType": "Scalar", "FillValue": 256}`), "KernelSpecification.Arguments[3].Type (n): float is a floating-point number, but that parameter of kernel gather (p3) is an integer: is its Type right"},
		"a pair of halves":             {list(x, idx, y, `{"Name": "n", "Type": "half4", "MemoryType": "Scalar"}`), "KernelSpecification.Arguments[3].Type (n): a scalar of half4 has 8 bytes, but that parameter of kernel gather has 4"},
		"larger than the GPU":          {list(x, idx, `{"Name": "y", "Type": "double2", "Size": 5368709121}`, n), "KernelSpecification.Arguments[2].Size (y): 5368709121 elements of double2 are 85899345936 bytes, more than the 85899345920 bytes of memory of NVIDIA A100 SXM4 80 GB"},
		"larger than the GPU together": {list(`{"Name": "x", "Type": "float", "Size": 10737418240}`, `{"Name": "i", "Type": "int32", "Size": 10737418240, "FillValue": 0}`, y, n), "KernelSpecification.Arguments: the buffers together need 85899346944 bytes, more than the 85899345920 bytes of memory of NVIDIA A100 SXM4 80 GB"},
		"as large as the GPU":          {list(`{"Name": "x", "Type": "float", "Size": 10737418240}`, `{"Name": "i", "Type": "int32", "Size": 10737417728, "FillValue": -3}`, y, n), "before argument 0 (x)"},
		"buffer":                       {list(x, idx, y, `{"Name": "n", "Type": "int32", "Size": 1}`), "KernelSpecification.Arguments[3] (n): a Vector is passed as an address of 8 bytes, but that parameter of kernel gather has 4: is it a Scalar?"},
		"unknown":                      {list(x, idx, y, n, `{"Name": "filter", "Type": "float", "Size": 4, "MemoryType": "Symbol"}`), "KernelSpecification.Arguments[4].Name (filter): the source has no __constant__ variable of that name"},
		"large":                        {list(x, idx, y, n, strings.Replace(weights, "4", "5", 1)), "KernelSpecification.Arguments[4].Size (weights): variable weights: 5 elements of 4 bytes do not fit its 16 bytes"},
	} {
		out := evaluated(t, tt.arguments, fstest.MapFS{})
		if out.Validity != tuner.Runtime || !strings.Contains(out.Message, tt.want) {
			t.Errorf("%s: %s: %s\nwant %s", name, out.Validity, out.Message, tt.want)
		}
	}
}

// A kernel reads what a file holds: indices from it lead where they say, and what
// it holds is part of the question.
func TestFilesFillBuffers(t *testing.T) {
	file := func(last uint32) fstest.MapFS {
		var b []byte
		for i := range uint32(255) {
			b = binary.LittleEndian.AppendUint32(b, i)
		}
		return fstest.MapFS{"idx.bin": {Data: binary.LittleEndian.AppendUint32(b, last)}}
	}
	raw := `{"Name": "idx", "Type": "int32", "FillType": "BinaryRaw", "DataSource": "idx.bin"}`
	digests := map[string]bool{}
	for _, last := range []uint32{255, 0} {
		out := evaluated(t, x+", "+raw+", "+y+", "+n, file(last))
		if out.Validity != tuner.Correct || digests[out.Digest] {
			t.Errorf("%s: %s, digest %s", out.Validity, out.Message, out.Digest)
		}
		digests[out.Digest] = true
	}
	for _, last := range []uint32{256, math.MaxUint32} {
		if out := evaluated(t, x+", "+raw+", "+y+", "+n, file(last)); out.Validity != tuner.Runtime || !strings.Contains(out.Message, "thread 63") {
			t.Errorf("%s: %s", out.Validity, out.Message)
		}
	}
}
