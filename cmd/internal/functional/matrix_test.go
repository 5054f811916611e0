package functional_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// matrixCase is a product by nvcuda::wmma of elements that T names to sums of elements E.
type matrixCase struct {
	m, n, k          int
	factor, elem     string // T, and its type in memory
	sum              string
	row, brow, crow  bool
	inSharedMemory   bool
	scaled, unsigned bool
}

func matrixCases() (list []matrixCase) {
	for i, c := range []matrixCase{
		{m: 16, n: 16, k: 16, factor: "half", sum: "float"}, {m: 32, n: 8, k: 16, factor: "half", sum: "float"}, {m: 8, n: 32, k: 16, factor: "half", sum: "half"},
		{m: 16, n: 16, k: 16, factor: "half", sum: "half"}, {m: 16, n: 16, k: 16, factor: "__nv_bfloat16", sum: "float"}, {m: 32, n: 8, k: 16, factor: "__nv_bfloat16", sum: "float"},
		{m: 8, n: 32, k: 16, factor: "__nv_bfloat16", sum: "float"}, {m: 16, n: 16, k: 8, factor: "wmma::precision::tf32", elem: "float", sum: "float"},
		{m: 8, n: 8, k: 4, factor: "double", sum: "double"}, {m: 16, n: 16, k: 16, factor: "signed char", sum: "int"}, {m: 32, n: 8, k: 16, factor: "signed char", sum: "int"},
		{m: 8, n: 32, k: 16, factor: "unsigned char", sum: "int", unsigned: true}, {m: 16, n: 16, k: 16, factor: "unsigned char", sum: "int", unsigned: true},
	} {
		if c.elem == "" {
			c.elem = c.factor
		}
		bytes := strings.HasSuffix(c.factor, "char") // by rows of A and columns of B only
		for layouts := range 8 {
			c.row, c.brow, c.crow = layouts&1 == 0, layouts&2 != 0, layouts&4 == 0
			c.inSharedMemory, c.scaled = (i+layouts)%2 == 0, layouts%3 == 0
			if !bytes || c.row && !c.brow {
				list = append(list, c)
			}
		}
	}
	return list
}

func (c matrixCase) String() string {
	return fmt.Sprintf("m%dn%dk%d of %s to %s, rows %v %v %v", c.m, c.n, c.k, c.factor, c.sum, c.row, c.brow, c.crow)
}

const matrixSource = `#include <mma.h>
using namespace nvcuda;
template <int M, int N, int K, class T, class S, class E, class LA, class LB>
__device__ void product(const float *a, const float *b, float *out, wmma::layout_t layout, bool shared, float scale, void *space) {
  __shared__ __align__(32) S as[512], bs[512];
  S *ga = (S *)space, *gb = ga + 512;
  E *gc = (E *)(gb + 512);
  __shared__ __align__(32) E cs[256];
  for (int i = threadIdx.x; i < 512; i += 32) as[i] = ga[i] = (S)a[i], bs[i] = gb[i] = (S)b[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, E> fc;
  wmma::fill_fragment(fc, 2.0f);
  wmma::load_matrix_sync(fa, shared ? as : ga, __is_same(LA, wmma::row_major) ? K : M);
  wmma::load_matrix_sync(fb, shared ? bs : gb, __is_same(LB, wmma::row_major) ? N : K);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = (E)((float)fc.x[i] * scale);
  unsigned ldm = layout == wmma::mem_row_major ? N : M;
  if (shared) wmma::store_matrix_sync(cs, fc, ldm, layout);
  else wmma::store_matrix_sync(gc, fc, ldm, layout);
  __syncthreads();
  for (int i = threadIdx.x; i < M * N; i += 32) out[i] = (float)(shared ? cs[i] : gc[i]);
}
extern "C" __global__ void multiply(const float *in, float *out, float *space) {
  const float *a = in + blockIdx.x * 1024, *b = a + 512;
  float *o = out + blockIdx.x * 256;
  float *s = space + blockIdx.x * 4096;
  switch (blockIdx.x) {
CASES  }
}
`

func layout(row bool) string {
	if row {
		return "row_major"
	}
	return "col_major"
}

// The device header's nvcuda::wmma, compiled by clang and executed, against the definition: every
// type and shape in every layout.
func TestDeviceMatrices(t *testing.T) {
	for _, clang := range needClangs(t) {
		testMatrices(t, clang)
	}
}

func testMatrices(t *testing.T, clang compile.Driver) {
	t.Helper()
	cases := matrixCases()
	var code strings.Builder
	var in []byte
	value := func(n, side, i int, unsigned bool) float64 {
		v := float64((i*i+5*i+7*n+3*side)%7) - 3
		if unsigned {
			return v + 3
		}
		return v
	}
	for n, c := range cases {
		scale := 1
		if c.scaled {
			scale = 3
		}
		fmt.Fprintf(&code, "    case %d: product<%d, %d, %d, %s, %s, %s, wmma::%s, wmma::%s>(a, b, o, wmma::mem_%s, %v, %d.f, s); break;\n",
			n, c.m, c.n, c.k, c.factor, c.elem, c.sum, layout(c.row), layout(c.brow), layout(c.crow), c.inSharedMemory, scale)
		for side := range 2 {
			for i := range 512 {
				in = binary.LittleEndian.AppendUint32(in, math.Float32bits(float32(value(n, side, i, c.unsigned))))
			}
		}
	}
	count := int64(len(cases))
	launch := &call.Launch{
		KernelName: "multiply", Grid: [3]int64{count, 1, 1}, Block: [3]int64{32, 1, 1},
		Args: []call.Arg{
			{Name: "in", Type: call.Float, Lanes: 1, Count: 1024 * count}, {Name: "out", Type: call.Float, Lanes: 1, Count: 256 * count},
			{Name: "space", Type: call.Float, Lanes: 1, Count: 4096 * count},
		},
		Compile: call.Compile{Language: call.CUDA, SourceFile: "multiply.cu", Source: []byte(strings.Replace(matrixSource, "CASES", code.String(), 1))},
	}
	res, err := clang.Compile(t.Context(), compile.Request{Compile: launch.Compile, Target: "sm_90"})
	if err != nil {
		t.Fatal(err)
	}
	after, err := run(launch, res.PTX, map[string][]byte{"in": in, "out": make([]byte, 1024*count), "space": make([]byte, 16384*count)})
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range cases {
		at := func(row bool, i, j, rows, cols int) int {
			if row {
				return i*cols + j
			}
			return j*rows + i
		}
		for i := range c.m {
			for j := range c.n {
				want := 2.0
				for k := range c.k {
					want += value(n, 0, at(c.row, i, k, c.m, c.k), c.unsigned) * value(n, 1, at(c.brow, k, j, c.k, c.n), c.unsigned)
				}
				if c.scaled {
					want *= 3
				}
				if got := float(after["out"], 256*n+at(c.crow, i, j, c.m, c.n)); got != want {
					t.Fatalf("%v: row %d, column %d is %v, want %v", c, i, j, got, want)
				}
			}
		}
	}
}
