package compile

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

var lineDirective = regexp.MustCompile(`(?m)^\t\.(?:loc|file)\t.*\n`)

// TestLinesChangeNoCode: but for .file and .loc the PTX is what it is without lines, of
// built-in kernels as nvcc and as clang: some, or all with WARPTUNE_FULL=1.
func TestLinesChangeNoCode(t *testing.T) {
	needClang(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, i := range r.Perm(len(catalogue.All())) {
		if os.Getenv("WARPTUNE_FULL") == "" && i%4 != int(seed%4) {
			continue
		}
		k := catalogue.All()[i]
		def, err := k.Definition()
		if err != nil {
			t.Fatal(err)
		}
		l, err := def.Launch(def.Default(), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := NewClangAsNVCC(sandbox.DefaultLimits())
		if r.IntN(4) == 0 {
			c = NewClang("", sandbox.DefaultLimits())
		}
		q := Request{Compile: l.Compile, Target: "sm_80"}
		with := string(mustCompile(t, c, q).PTX)
		lines := lineTables
		lineTables = nil
		without := string(mustCompile(t, c, q).PTX)
		lineTables = lines
		if strings.Count(with, "\t.loc\t") < 3 || lineDirective.ReplaceAllString(with, "") != without {
			t.Errorf("seed %d, %s:\n%s\nwithout lines:\n%s", seed, k.Name, with, without)
		}
	}
}

// Instructions have the lines of the user's files, those of device headers the line that uses them.
func TestLines(t *testing.T) {
	needClang(t)
	files := fstest.MapFS{"my k.cu": text(`#include "inc/h.h"
extern "C" __global__ void k(const float *__restrict__ x, float *y) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = twice(x, i);
  __syncthreads();
  y[i] =
      s[threadIdx.x ^ 1];
}
`), "inc/h.h": text("\n__device__ float twice(const float *x, int i) { return __ldg(x + i) * 2.f; }\n")}
	for _, c := range []*Clang{NewClang("", sandbox.DefaultLimits()), NewClangAsNVCC(sandbox.DefaultLimits())} {
		ptx := string(mustCompile(t, c, request(t, "my k.cu", files, call.Macro{Name: "A", Value: "1"})).PTX)
		names, at, got := map[string]string{}, "", map[string]string{}
		for _, line := range strings.Split(ptx, "\n") {
			f := strings.Fields(strings.ReplaceAll(line, "my k", "my_k"))
			switch {
			case len(f) > 2 && f[0] == ".file":
				names[f[1]] = strings.Trim(f[2], `"`)
			case len(f) > 2 && f[0] == ".loc":
				at = names[f[1]] + ":" + f[2]
			case len(f) > 0:
				got[f[0]] = at
			}
		}
		for op, want := range map[string]string{"ld.global.nc.f32": "inc/h.h:2", "st.shared.f32": "my_k.cu:5", "bar.sync": "my_k.cu:6", "ld.shared.f32": "my_k.cu:8", "st.global.f32": "my_k.cu:7"} {
			if got[op] != want {
				t.Errorf("%s of %s, want %s:\n%s", op, got[op], want, ptx)
			}
		}
	}
}
