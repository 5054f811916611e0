package compile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// request is a CUDA request over the files, one of which is the source.
func request(t testing.TB, main string, files fstest.MapFS, macros ...call.Macro) Request {
	t.Helper()
	f, ok := files[main]
	if !ok {
		t.Fatalf("no file %s", main)
	}
	return Request{Compile: call.Compile{Language: call.CUDA, SourceFile: main, Source: f.Data, Macros: macros, Files: files}, Target: "sm_80"}
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// needClang skips a test where no clang is installed; CI installs one.
func needClang(t testing.TB) *Clang {
	t.Helper()
	c := NewClang("", sandbox.DefaultLimits())
	_, err := c.Identify(context.Background())
	var u *UnavailableError
	if errors.As(err, &u) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const copySource = `
#include "sub/index.h"
extern "C" __global__ void copy(const float* __restrict__ in, float* __restrict__ out, int n) {
  int i = INDEX;
  if (i < n) out[i] = in[i];
}`

func copyFiles() fstest.MapFS {
	return fstest.MapFS{"k.cu": text(copySource), "sub/index.h": text("#include <cuda_runtime.h>\n#define INDEX (blockIdx.x * BLOCK + threadIdx.x)\n")}
}

func TestClangCompiles(t *testing.T) {
	c := needClang(t)
	res, err := c.Compile(context.Background(), request(t, "k.cu", copyFiles(), call.Macro{Name: "BLOCK", Value: "128"}))
	if err != nil {
		t.Fatal(err)
	}
	ptx := string(res.PTX)
	for _, want := range []string{".entry copy(", "ld.global.nc.f32", ".target sm_80"} {
		if !strings.Contains(ptx, want) {
			t.Errorf("no %q in\n%s", want, ptx)
		}
	}
	if !strings.HasPrefix(res.Compiler, "clang ") || res.Target != "sm_80" || res.Digest != digest(res.PTX) || targetOf(res.PTX) != res.Target {
		t.Errorf("result says %s, %s, %s", res.Compiler, res.Target, res.Digest)
	}
	if strings.Contains(ptx, "warptune-compile") {
		t.Error("the PTX names a temporary directory")
	}
}

func TestClangOutcomes(t *testing.T) {
	c := needClang(t)
	slow := NewClang("", sandbox.Limits{Wall: 10 * time.Minute, CPU: time.Second, Memory: 8 << 30})
	small := NewClang("", sandbox.Limits{Wall: 10 * time.Minute, CPU: time.Minute, Memory: 400 << 20})
	// 8^9 empty statements, and an initialiser of 10^7 numbers.
	endless := "#define A0 ;;;;;;;;\n"
	for i := range 8 {
		endless += strings.NewReplacer("I", string(rune('1'+i)), "J", string(rune('0'+i))).Replace("#define AI AJ AJ AJ AJ AJ AJ AJ AJ\n")
	}
	endless += `extern "C" __global__ void k() { A8 }`
	huge := "__device__ int a[] = {" + strings.Repeat("1,2,3,4,5,6,7,8,", 900_000) + "};"
	for _, tt := range []struct {
		name    string
		d       *Clang
		src     string
		options []string
		want    string
	}{
		{"syntax", c, "extern \"C\" __global__ void k() { int x = ; }", nil, "k.cu:1:42: error: expected expression"},
		{"undeclared", c, "extern \"C\" __global__ void k(float *p) { *p = expd(*p); }", nil, "undeclared identifier 'expd'"},
		{"system header", c, "#include <sys/stat.h>\n", nil, "'sys/stat.h' file not found"},
		{"option", c, "", []string{"-I/etc"}, `option "-I/etc" is not accepted`},
		{"plugin", c, "", []string{"-fplugin=x.so"}, "is not accepted"},
		{"time", slow, endless, nil, "exceeded 1s of processor time"},
		{"memory", small, huge, nil, "LLVM ERROR: out of memory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := request(t, "k.cu", fstest.MapFS{"k.cu": text(tt.src)})
			r.Options = tt.options
			_, err := tt.d.Compile(context.Background(), r)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
				t.Fatalf("got %v, want an *Error with %q", err, tt.want)
			}
			if strings.Contains(e.Message, "/tmp") || strings.Contains(err.Error(), "\n") {
				t.Errorf("message %q names our directory or has several lines", err)
			}
		})
	}
}

func TestClangIsStoppedByContext(t *testing.T) {
	c := needClang(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Compile(ctx, request(t, "k.cu", copyFiles(), call.Macro{Name: "BLOCK", Value: "128"}))
	var e *Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("got %v, want the cancellation, not an outcome", err)
	}
}

// The device headers: each function compiles, under names that macros may take.
func TestDeviceHeaders(t *testing.T) {
	c := needClang(t)
	r := request(t, "device_functions.cu", fstest.MapFS{"device_functions.cu": text(deviceFunctions)},
		call.Macro{Name: "N", Value: "4"}, call.Macro{Name: "T", Value: "float"}, call.Macro{Name: "R", Value: "3"})
	for _, target := range []string{"sm_60", "sm_80", "sm_90"} {
		r.Target = target
		if _, err := c.Compile(context.Background(), r); err != nil {
			var e *Error
			if errors.As(err, &e) {
				t.Fatalf("%s: %s", target, e.Message)
			}
			t.Fatal(err)
		}
	}
	for _, fast := range []string{"-use_fast_math", "--use_fast_math"} {
		r.Options = []string{fast, "-std=c++14", "-lineinfo"}
		res, err := c.Compile(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(res.PTX), "sin.approx.ftz.f32") {
			t.Error("fast mathematics has no approximate sine that flushes subnormals")
		}
	}
}

// Divisions and square roots are as exact as the options say.
func TestClangPrecision(t *testing.T) {
	c := needClang(t)
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text("extern \"C\" __global__ void k(float *o) { o[0] = o[1] / o[2] + sqrtf(o[3]); }")})
	for _, tt := range []struct{ options, want, not []string }{
		{nil, []string{"div.rn.f32", "sqrt.rn.f32"}, nil},
		{[]string{"-prec-div=false"}, []string{"div.full.f32", "sqrt.rn.f32"}, []string{"div.rn"}},
		{[]string{"--prec-sqrt=false", "-prec-sqrt=false"}, []string{"div.rn.f32", "sqrt.approx.f32"}, []string{"sqrt.rn"}},
		{[]string{"-use_fast_math"}, []string{"sqrt.approx.ftz.f32"}, []string{"div.rn", "sqrt.rn"}},
		{[]string{"-prec-div=false", "-prec-sqrt=false", "-use_fast_math"}, []string{"sqrt.approx.ftz.f32"}, []string{"div.rn", "sqrt.rn"}},
	} {
		r.Options = tt.options
		res, err := c.Compile(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(res.PTX), want) {
				t.Errorf("%q: no %s in\n%s", tt.options, want, res.PTX)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(string(res.PTX), not) {
				t.Errorf("%q: %s in\n%s", tt.options, not, res.PTX)
			}
		}
	}
}

const deviceFunctions = `
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cstdint>
#include <climits>
namespace cg = cooperative_groups;
extern "C" __global__ void k(float* o, half2* h, double* d, int* q, const uint8_t* b, float4* f4) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = sinf(o[i]) + cosf(o[i]) + expf(o[i]) + logf(o[i]) + powf(o[i], o[i + 1]) + tanhf(o[i]) + fmodf(o[i], 2.f) + hypotf(v, 1.f);
  for (int s = 16; s; s /= 2) v += tile.shfl_down(v, s);
  o[i] = v + __ldg(b + i) + __ldcg(o + 7) + rsqrtf(v) + __fdividef(v, 3.f) + roundf(v) + log10f(v);
  h[i] = __floats2half2_rn(__low2float(h[i + 1]) * 2.f, v);
#if __CUDA_ARCH__ >= 530
  h[i] = __hfma2(h[i], h[i + 1], h[i]) + __float2half2_rn(v);
#endif
  d[i] = sqrt(d[i]) * min(d[i], d[i + 1]) + __shfl_xor_sync(~0u, d[i], 1);
  q[i] = __float2int_rn(v) + __mul24(q[i], q[i + 1]) + __umulhi(q[i], 77) + max(q[i], 3u) + atomicMax(q, 4) + __popc(i) + __ballot_sync(~0u, i & 1) + R;
  atomicAdd(o, 1.f); atomicAdd((unsigned*)q, 1u); atomicCAS(q, 1, 2); atomicExch(o, 2.f);
  extern __shared__ float4 staged[];
#if __CUDA_ARCH__ >= 800
  q[i] += __reduce_add_sync(~0u, q[i]);
  __pipeline_memcpy_async(staged + threadIdx.x, f4 + i, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
#else
  staged[threadIdx.x] = f4[i];
#endif
  __syncthreads();
  __stcs(f4 + i, staged[threadIdx.x ^ 1]);
  assert(q[3] != 7);
  dim3 g = gridDim;
  q[0] = g.x + INT_MAX + __int_as_float(q[1]) + warpSize;
}
`

func TestNearestArchitecture(t *testing.T) {
	for _, tt := range []struct {
		major         int
		want, got, ft string
	}{
		{19, "sm_90", "sm_90", "+ptx85"},
		{19, "sm_100", "sm_90", "+ptx85"},
		{19, "sm_90a", "sm_90a", "+ptx85"},
		{17, "sm_90a", "sm_90", "+ptx78"},
		{19, "sm_35", "sm_35", "+ptx85"},
		{19, "sm_30", "sm_35", "+ptx85"},
		{19, "sm_87", "sm_86", "+ptx85"},
		{19, "", "sm_90", "+ptx85"},
		{25, "sm_120", "sm_90", "+ptx85"},
		{17, "sm_89", "sm_89", "+ptx78"},
		{14, "sm_90", "sm_86", "+ptx75"},
	} {
		if arch, feature := (&clang{major: tt.major}).target(tt.want); arch != tt.got || feature != tt.ft {
			t.Errorf("clang %d for %q: %s %s, want %s %s", tt.major, tt.want, arch, feature, tt.got, tt.ft)
		}
	}
}
