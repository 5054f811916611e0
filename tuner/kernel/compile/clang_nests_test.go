package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel"
)

// Of loops within loops the innermost are unrolled in part, by nvcc 13.0 and where clang stands in for it.
func TestNestsAsNVCC(t *testing.T) {
	const nest = `
__device__ float row(const float *p, int n) { float s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
extern "C" __global__ void k(float *out, const float *in, int m, int n) {
  float c = 0;
  for (int i = 0; i < m; ++i) { c = c * in[i] + 1; INNER }
  out[threadIdx.x] = c;
}`
	for _, tt := range []struct {
		inner string
		outer int // how often what is in the outer loop is written out
	}{
		{"for (int j = 0; j < n; ++j) c += in[i + j];", 1},
		{"for (int j = threadIdx.x; j < 264; j += 64) c += in[i + j];", 1},
		{"_Pragma(\"unroll 1\") for (int j = 0; j < 3; ++j) c += in[i + j];", 1},
		{"int j = n; while (j > 0) { c += in[i + j]; j /= 2; }", 1},
		{"c += row(in + i, n);", 1},
		{"for (int j = 0; j < 1000; ++j) c += in[i + j];", 1},
		{"for (int j = 0; j < 3; ++j) c += in[i + j];", 5},
		{"int most = 4; for (int j = 0; j < most; ++j) c += in[i + j];", 5},
		{"", 5},
	} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(nest)}, kernel.Macro{Name: "INNER", Value: tt.inner})
		ptx := string(mustCompile(t, NewClangAsNVCC(needClang(t).limits), r).PTX)
		if got := strings.Count(ptx, "fma.rn.f32"); got != tt.outer {
			t.Errorf("%q: written out %d times, want %d:\n%s", tt.inner, got, tt.outer, ptx)
		}
	}
}

// A loop of a known number of iterations is not unrolled in part either, unless it is short enough to
// be unrolled whole; one that its author says how to unroll is left alone.
func TestKeepNests(t *testing.T) {
	loop := func(name, begin, end, inner string) string {
		return "  store i32 " + begin + ", ptr %" + name + ", align 4\n  br label %head" + name + "\nhead" + name + ":\n  %v" + name + " = load i32, ptr %" + name + ", align 4\n" +
			"  %c" + name + " = icmp slt i32 %v" + name + ", " + end + "\n  br i1 %c" + name + ", label %body" + name + ", label %end" + name + "\nbody" + name + ":\n" + inner +
			"  br label %head" + name + ", !llvm.loop !" + name + "\nend" + name + ":\n"
	}
	const inner = "  %m = load i32, ptr %5, align 4\n"
	for _, tt := range []struct{ begin, end, properties, want string }{
		{"0", "%n", "!9", ", !11"},
		{"0", "23", "!9", ", !10"},
		{"4", "16", "!9", ", !11"},
		{"0", "%n", "!9, !8", ""},
	} {
		ir := "define void @k() {\n" + loop("1", tt.begin, tt.end, loop("2", "0", "%m", inner)) + "}\n!1 = distinct !{!1, " + tt.properties + "}\n!2 = distinct !{!2, !9}\n" +
			"!8 = !{!\"llvm.loop.unroll.count\", i32 4}\n!9 = !{!\"llvm.loop.mustprogress\"}\n"
		got := string(keepNests([]byte(ir)))
		if want := "\n!1 = distinct !{!1, " + tt.properties + tt.want + "}\n"; !strings.Contains(got, want) || !strings.Contains(got, "\n!2 = distinct !{!2, !9}\n") {
			t.Errorf("from %s to %s, %s: no %q in\n%s", tt.begin, tt.end, tt.properties, want, got)
		}
		if tt.want == "" && got != ir {
			t.Errorf("changed to\n%s", got)
		}
	}
}
