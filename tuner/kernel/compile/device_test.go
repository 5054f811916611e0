package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// What public kernels use beside the mathematics, which cmd/internal/functional runs.
const deviceIntrinsics = `
#ifndef __CUDACC__
#error this is CUDA
#endif
#if __CUDA_ARCH__ < 700 || CUDART_VERSION < 11000 || __CUDACC_VER_MAJOR__ < 11 || defined(__NVCC__)
#error the macros of clang with an SDK
#endif
#include <stdio.h>
#include <cstdio>
#include <string.h>
#include <cstring>
#include <cmath>
#include <climits>
#include <cfloat>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <limits>
#include <utility>
#include <algorithm>
#include <array>
#include <vector_functions.h>
#include <device_functions.h>
#include <math_functions.h>
#include <driver_types.h>
#include <sm_30_intrinsics.h>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
static_assert(std::is_same<std::remove_cv_t<const float>, float>::value && std::numeric_limits<int>::max() == INT_MAX, "");
template <class A, class = std::enable_if_t<std::is_floating_point<A>::value>> __device__ A twice(A a) { return a + a; }
extern "C" __global__ void k(float *x, int *y, half *h, const char4 *c, const ushort4 *s, const longlong2 *l, unsigned long *u, int n) {
  int i = threadIdx.x, all;
  uint3 t = threadIdx;
  uint w = t.x;
  y[i] = __ldg(c + i).y + __ldg(s + i).z + (int)__ldg(l + i).x + (int)__ldg((long *)u) + __ldg((uchar4 *)c).x + __ldg((short2 *)c).x;
  y[0] += __sad(n, i, 2) + __hadd(n, i) + __rhadd(n, i) + (int)__mul64hi(n, i) + __dp2a_lo(n, i, 1) + (int)__vadd4(w, n) + __match_all_sync(~0u, n, &all) + all + __match_any_sync(~0u, x[i]);
  y[1] += (int)__shfl_sync(~0u, (long)n, 0) + (int)__shfl_xor_sync(~0u, u[i], 1) + (int)(__int2double_rn(n) * __dsqrt_rn(2.0) + __drcp_rn(3.0) + __uint2double_rn(w));
  atomicAdd(u, 1ul); atomicAdd_block(y, 1); atomicAdd_system(x, 1.f); atomicMax_block(y, 3);
  x[i] += __fsub_rn(x[1], 1.f) + __fadd_rz(x[2], 1.f) + __fmul_rz(x[3], 3.f) + std::max(x[4], 0.f) + std::min<float>(x[5], 1) + twice(x[6]) + fmax(x[7], 0.0) + DBL_EPSILON;
  half2 p = make_half2(hexp(h[i]), hsqrt(h[i + 1]));
  p = __shfl_xor_sync(~0u, p, 1);
  h[i] = __hmax(p.x, p.y);
  auto tile = cg::tiled_partition<16>(cg::tiled_partition<32>(cg::this_thread_block()));
  x[n] = cg::reduce(tile, x[i], cg::plus<float>());
  auto active = cg::coalesced_threads();
  y[n] = cg::reduce(active, y[i], cg::greater<int>()) + active.size();
  std::array<float, 4> a;
  memset(a.data(), 0, sizeof a);
  a[n & 3] = 1;
  memcpy(x + 64, a.data(), sizeof a);
  std::swap(x[8], x[9]);
}
`

func TestDeviceIntrinsics(t *testing.T) {
	c := needClang(t)
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(deviceIntrinsics)}, call.Macro{Name: "N", Value: "4"}, call.Macro{Name: "T", Value: "float"})
	for _, options := range [][]string{nil, {"-use_fast_math"}, {"-std=c++14"}} {
		r.Options = options
		for _, r.Target = range []string{"sm_70", "sm_80", "sm_90"} {
			if _, err := c.Compile(context.Background(), r); err != nil {
				var e *Error
				if errors.As(err, &e) {
					t.Fatalf("%s %v: %s", r.Target, options, e.Message)
				}
				t.Fatal(err)
			}
		}
	}
}

// Headers of host code that files with kernels include, too: they compile, and what is used of them is named.
func TestHostHeaders(t *testing.T) {
	c := needClang(t)
	var src strings.Builder
	for _, name := range slices.Concat(hostHeaders, hostStandardHeaders) {
		fmt.Fprintf(&src, "#include <%s>\n", name)
	}
	for _, name := range cudaStandardHeaders {
		fmt.Fprintf(&src, "#include <cuda/std/%s>\n", name)
	}
	src.WriteString(`
static_assert(std::is_same<std::common_type_t<int &, const float &>, float>::value && cuda::std::is_same<std::decay_t<int[3]>, int *>::value, "");
static_assert(std::is_same<std::make_unsigned_t<long>, unsigned long>::value && sizeof(std::aligned_storage<12, 4>::type) == 12, "");
static_assert(std::index_sequence_for<int, float>::size() == 2 && std::conjunction<std::true_type, std::negation<std::false_type>>::value, "");
extern "C" __global__ void k(__nv_bfloat162 *p, clock_t *t) {
  register clock_t now = clock();
  p[1] = p[0] * p[2];
  t[0] = now;
}`)
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(src.String())}, call.Macro{Name: "N", Value: "4"}, call.Macro{Name: "T", Value: "float"})
	for _, r.Options = range [][]string{nil, {"-std=c++14"}} {
		if _, err := c.Compile(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	r.Source = []byte("#include <vector>\n__device__ std::vector<int> v;")
	r.Files = fstest.MapFS{"k.cu": text(string(r.Source))}
	if _, err := c.Compile(context.Background(), r); err == nil || !strings.Contains(err.Error(), "'vector' in namespace 'std'") {
		t.Errorf("a std::vector gives %v", err)
	}
}

// What is not here is an error that names it.
func TestMissingIsNamed(t *testing.T) {
	c := needClang(t)
	for call, name := range map[string]string{"malloc(4)": "'malloc'", "j0f(1.f)": "'j0f'", "__shfl_down(1, 2)": "'__shfl_down'", "tgamma(1.0)": "'tgamma'",
		"cudaTextureObject_t t = 0; texCubemap<float>(t, 0.f, 0.f, 0.f)": "'texCubemap<float, float, float, float>' is unavailable: mipmaps, cubes and sparse textures are not simulated", "cub::BlockRadixSort<int, 64, 4>()": "'BlockRadixSort'",
		"cub::BlockReduce<int, 64, cub::BLOCK_REDUCE_RAKING>()": "BLOCK_REDUCE_WARP_REDUCTIONS only"} {
		src := "#include <stdio.h>\n#include <cub/cub.cuh>\n#include <cooperative_groups.h>\nextern \"C\" __global__ void k() { " + call + "; }"
		_, err := c.Compile(context.Background(), request(t, "k.cu", fstest.MapFS{"k.cu": text(src)}))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, name) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// Functions of textures and surfaces come to the instructions of PTX.
func TestTextures(t *testing.T) {
	c := needClang(t)
	for call, want := range map[string]string{
		"tex1Dfetch<int>(t, i)":                                                        "tex.1d.v4.s32.s32",
		"tex2D<uchar4>(t, i, 3).x":                                                     "tex.2d.v4.u32.f32",
		"tex3D<float>(t, i, 2.f, 3.f)":                                                 "tex.3d.v4.f32.f32",
		"tex1DLayered<float2>(t, i, 1).y":                                              "tex.a1d.v4.f32.f32",
		"tex2DLayered<float>(t, i, 2.f, i)":                                            "tex.a2d.v4.f32.f32",
		"tex2DLod<float>(t, i, 2.f, 0.f)":                                              "tex.level.2d.v4.f32.f32",
		"tex2Dgather<float4>(t, i, 2.f, 1).z":                                          "tld4.g.2d.v4.f32.f32",
		"[&] { short2 v; tex1D(&v, t, i); return v.x; }()":                             "tex.1d.v4.s32.f32",
		"surf2Dread<float>(t, i, 1)":                                                   "suld.b.2d.b32.trap",
		"surf1Dread<uchar2>(t, i, cudaBoundaryModeZero).y":                             "suld.b.1d.b16.zero",
		"(surf3Dwrite(make_float4(1, 2, 3, 4), t, i, 1, 2, cudaBoundaryModeClamp), 1)": "sust.b.3d.v4.b32.clamp",
		"(surf2DLayeredwrite((char)i, t, i, 1, 2), 1)":                                 "sust.b.a2d.b8.trap",
	} {
		src := "extern \"C\" __global__ void k(cudaTextureObject_t t, float *p) { int i = threadIdx.x; p[i] = " + call + "; }"
		ptx, err := c.Compile(context.Background(), request(t, "k.cu", fstest.MapFS{"k.cu": text(src)}))
		if err != nil || !strings.Contains(string(ptx.PTX), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// What to do is said of the errors that public kernels come to most often.
func TestAdvice(t *testing.T) {
	c := needClang(t)
	for src, want := range map[string]string{
		"__global__ void k() { int *p = (int *)malloc(4); }":                         "has no heap",
		"texture<float> t;\n__global__ void k(float *p) { *p = tex1Dfetch(t, 1); }":  "texture references are gone",
		"__global__ void k(float *p) { *p = tex1Dfetch(p, 1); }":                     "texture references are gone",
		"__global__ void k() {}\n__global__ void l() { k<<<1, 1>>>(); }":             "launches another",
		"__global__ void k(int *p) { *p = __shfl_xor(*p, 1); }":                      "ends in _sync",
		"#include <curand_kernel.h>\n":                                               "curand is not here",
		"#include <thrust/pair.h>\n":                                                 "thrust is not here",
		"#include <cub/device/device_scan.cuh>\n":                                    "of cub",
		"#include \"mine.h\"\n":                                                      "beside the definition",
		"int main() { cudaMalloc(0, 4); }":                                           "this is host code",
		"#include <iostream>\nint main() { std::cout << 1; }":                        "this is host code",
		"__global__ void k(int *p) { asm(\"mov.u32 %0, %reserve;\" : \"=r\"(*p)); }": "two: %%laneid",
		"int f() { return 1; }\n__global__ void k(int *p) { *p = f(); }":             "mark the function __device__",
		"__global__ void k(int *p) { *p = TILE; }":                                   "CompilerOptions",
	} {
		_, err := c.Compile(context.Background(), request(t, "k.cu", fstest.MapFS{"k.cu": text(src)}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %q", src, err, want)
		}
	}
}
