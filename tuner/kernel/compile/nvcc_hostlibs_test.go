package compile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// A file whose host code calls cuBLAS is compiled by nvcc where cuBLAS is not installed. The test needs nvcc.
func TestNVCCWithoutCuBLAS(t *testing.T) {
	const source = `#include <cublas_v2.h>
#include <cublasLt.h>
extern "C" __global__ void k(float *x) { x[threadIdx.x] *= 2; }
int main() {
  cublasHandle_t h;
  cublasLtMatmulDesc_t d;
  float one = 1, *p = 0;
  if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return 1;
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 1, &one, p, 1, p, 1, &one, p, 1);
  cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  k<<<1, 32>>>(p);
  return cublasDestroy(h);
}
`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": {Data: []byte(source)}})
	result, err := NewNVCC("", sandbox.DefaultLimits()).Compile(context.Background(), r)
	var none *UnavailableError
	if errors.As(err, &none) {
		t.Skip(err)
	}
	if err != nil || !strings.Contains(string(result.PTX), ".entry k(") {
		t.Errorf("%v\n%s", err, result.PTX)
	}
}
