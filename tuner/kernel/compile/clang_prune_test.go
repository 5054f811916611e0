package compile

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// TestHostCode: a kernel comes to the same PTX with what programs have beside it and without.
func TestHostCode(t *testing.T) {
	needClang(t)
	const alone = "template <int N> __device__ float twice(float v) { return N * v; }\ntemplate <int N> __global__ void k(float *x) { x[threadIdx.x] = twice<N>(x[threadIdx.x]); }\n"
	for name, more := range map[string]string{
		"main": `#include <vector>
#include <opencv2/core.hpp>
int main(int argc, char **argv) {
  std::vector<float> h(1024, 1.f);
  const int n = 128;
  float *d;
  if (cudaMalloc(&d, 4096) != cudaSuccess) { std::cerr << "no memory" << std::endl; exit(1); }
  cudaMemcpy(d, h.data(), 4096, cudaMemcpyHostToDevice);
  k<n><<<dim3(8), n>>>(d);
  printf("%f\n", std::accumulate(h.begin(), h.end(), 0.f));
}`,
		"a launcher with types that are not here": `#include "helper_cuda.h"
void launch(thrust::device_vector<float> &v, cudaStream_t s) {}
template <int M> struct Launcher { void run(torch::Tensor t) {} void go(float *p) { checkCudaErrors(cudaGetLastError()); k<M><<<1, M, 0, 0>>>(p); } };
void tuned(float *p) { Launcher<128> l; l.go(p); }`,
		"a launch that is left out": `void launch(unknown &v) {} int main() { constexpr int n = 64 * 2; k<n><<<1, n>>>(thrust::raw_pointer_cast(v.data())); }`,
		"other kernels": `texture<float> t; __global__ void other(float *x) { x[0] = tex1Dfetch(t, 0); } __device__ float more() { return missing(); }
template __global__ void k<128>(float *);`,
		"namespaces and classes": `namespace app { namespace { class Timer { std::chrono::time_point<int> begin; public: void start() { begin = now(); } }; } }
#if NOT_DEFINED
void f() {
#else
void g() {
#endif
  std::map<int, int> m;
}
template __global__ void k<128>(float *);`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []*Clang{NewClang("", sandbox.DefaultLimits()), NewClangAsNVCC(sandbox.DefaultLimits())} {
				compiled := func(source string) []byte {
					r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source)})
					r.Entry = "k"
					res, err := c.Compile(t.Context(), r)
					if err != nil {
						t.Fatal(err)
					}
					return res.PTX
				}
				want := compiled(alone + "template __global__ void k<128>(float *);\n")
				if got := compiled(alone + more); !bytes.Equal(got, want) {
					t.Errorf("%s: got\n%s\nwant\n%s", c.Name(), got, want)
				}
			}
		})
	}
}

// TestHostCodeHidesNothing: what is wrong with the kernel, or with what it calls, is said whatever is beside it.
func TestHostCodeHidesNothing(t *testing.T) {
	c := needClang(t)
	const host = "\nint main() { std::vector<int> v; unknown(v); k<<<1, 1>>>(0); }\n__global__ void other() { missing(); }\n"
	for source, want := range map[string]string{
		`extern "C" __global__ void k(float *x) { x[0] = nowhere(x[1]); }`:                                                 "k.cu:1:49: error: use of undeclared identifier 'nowhere'",
		"__device__ float f(float v) { return nowhere(v); }\nextern \"C\" __global__ void k(float *x) { x[0] = f(x[1]); }": "k.cu:1:38: error: use of undeclared identifier 'nowhere'",
		"struct S { std::map<int, int> v; };\nextern \"C\" __global__ void k(S s) { }":                                     "k.cu:1:17: error: no template named 'map' in namespace 'std'",
		`extern "C" __global__ void k(float *x) { x[0] = }`:                                                                "k.cu:1:49: error: expected expression",
	} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source + host)})
		r.Entry = "k"
		_, err := c.Compile(t.Context(), r)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%s\n%v\nwant %q", source, err, want)
		}
	}
}

// TestPrintfIsLeftOut: a kernel that prints is compiled, and the result says that it does.
func TestPrintfIsLeftOut(t *testing.T) {
	c := needClang(t)
	for source, want := range map[string]bool{
		`extern "C" __global__ void k(float *x) { if (x[0] > 1) printf("%f\n", x[0]); x[0] = 1; }`:           true,
		"extern \"C\" __global__ void k(float *x) { x[0] = 1; }\nint main() { printf(\"%d\", 1); }":          false,
		"#include \"nowhere.h\"\n" + `extern "C" __global__ void k(float *x) { printf ("%f\n", x[0]); }`:     true,
		"#include \"nowhere.h\"\n" + `extern "C" __global__ void k(float *x) { x[0] = 1; /* printf("") */ }`: false,
	} {
		res, err := c.Compile(t.Context(), request(t, "k.cu", fstest.MapFS{"k.cu": text(source)}))
		if err != nil || strings.Contains(res.Compiler, printsLeftOut) != want {
			t.Errorf("%s: %q, %v", source, res.Compiler, err)
		}
	}
}
