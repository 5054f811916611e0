package functional_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// blockCases are what blocks of 64 threads do together by cub, cuda::barrier, cuda::pipeline and tiles of several
// warps; g holds the squares of 0 to 255.
var blockCases = []languageCase{
	{"inclusive(g[i])", func(i int) float64 { return sumOfSquares(i) }},
	{"exclusive(g[i])", func(i int) float64 { return sumOfSquares(i - 1) }},
	{"aggregated(g[i])", func(i int) float64 { return sumOfSquares(63) }},
	{"items(g, i, 0)", func(i int) float64 { return sumOfSquares(4 * i) }},
	{"items(g, i, 3)", func(i int) float64 { return sumOfSquares(4*i + 3) }},
	{"items(g, i, 5)", func(i int) float64 { return sumOfSquares(4*i + 1 - 1) }},
	{"largest(i)", func(i int) float64 { return float64(max(i, 7)) }},
	{"loaded<cub::BLOCK_LOAD_DIRECT>(g, i)", func(i int) float64 { return square(4*i) + 3*square(4*i+3) }},
	{"loaded<cub::BLOCK_LOAD_VECTORIZE>(g, i)", func(i int) float64 { return square(4*i) + 3*square(4*i+3) }},
	{"loaded<cub::BLOCK_LOAD_TRANSPOSE>(g, i)", func(i int) float64 { return square(4*i) + 3*square(4*i+3) }},
	{"loaded<cub::BLOCK_LOAD_WARP_TRANSPOSE>(g, i)", func(i int) float64 { return square(4*i) + 3*square(4*i+3) }},
	{"loaded<cub::BLOCK_LOAD_STRIPED>(g, i)", func(i int) float64 { return square(i) + 3*square(192+i) }},
	{"guarded(g, i)", func(i int) float64 {
		if 4*i+3 < 100 {
			return square(4*i + 3)
		}
		return -1
	}},
	{"stored<cub::BLOCK_STORE_DIRECT>(i)", func(i int) float64 { return float64(i + 1000*(i+192)) }},
	{"stored<cub::BLOCK_STORE_VECTORIZE>(i)", func(i int) float64 { return float64(i + 1000*(i+192)) }},
	{"stored<cub::BLOCK_STORE_TRANSPOSE>(i)", func(i int) float64 { return float64(i + 1000*(i+192)) }},
	{"stored<cub::BLOCK_STORE_WARP_TRANSPOSE>(i)", func(i int) float64 { return float64(i + 1000*(i+192)) }},
	{"met(g, i)", func(i int) float64 { return square(63 - i) }},
	{"piped(g, i)", func(i int) float64 { return square(63-i) + square(64+63-i) }},
	{"gathered(g, i)", func(i int) float64 { return square(63 - i) }},
	{"tiles(i)", func(i int) float64 { return float64(63 - i + 64) }},
}

const blockSource = `#include <cub/cub.cuh>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef cub::BlockScan<float, 64> Scan;
__device__ float inclusive(float v) { __shared__ Scan::TempStorage s; Scan(s).InclusiveSum(v, v); __syncthreads(); return v; }
__device__ float exclusive(float v) { __shared__ Scan::TempStorage s; Scan(s).ExclusiveSum(v, v); __syncthreads(); return v; }
__device__ float aggregated(float v) { __shared__ Scan::TempStorage s; float all; Scan(s).ExclusiveSum(v, v, all); __syncthreads(); return all; }
__device__ float items(const float *g, int i, int n) {
  __shared__ Scan::TempStorage s;
  float v[4] = {g[4 * i], g[4 * i + 1], g[4 * i + 2], g[4 * i + 3]}, w[4];
  if (n < 4) Scan(s).InclusiveSum(v, w); else Scan(s).ExclusiveSum(v, w);
  __syncthreads();
  return w[n % 4];
}
struct Max { __device__ int operator()(int a, int b) const { return a > b ? a : b; } };
__device__ float largest(int i) {
  __shared__ cub::BlockScan<int, 64>::TempStorage s;
  cub::BlockScan<int, 64>(s).ExclusiveScan(i + 1, i, 7, Max());
  __syncthreads();
  return i;
}
template <cub::BlockLoadAlgorithm A> __device__ float loaded(const float *g, int i) {
  typedef cub::BlockLoad<float, 64, 4, A> Load;
  __shared__ typename Load::TempStorage s;
  float v[4];
  Load(s).Load(g, v);
  __syncthreads();
  return v[0] + 3 * v[3];
}
__device__ float guarded(const float *g, int i) {
  typedef cub::BlockLoad<float, 64, 4> Load;
  __shared__ Load::TempStorage s;
  float v[4];
  Load(s).Load(g, v, 100, -1.f);
  return v[3];
}
template <cub::BlockStoreAlgorithm A> __device__ float stored(int i) {
  typedef cub::BlockStore<float, 64, 4, A> Store;
  __shared__ typename Store::TempStorage s;
  __shared__ __align__(16) float all[256];
  float v[4] = {4.f * i, 4.f * i + 1, 4.f * i + 2, 4.f * i + 3};
  Store(s).Store(all, v);
  __syncthreads();
  float found = all[i] + 1000 * all[192 + i];
  __syncthreads();
  return found;
}
__device__ float met(const float *g, int i) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ float s[64];
  if (i == 0) init(&b, 64);
  __syncthreads();
  cuda::memcpy_async(s + i, g + i, sizeof(float), b);
  b.arrive_and_wait();
  float v = s[63 - i];
  __syncthreads();
  return v;
}
__device__ float piped(const float *g, int i) {
  __shared__ float s[2][64];
  auto p = cuda::make_pipeline();
  for (int k = 0; k < 2; ++k) {
    p.producer_acquire();
    cuda::memcpy_async(&s[k][i], g + 64 * k + i, sizeof(float), p);
    p.producer_commit();
  }
  float v = 0;
  for (int k = 0; k < 2; ++k) {
    p.consumer_wait();
    __syncthreads();
    v += s[k][63 - i];
    p.consumer_release();
  }
  __syncthreads();
  return v;
}
__device__ float gathered(const float *g, int i) {
  __shared__ __align__(16) float s[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto p = cuda::make_pipeline(block, &state);
  p.producer_acquire();
  cuda::memcpy_async(block, s, g, cuda::aligned_size_t<16>(256), p);
  p.producer_commit();
  p.consumer_wait();
  float v = s[63 - i];
  p.consumer_release();
  __syncthreads();
  return v;
}
__device__ float tiles(int i) {
  __shared__ cg::block_tile_memory<64> memory;
  __shared__ int s[64];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  s[i] = tile.thread_rank();
  tile.sync();
  float v = s[63 - i] + tile.size();
  tile.sync();
  return v;
}
extern "C" __global__ void evaluate(float *g, int *unused, float *out) {
  int i = threadIdx.x;
  float y = 0;
  switch (blockIdx.y) {
CASES  }
  out[blockIdx.y * 64 + i] = y;
}
`

// TestBlocks: primitives of blocks come to what their names say.
func TestBlocks(t *testing.T) {
	var calls []string
	for _, c := range blockCases {
		calls = append(calls, c.call)
	}
	tab := table{source: strings.Replace(blockSource, "CASES", cases("y", calls), 1), elem: call.Float, rows: len(calls), columns: 64, block: 64, dynamic: 256}
	squares := make([]uint32, 256)
	for i := range squares {
		squares[i] = math.Float32bits(float32(i * i))
	}
	for _, clang := range needClangs(t) {
		who, err := clang.Identify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := tab.evaluateBy(t, clang, "sm_90", words(squares), words(squares))
		for n, c := range blockCases {
			for i := range 64 {
				if got, want := float(out, 64*n+i), c.want(i); got != want {
					t.Errorf("%s: %s of thread %d is %v, want %v", who, c.call, i, got, want)
					break
				}
			}
		}
	}
}

// TestTilesOfLargeBlocks: tiles of 64 threads meet in the largest blocks, too, where they are more than barriers.
func TestTilesOfLargeBlocks(t *testing.T) {
	const n = 1024
	tab := table{elem: call.Int32, rows: 1, columns: n, block: n, source: `#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void evaluate(int *in, int *out) {
  __shared__ int s[1024];
  int i = threadIdx.x;
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  int v = in[i];
  for (int round = 0; round < 3; ++round) {
    s[i] = v + tile.meta_group_rank();
    tile.sync();
    v = s[i / 64 * 64 + 63 - tile.thread_rank()] + tile.meta_group_size();
    tile.sync();
  }
  __syncthreads();
  out[i] = v;
}`}
	in := make([]uint32, n)
	for i := range in {
		in[i] = uint32(i * i)
	}
	out := tab.evaluate(t, "sm_90", words(in))
	for i := range n {
		if got, want := int(binary.LittleEndian.Uint32(out[4*i:])), (i^63)*(i^63)+3*(i/64)+3*16; got != want {
			t.Fatalf("thread %d has %d, want %d", i, got, want)
		}
	}
}
