package compile

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// unrolled is a kernel whose loop has a pragma before it.
func unrolled(pragma string) string {
	return "#define STR(x) #x\n#define FIXED(n) _Pragma(STR(unroll n))\n#define MINUS (-1)\n" + `
template <int N> __device__ float sum(const float *x, int n) {
  float s = 0;
` + pragma + `
  for (int k = 0; k < 16; ++k) s = s * 0.5f + x[k * n];
  return s;
}
extern "C" __global__ void k(const float *x, float *y, int n) { y[threadIdx.x] = sum<FACTOR>(x + threadIdx.x, n); }
`
}

// TestUnrollFactorsAsNVCC: a factor that is not positive leaves the loop to the compiler, as no
// pragma does, however the factor is given; what clang refuses and nvcc passes over counts for
// nothing; and positive factors mean what they do.
func TestUnrollFactorsAsNVCC(t *testing.T) {
	needClang(t)
	c := NewClangAsNVCC(sandbox.DefaultLimits())
	ptx := func(pragma, factor string) string {
		t.Helper()
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(unrolled(pragma))}, call.Macro{Name: "FACTOR", Value: factor})
		res, err := c.Compile(t.Context(), r)
		if err != nil {
			t.Fatalf("%s, %s: %v", pragma, factor, err)
		}
		return withoutTemplate(string(res.PTX))
	}
	own, four, rolled := ptx("", "1"), ptx("#pragma unroll 4", "1"), ptx("#pragma unroll 1", "1")
	if own == four || own == rolled || four == rolled {
		t.Fatal("the kernel does not tell the factors apart")
	}
	for _, tt := range []struct {
		pragma, factor string
		want           *string
	}{
		{"#pragma unroll FACTOR", "0", &own},
		{"#  pragma  unroll  FACTOR // as it is\t", "0", &own},
		{"#pragma unroll N", "0", &own}, {"#pragma unroll N - 1", "1", &own},
		{"#pragma unroll 0", "1", &own},
		{`_Pragma("unroll FACTOR")`, "0", &own}, {"FIXED(FACTOR)", "-1", &own},
		{"#pragma unroll n", "1", &own}, {"#pragma clang loop unroll(disable)", "1", &own}, {"#pragma unroll 1\n s = 0;", "1", &own},
		{"#pragma unroll FACTOR", "4", &four}, {"#pragma unroll (N * 2)", "2", &four},
		{"FIXED(N)", "4", &four}, {"#pragma unroll sizeof(float)", "1", &four},
		{"#pragma unroll FACTOR", "1", &rolled}, {"#pragma unroll FACTOR > 0", "1", &rolled},
	} {
		if got := ptx(tt.pragma, tt.factor); got != *tt.want {
			t.Errorf("%q with %s is another loop:\n%s", tt.pragma, tt.factor, got)
		}
	}
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(unrolled("#pragma unroll MISSING"))}, call.Macro{Name: "FACTOR", Value: "1"})
	var e *Error
	if _, err := c.Compile(t.Context(), r); !errors.As(err, &e) || !strings.Contains(err.Error(), "k.cu:7:") || !strings.Contains(err.Error(), "'MISSING'") {
		t.Errorf("an unknown factor: %v", err)
	}
}

var ptxComment = regexp.MustCompile(`//.*`)

// withoutTemplate leaves out the names that a template's argument is in, and the lines.
func withoutTemplate(ptx string) string {
	_, body, _ := strings.Cut(ptx, ".entry")
	return ptxComment.ReplaceAllString(lineDirective.ReplaceAllString(body, ""), "")
}
