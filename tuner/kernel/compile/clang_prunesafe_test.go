package compile

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// ofKernel is a request for the kernel k of a source.
func ofKernel(t *testing.T, source string) Request {
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source)})
	r.Entry = "k"
	return r
}

// TestAssertionsStand: what a source itself refuses is refused, wherever it says so and whatever else is left out.
func TestAssertionsStand(t *testing.T) {
	c := needClang(t)
	const kernel = "\nextern \"C\" __global__ void k(float *x) { x[0] = 1; }\n"
	const host = "int main() { std::vector<int> v; unknown(v); }\n"
	for source, want := range map[string]string{
		`static_assert(sizeof(int) == 5, "N must be a multiple of 4");` + kernel:                                                    "k.cu:1:15: error: static assertion failed",
		`template <int N> struct C { static_assert(N == 4, "no"); static constexpr int v = N; }; int a = C<3>::v;` + kernel:         "static assertion failed",
		host + `struct Host { static_assert(sizeof(int) == 5, "no"); };` + kernel:                                                   "static assertion failed",
		host + `int launch() { static_assert(sizeof(int) == 5, "no"); return 0; }` + kernel:                                         "static assertion failed",
		host + "int launch() {\n#if 1\n#error \"TILE must be even\"\n#endif\n return 0; }" + kernel:                                 "TILE must be even",
		host + `struct Check { char even[sizeof(int) == 5 ? 1 : -1]; };` + kernel:                                                   "negative size",
		host + "template <class T> struct Tr { static constexpr int n = 1; };\n#if 1\n#error \"no\"\n#endif\nstruct S {};" + kernel: `error: "no"`,
	} {
		_, err := c.Compile(t.Context(), ofKernel(t, source))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%s\n%v\nwant %q", source, err, want)
		}
	}
}

// TestNothingElseIsTaken: where the kernel uses what has to be left out, no other declaration of its name takes its place.
func TestNothingElseIsTaken(t *testing.T) {
	c := needClang(t)
	const trait = "template <typename T> struct Tr { static constexpr int n = 1; };\n"
	const kernel = "extern \"C\" __global__ void k(float *x) { x[0] = Tr<float>::n; }\n"
	for _, source := range []string{
		trait + "template <> struct Tr<float> { static constexpr int n = 300; host_only *p; };\n" + kernel,
		trait + "template <> struct __align__(8) Tr<float> : host_only { static constexpr int n = 300; };\n" + kernel,
		trait + "template <typename T> struct Tr<host_only<T>> { static constexpr int n = 300; };\n" + kernel,
		"template <class T> constexpr int n = 1;\ntemplate <> constexpr int n<float> = host_only;\nextern \"C\" __global__ void k(float *x) { x[0] = n<float>; }",
		"__device__ double f(double x) { return 1; }\n__device__ host_only f(float x) { return 2; }\nextern \"C\" __global__ void k(float *x) { x[0] = f(x[1]); }",
		"__device__ double f(double x) { return 1; }\n__device__ float f(float x) { host_only(); return 2; }\nextern \"C\" __global__ void k(float *x) { x[0] = f(x[1]); }",
		"struct S { __device__ double f(double x) { return 1; } __device__ float f(float x) { return host_only(); } };\nextern \"C\" __global__ void k(float *x) { S s; x[0] = s.f(x[1]); }",
		"struct S { __device__ double f(double x) { return 1; } __device__ host_only f(float x) { return 1; } };\nextern \"C\" __global__ void k(float *x) { S s; x[0] = s.f(x[1]); }",
		"struct S { int v; __device__ S() : v(1) { host_only(); } };\nextern \"C\" __global__ void k(float *x) { S s; x[0] = s.v; }",
	} {
		_, err := c.Compile(t.Context(), ofKernel(t, source))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(firstError(e.Message), "host_only") && !strings.Contains(e.Message, "2:45: error: expected class name") {
			t.Errorf("%s\n%v\nwant an error of host_only", source, err)
		}
	}
}

// TestOthersOfTheNameAreLeftOut: overloads and specialisations that the kernel does not come to refuse nothing.
func TestOthersOfTheNameAreLeftOut(t *testing.T) {
	c := needClang(t)
	for _, source := range []string{
		"template <typename T> struct Tr { static constexpr int n = 1; };\ntemplate <> struct Tr<host_only> { static constexpr int n = 300; };\ntemplate <> struct Tr<double> { static constexpr int n = host_only; };\n" +
			"extern \"C\" __global__ void k(float *x) { x[0] = Tr<float>::n; }",
		"__device__ float f(float x) { return 1; }\n__device__ float f(host_only x) { return 2; }\nextern \"C\" __global__ void k(float *x) { x[0] = f(x[1]); }",
		"__device__ float f(float x) { return 1; }\n__device__ float f(double x) { return host_only(x); }\nextern \"C\" __global__ void k(float *x) { x[0] = f(x[1]); }",
		"__device__ float f(float x) { return 1; }\nstruct Timer { host_only f() { return 2; } __device__ host_only g(); };\nextern \"C\" __global__ void k(float *x) { x[0] = f(x[1]); }",
	} {
		if _, err := c.Compile(t.Context(), ofKernel(t, source)); err != nil {
			t.Errorf("%s\n%v", source, err)
		}
	}
}

// TestMissingHeadersAreSaid: a file that includes what is not there is compiled without, and the result says so.
func TestMissingHeadersAreSaid(t *testing.T) {
	c := needClang(t)
	for includes, want := range map[string]string{
		"": "",
		"#include \"tuned_config.h\"\n#include \"there.h\"\n":                                        ", without tuned_config.h",
		"#include \"a.h\"\n#include \"a.h\"\n#include <b/c.hpp>\n":                                   ", without a.h, b/c.hpp",
		"#include \"a.h\"\n#include \"b.h\"\n#include \"c.h\"\n#include \"d.h\"\n#include \"e.h\"\n": ", without a.h, b.h, c.h and 2 more headers",
	} {
		source := includes + "#ifndef UNROLL\n#define UNROLL 1\n#endif\nextern \"C\" __global__ void k(float *x) { x[0] = UNROLL; }"
		res, err := c.Compile(t.Context(), request(t, "k.cu", fstest.MapFS{"k.cu": text(source), "there.h": text("")}))
		if err != nil || !strings.HasSuffix(res.Compiler, want) || want == "" && strings.Contains(res.Compiler, ",") {
			t.Errorf("%q: %q, %v; want %q", includes, res.Compiler, err, want)
		}
	}
}
