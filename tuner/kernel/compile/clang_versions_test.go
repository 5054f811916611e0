package compile

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// PTX is compiled again where anything changed by which it is made: all such files are among clangFiles.
func TestIdentityCoversSources(t *testing.T) {
	for _, pattern := range []string{"clang*.go", "asnvcc/*.go", "asnvcc/stages/*.go", "dialect/*.go", "prune/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "doc.go" {
				continue
			}
			if _, err := clangFiles.ReadFile(name); err != nil {
				t.Errorf("not embedded: %v", err)
			}
		}
	}
}

// Every clang that is installed takes the device headers and whatever it is told as nvcc.
func TestInstalledVersions(t *testing.T) {
	needClang(t)
	const mathematics = `
extern "C" __global__ void k(float *o, const double *a) {
  int i = threadIdx.x / 32;
  float x = o[i], s = 0;
  for (int e = threadIdx.x; e < 1024; e += blockDim.x) s += 2.0f * x - o[e];
  o[i] = expf(s) + tanf(x) + rcbrtf(x) + (float)exp(a[i]) + (__float_as_uint(x) >> 8 & 255);
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(mathematics)})
	for _, program := range clangPrograms {
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		for _, asNVCC := range []bool{false, true} {
			c := NewClang(program, sandbox.DefaultLimits())
			c.asNVCC = asNVCC
			_, err := c.Compile(context.Background(), r)
			if u := (*UnavailableError)(nil); err != nil && !errors.As(err, &u) {
				t.Errorf("%s, as nvcc %v: %v", program, asNVCC, err)
			}
		}
	}
}
