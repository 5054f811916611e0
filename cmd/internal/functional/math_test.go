package functional_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// mathFunctions are the device header's functions of float, the range they are tested over and the error allowed.
// The error is in units in the last place of the result (about those of the CUDA C++ Programming Guide's table), or
// absolute where the result passes through zero.
var mathFunctions = []struct {
	call     string // of x
	want     func(x float64) float64
	from, to float64
	ulps     float64
	absolute float64
}{
	{"sinf(x)", math.Sin, -300, 300, 2, 0},
	{"cosf(x)", math.Cos, -300, 300, 2, 0},
	{"sinf(x)", math.Sin, 1e5, 1e7, 2, 0},
	{"expf(x)", math.Exp, -100, 88.7, 1.2, 0},
	{"exp2f(x)", math.Exp2, -120, 127, 4, 0},
	{"logf(x)", math.Log, 1e-40, 30, 1, 0},
	{"log2f(x)", math.Log2, 1e-3, 1e9, 1, 0},
	{"log10f(x)", math.Log10, 1e-3, 1e9, 2, 0},
	{"powf(x, 2.5f)", func(x float64) float64 { return math.Pow(x, 2.5) }, 0, 1e12, 1.5, 0},
	{"powf(x, -3.f)", func(x float64) float64 { return math.Pow(x, -3) }, -50, -1, 1.5, 0},
	{"powf(1.5f, x)", func(x float64) float64 { return math.Pow(1.5, x) }, -200, 200, 1.5, 0},
	{"tanhf(x)", math.Tanh, -3, 3, 2, 0},
	{"sqrtf(x)", math.Sqrt, 0, 1e6, 0.51, 0},
	{"rsqrtf(x)", func(x float64) float64 { return 1 / math.Sqrt(x) }, 1e-3, 1e6, 2, 0},
	{"fmodf(x, 0.75f)", func(x float64) float64 { return math.Mod(x, 0.75) }, -1e4, 1e4, 0, 0},
	{"roundf(x)", math.Round, -100, 100, 0, 0},
	{"rintf(x)", math.RoundToEven, -100, 100, 0, 0},
	{"floorf(x)", math.Floor, -100, 100, 0, 0},
	{"truncf(x)", math.Trunc, -100, 100, 0, 0},
	{"hypotf(x, 3.f)", func(x float64) float64 { return math.Hypot(x, 3) }, -100, 100, 2, 0},
	{"erff(x)", math.Erf, -4, 4, 1.1, 0},
	{"erfcf(x)", math.Erfc, -4, 9, 4, 3e-45},
	{"normcdff(x)", func(x float64) float64 { return math.Erfc(-x*math.Sqrt2/2) / 2 }, -12, 6, 6, 3e-45},
	{"erfinvf(x)", math.Erfinv, -0.9999, 0.9999, 6, 1e-7},
	{"tgammaf(x)", math.Gamma, 0.01, 34, 10, 0},
	{"tgammaf(x)", math.Gamma, -20.01, -0.01, 14, 0},
	{"lgammaf(x)", func(x float64) float64 { y, _ := math.Lgamma(x); return y }, 0.01, 200, 6, 3e-7},
	{"lgammaf(x)", func(x float64) float64 { y, _ := math.Lgamma(x); return y }, -9.99, -0.01, 6, 2e-6},
	{"cbrtf(x)", math.Cbrt, -1e5, 1e5, 1, 0},
	{"expm1f(x)", math.Expm1, -10, 20, 1.1, 0},
	{"log1pf(x)", math.Log1p, -0.99, 20, 1, 0},
	{"asinf(x)", math.Asin, -1, 1, 4, 0},
	{"acosf(x)", math.Acos, -1, 1, 4, 0},
	{"atanf(x)", math.Atan, -20, 20, 2, 0},
	{"atan2f(x, -2.f)", func(x float64) float64 { return math.Atan2(x, -2) }, -20, 20, 4, 0},
	{"atan2f(3.f, x)", func(x float64) float64 { return math.Atan2(3, x) }, -20, 20, 4, 0},
	{"sinhf(x)", math.Sinh, -30, 30, 2, 0},
	{"coshf(x)", math.Cosh, -30, 30, 2, 0},
	{"asinhf(x)", math.Asinh, -300, 300, 4, 0},
	{"acoshf(x)", math.Acosh, 1, 300, 4, 0},
	{"atanhf(x)", math.Atanh, -0.999, 0.999, 4, 0},
	{"tanf(x)", math.Tan, -1.5, 1.5, 3, 0},
	{"sinpif(x)", func(x float64) float64 { return math.Sin(math.Pi * math.Mod(x, 2)) }, -50, 50, 3, 1e-14},
	{"cospif(x)", func(x float64) float64 { return math.Cos(math.Pi * math.Mod(x, 2)) }, -50, 50, 3, 1e-14},
	{"norm3df(x, 2.f, 3.f)", func(x float64) float64 { return math.Sqrt(x*x + 13) }, -100, 100, 4, 0},
	{"remainderf(x, 0.75f)", func(x float64) float64 { return math.Remainder(x, 0.75) }, -1e4, 1e4, 0, 0},
	{"fmodf(x, 1e-20f)", func(x float64) float64 { return math.Mod(x, float64(float32(1e-20))) }, -1e4, 1e4, 0, 0},
	{"fdimf(x, 1.f)", func(x float64) float64 { return math.Dim(x, 1) }, -9, 9, 0, 1e-6},
	{"nextafterf(x, 9.f)", func(x float64) float64 { return float64(math.Nextafter32(float32(x), 9)) }, -9, 9, 0, 0},
	{"ldexpf(x, 30)", func(x float64) float64 { return math.Ldexp(x, 30) }, -9, 9, 0, 0},
	{"frexpf(x, &n) + n", func(x float64) float64 { f, e := math.Frexp(x); return float64(float32(f + float64(e))) }, -900, 900, 0, 0},
	{"modff(x, &w) + 3.f * w", func(x float64) float64 { w, f := math.Modf(x); return float64(float32(f + 3*w)) }, -900, 900, 1, 0},
	{"(float)lrintf(x)", math.RoundToEven, -1e6, 1e6, 0, 0},
	{"(float)lroundf(x)", math.Round, -1e3, 1e3, 0, 0},
	{"max(x, 1.0)", func(x float64) float64 { return max(x, 1) }, -3, 3, 0, 0},
	{"max(0, x) + fmax(x, 0.0)", func(x float64) float64 { return 2 * max(x, 0) }, -3, 3, 0, 0},
	{"sqrt((int)x)", func(x float64) float64 { return math.Sqrt(math.Trunc(x)) }, 0, 100, 0.51, 0},
	{"std::pow(x, 2)", func(x float64) float64 { return x * x }, -9, 9, 0.51, 0},
	{"(float)__sad((int)x, 5, 2u)", func(x float64) float64 { return math.Abs(math.Trunc(x)-5) + 2 }, -99, 99, 0, 0},
	{"(float)__hadd((int)x, 7)", func(x float64) float64 { return math.Floor((math.Trunc(x) + 7) / 2) }, -99, 99, 0, 0},
	{"(float)__rhadd((int)x, 7)", func(x float64) float64 { return math.Ceil((math.Trunc(x) + 7) / 2) }, -99, 99, 0, 0},
	{"(float)(__vsub4(__vadd4((unsigned)x, 0x01ff80f3u), 0x01ff80f3u) & 0xffffff)", math.Trunc, 0, 1e6, 0, 0},
	{"(float)__dp2a_lo((int)x, 0x0302, 1)", func(x float64) float64 { return 2*math.Trunc(x) + 1 }, 0, 3e4, 0, 0},
	{"(float)__mul64hi((long long)x << 40, 1ll << 30)", func(x float64) float64 { return math.Floor(math.Trunc(x) * 64) }, -1e5, 1e5, 0, 0},
	{"(float)__shfl_xor_sync(~0u, (long)x << 33, 0)", func(x float64) float64 { return math.Trunc(x) * (1 << 33) }, -1e5, 1e5, 0, 0},
	{"__match_all_sync(~0u, 3, &n) == ~0u ? x + n : 0.f", func(x float64) float64 { return float64(float32(x) + 1) }, -9, 9, 0, 0},
	{"(float)__float2int_rn(x)", math.RoundToEven, -1e6, 1e6, 0, 0},
	{"(float)(int)(x)", math.Trunc, -1e6, 1e6, 0, 0},
	{"__half2float(__float2half(x))", halfRounded, -1000, 1000, 0, 0},
	{"__int_as_float(__float_as_int(x))", func(x float64) float64 { return x }, -1, 1, 0, 0},
	{"(float)__clz((int)(x))", func(x float64) float64 { return 31 - math.Floor(math.Log2(math.Trunc(x))) }, 1, 1e6, 0, 0},
	{"(float)__umulhi((unsigned)x, 0x10000u)", func(x float64) float64 { return math.Floor(math.Trunc(x) / 65536) }, 0, 4e9, 0, 0},
}

// halfRounded rounds a normal value to half precision's 11 bits, ties to even.
func halfRounded(x float64) float64 {
	if x == 0 {
		return 0
	}
	step := math.Ldexp(1, max(math.Ilogb(x), -14)-10)
	return math.RoundToEven(x/step) * step
}

const mathSamples = 1024

// The device headers' mathematics, compiled by clang and executed, against Go's.
func TestDeviceMathematics(t *testing.T) {
	var calls []string
	var in []byte
	for _, f := range mathFunctions {
		calls = append(calls, f.call)
		for i := range mathSamples {
			x := float32(f.from + (f.to-f.from)*float64(i)/(mathSamples-1))
			in = binary.LittleEndian.AppendUint32(in, math.Float32bits(x))
		}
	}
	source := `#include <cuda_fp16.h>
extern "C" __global__ void evaluate(const float* in, float* out) {
  int i = blockIdx.y * 1024 + blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], y = 0.f, w;
  int n;
  switch (blockIdx.y) {
` + cases("y", calls) + "  }\n  out[i] = y;\n}\n"
	f := table{source: source, elem: call.Float, rows: len(calls), columns: mathSamples, block: 256}
	out := f.evaluate(t, "sm_90", in)
	for n, f := range mathFunctions {
		worst := 0.0
		for i := n * mathSamples; i < (n+1)*mathSamples; i++ {
			x, got := float(in, i), float(out, i)
			want := f.want(x)
			if math.Abs(want) > math.MaxFloat32 {
				want = math.Copysign(math.Inf(1), want)
			}
			if allowed := f.ulps*ulp(want) + f.absolute; got != want && !(math.Abs(got-want) <= allowed) {
				t.Errorf("%s at %v: %v, want %v within %v", f.call, x, got, want, allowed)
				break
			}
			if u := ulp(want); u > 0 && math.Abs(got-want) > f.absolute {
				worst = max(worst, math.Abs(got-want)/u)
			}
		}
		t.Logf("%s on [%g, %g]: at most %.2f units in the last place", f.call, f.from, f.to, worst)
	}
}

func float(b []byte, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
}

// ulp is the distance of neighbouring floats at v.
func ulp(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) {
		return 0
	}
	return math.Ldexp(1, max(math.Ilogb(v), -126)-23)
}

// A kernel of the user's own: a definition and a source in some folder, named by
// an absolute path from another one.
func TestOwnKernelFromAnyDirectory(t *testing.T) {
	clang := needClang(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"scale.json": ownDefinition, "scale.cu": ownSource, "factor.h": "#define FACTOR 3.0f\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	def, warnings, err := kernel.Load(filepath.Join(dir, "scale.json"))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	space, err := def.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range space.All() {
		launch, err := def.Launch(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := compile.Of(compile.Given{}, compile.Prebuilt{}, clang).Compile(t.Context(), compile.Request{Compile: launch.Compile, Target: "sm_80"})
		if err != nil {
			t.Fatal(err)
		}
		before := contents(launch)
		after, err := run(launch, res.PTX, before)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			if got, want := float(after["out"], i), 3*float(before["in"], i); got != float64(float32(want)) {
				t.Fatalf("%v: element %d is %v, want %v", cfg, i, got, want)
			}
		}
	}
}

const ownSource = `#include "factor.h"
#include <cuda_runtime.h>
extern "C" __global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) out[i] = in[i] * FACTOR;
}`

const ownDefinition = `{
  "ConfigurationSpace": {"TuningParameters": [{"Name": "block_size_x", "Type": "int", "Values": "[64, 256]", "Default": 64}], "Conditions": []},
  "General": {"BenchmarkName": "scale"},
  "KernelSpecification": {
    "Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
    "LocalSize": {"X": "block_size_x"}, "GridDivX": ["block_size_x"], "ProblemSize": [1000],
    "Arguments": [
      {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": 1000, "FillType": "Random", "FillValue": 1.0},
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 1000, "FillType": "Constant", "FillValue": 0},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillType": "Constant", "FillValue": 1000}
    ]
  }
}`
