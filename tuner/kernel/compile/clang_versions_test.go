package compile

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"testing/fstest"
)

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
			c := NewClang(program, DefaultLimits())
			c.asNVCC = asNVCC
			_, err := c.Compile(context.Background(), r)
			if u := (*UnavailableError)(nil); err != nil && !errors.As(err, &u) {
				t.Errorf("%s, as nvcc %v: %v", program, asNVCC, err)
			}
		}
	}
}
