package evaluate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// TestSourcesAsNVCCTakesThem evaluates whole definitions whose sources nvcc or NVRTC takes, or
// whose failure has to name the place. A kernel that finds a wrong value writes out of bounds.
func TestSourcesAsNVCCTakesThem(t *testing.T) {
	t.Run("clang", func(t *testing.T) { testSources(t, compile.NewClangAsNVCC(sandbox.DefaultLimits())) })
	t.Run("nvcc", func(t *testing.T) { testSources(t, compile.NewNVCC("", sandbox.DefaultLimits())) })
}

// testSources skips where the compiler is not installed.
func testSources(t *testing.T, compiler compile.Driver) {
	var u *compile.UnavailableError
	if _, err := compiler.Identify(t.Context()); errors.As(err, &u) {
		t.Skip(err)
	}
	d, err := arch.Load("a100")
	if err != nil {
		t.Fatal(err)
	}
	structure := binary.LittleEndian.AppendUint32(nil, 100)
	for i := range 4 {
		structure = binary.LittleEndian.AppendUint32(structure, math.Float32bits(float32(i+1)))
	}
	const wrong = "x[1ll << 40] = 1;"
	for name, tt := range map[string]struct {
		source, entry, arguments, options string
		set                               string
		validity                          tuner.Validity
		message                           string
	}{
		"pointers before the kernel runs": {source: `
__device__ int a = 11, b[2] = {22, 33};
#ifdef __clang__
__constant__
#else
__device__ // nvcc takes what the table points to for global memory, and so does the simulator
#endif
int c = 44;
struct S { int n; const int *p; }; struct __attribute__((packed)) Q { char c; int *p; };
__device__ int *one = &b[1]; __device__ S table[2] = {{1, &a}, {2, &c}}; __constant__ S held = {3, b}; __device__ Q odd = {4, &a};
extern "C" __global__ void k(float *x) {
  if (*one != 33 || *table[threadIdx.x & 1].p != (threadIdx.x & 1 ? 44 : 11) || *held.p != 22 || held.n != 3 || *odd.p != 11 || odd.c != 4) ` + wrong + `
  x[threadIdx.x] = 1;
}`, entry: "k"},
		"by value": {source: `
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct P { int n; float a[4]; };
extern "C" __global__ void k(float *x, __half h, __half2 g, __nv_bfloat16 b, int3 i, float4 f, P p, bool c) {
  int t = threadIdx.x & 3;
  if (__half2float(h) != 1.5f || __half2float(g.y) != 2.f || __bfloat162float(b) != 3.f || i.x != 1 || i.z != 3 || f.w != 4.f || p.n != 100 || p.a[t] != t + 1.f || !c) ` + wrong + `
  x[threadIdx.x] = 1;
}`, entry: "k", arguments: `, {"Name": "h", "Type": "half", "MemoryType": "Scalar", "FillValue": 1.5}, {"Name": "g", "Type": "half2", "MemoryType": "Scalar", "FillValue": [1, 2]},
{"Name": "b", "Type": "bfloat16", "MemoryType": "Scalar", "FillValue": 3}, {"Name": "i", "Type": "int3", "MemoryType": "Scalar", "FillValue": [1, 2, 3]}, {"Name": "f", "Type": "float4", "MemoryType": "Scalar", "FillValue": [1, 2, 3, 4]},
{"Name": "p", "Type": "custom", "MemoryType": "Scalar", "FillType": "BinaryRaw", "DataSource": "p.bin"}, {"Name": "c", "Type": "bool", "MemoryType": "Scalar", "FillValue": 1}`},
		"a template in a namespace": {source: `namespace ns { template <typename T, int N> __global__ void k(T *x) { if (N != 128) ` + wrong + ` x[threadIdx.x] = N; } }`, entry: "ns::k<float, TILE * 2>"},
		"a template by its name":    {source: `template <int N> __global__ void k(float *x) { x[threadIdx.x] = N; } template __global__ void k<3>(float *);`, entry: "k"},
		"an unnamed namespace":      {source: `namespace { __global__ void k(float *x) { x[threadIdx.x] = 1; } }`, entry: "k"},
		"an include folder":         {source: `#include "h.h"` + "\n" + `extern "C" __global__ void k(float *x) { x[threadIdx.x] = HERE; }`, entry: "k", options: `"-I inc"`},
		"a parameter redefined": {source: "\n#define TILE 16\n" + `extern "C" __global__ void k(float *x) { x[threadIdx.x] = TILE; }`, entry: "k", validity: tuner.Compile,
			message: "my k.cu:2: error: this #define of TILE takes the place of its value 64"},
		"the line of a fault": {source: "extern \"C\" __global__ void k(float *x)\n{\n  int i = threadIdx.x;\n  x[i] = 1;\n  x[i - 1] = 2;\n}", entry: "k", validity: tuner.Runtime,
			message: "at my k.cu:5 (PTX line "},
		"a kind of number": {source: `extern "C" __global__ void k(float *x, float f, int n) { x[threadIdx.x] = f + n; }`, entry: "k", validity: tuner.Runtime,
			arguments: `, {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4}, {"Name": "f", "Type": "float", "MemoryType": "Scalar", "FillValue": 4}`,
			message:   "KernelSpecification.Arguments[1].Type (n): int32 is an integer, but that parameter of kernel k (k_param_1) is a floating-point number"},
		"a structure as a number": {source: `struct P { int n; float a[4]; }; extern "C" __global__ void k(float *x, P p) { x[threadIdx.x] = p.n; }`, entry: "k", validity: tuner.Runtime,
			arguments: `, {"Name": "p", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4}`, message: "has 20: is it a vector, such as int3, or a structure"},
	} {
		if tt.validity == tuner.ValidityUnknown {
			tt.validity = tuner.Correct
		}
		files := fstest.MapFS{"my k.cu": {Data: []byte(tt.source)}, "inc/h.h": {Data: []byte("#define HERE 1.f\n")}, "p.bin": {Data: structure}}
		def, _, err := kernel.Parse("k", fmt.Appendf(nil, `{"ConfigurationSpace": {"TuningParameters": [{"Name": "TILE", "Type": "int", "Values": "[64]"}]},
"KernelSpecification": {"Language": "CUDA", "KernelName": %q, "KernelFile": "my k.cu", "LocalSize": {"X": "TILE"}, "GlobalSizeType": "CUDA", "GlobalSize": {"X": "4"}, "CompilerOptions": [%s],
"Arguments": [{"Name": "x", "Type": "float", "Size": 64}%s]}}`, tt.entry, tt.options, tt.arguments), files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cfg := search.Config{Names: []string{"TILE"}, Values: []search.Value{search.OfInt(64)}}
		out, _, err := New(compile.Of(compiler)).Evaluate(t.Context(), Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Model})
		if err != nil || out.Validity != tt.validity || !strings.Contains(out.Message, tt.message) {
			t.Errorf("%s: %s: %s, %v", name, out.Validity, out.Message, err)
		}
	}
}
