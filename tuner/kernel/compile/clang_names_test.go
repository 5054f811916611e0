package compile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// Tuning parameters are macros, and many are single capital letters: no header that a source includes may
// use such a name itself.
func TestHeadersLeaveNamesToTuningParameters(t *testing.T) {
	var source strings.Builder
	for _, header := range []string{"algorithm", "array", "cassert", "cfloat", "climits", "cmath", "cooperative_groups.h", "cooperative_groups/reduce.h", "cstddef",
		"cstdint", "cstdio", "cstdlib", "cstring", "cub/cub.cuh", "cuComplex.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_pipeline.h", "cuda_runtime.h", "functional",
		"limits", "math_constants.h", "mma.h", "new", "tuple", "type_traits", "utility"} {
		source.WriteString("#include <" + header + ">\n")
	}
	var macros []call.Macro
	sum := "0"
	for c := 'A'; c <= 'Z'; c++ {
		macros = append(macros, call.Macro{Name: string(c), Value: "7"})
		sum += " + " + string(c) // a macro that the source does not name is not given to the compiler
	}
	source.WriteString("extern \"C\" __global__ void k(float *x) { x[threadIdx.x] = " + sum + "; }\n")
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(source.String())}, macros...)
	mustCompile(t, needClang(t), r)
}
