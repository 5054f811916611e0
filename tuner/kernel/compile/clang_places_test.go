package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel"
)

// What is divided may be negative if it is computed from threadIdx, as to nvcc.
func TestPlacesAsNVCC(t *testing.T) {
	const divided = `extern "C" __global__ void k(int *o) { int i = threadIdx.x, j = blockIdx.y, m = blockDim.z; o[i / 32] = j / 32; o[i] = m / 32; }`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(divided)})
	ptx := string(mustCompile(t, NewClangAsNVCC(DefaultLimits()), r).PTX)
	if got := strings.Count(ptx, ", 31;"); got != 3 {
		t.Errorf("%d signs are asked for, want 3:\n%s", got, ptx)
	}
}

// A loop from threadIdx on is unrolled, as by nvcc, also by a step that is an argument; one whose step may
// overflow is not, as its number of iterations is not known.
func TestStridedLoopsAsNVCC(t *testing.T) {
	const strided = `
extern "C" __global__ void k(float *o, const float *__restrict__ a, int n) {
  float s = 0;
  for (int e = threadIdx.x; e < 1024; e += STEP) s += a[e];
  o[threadIdx.x] = s;
}`
	for _, tt := range []struct {
		step     string
		unrolled bool
	}{{"128", true}, {"n", true}, {"gridDim.x * 128", false}} {
		r := request(t, "k.cu", fstest.MapFS{"k.cu": text(strided)}, kernel.Macro{Name: "STEP", Value: tt.step})
		ptx := string(mustCompile(t, NewClangAsNVCC(DefaultLimits()), r).PTX)
		if got := strings.Count(ptx, "ld.global"); got > 4 != tt.unrolled {
			t.Errorf("step %s: %d loads:\n%s", tt.step, got, ptx)
		}
	}
}

func TestForgetPlaces(t *testing.T) {
	const before = "define void @k() {\n  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %2 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.z() #3\n" +
		"  %3 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y(), !range !2\n  ret void\n}\n\n!2 = !{i32 0, i32 7}\n"
	const after = "define void @k() {\n  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !3\n  %2 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.z() #3, !range !3\n" +
		"  %3 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y(), !range !2\n  ret void\n}\n\n!2 = !{i32 0, i32 7}\n\n!3 = !{i32 0, i32 -1}\n"
	if got := string(forgetPlaces([]byte(before))); got != after {
		t.Errorf("became\n%s", got)
	}
	const none = "define void @k() {\n  ret void\n}\n"
	if got := string(forgetPlaces([]byte(none))); got != none {
		t.Errorf("became\n%s", got)
	}
}
