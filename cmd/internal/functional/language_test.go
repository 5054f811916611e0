package functional_test

import (
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// languageCase is an expression of the thread's number i in a block of 64, of which the last 32 begin again at 0
// for what a warp does, and what it is for thread i.
type languageCase struct {
	call string
	want func(i int) float64
}

// bfloatRounded rounds a normal value to a bfloat's 8 bits, ties to even.
func bfloatRounded(x float64) float64 {
	if x == 0 {
		return 0
	}
	step := math.Ldexp(1, math.Ilogb(x)-7)
	return math.RoundToEven(x/step) * step
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// odd is the lanes i of a warp that are odd.
const odd = 0xaaaaaaaa

var languageCases = []languageCase{
	// Halves.
	{"H(0.1f * i) + H(0.3f)", func(i int) float64 {
		return halfRounded(halfRounded(float64(float32(0.1)*float32(i))) + halfRounded(0.3))
	}},
	{"(float)(H(i) / H(7.f))", func(i int) float64 { return halfRounded(float64(float32(i) / 7)) }},
	{"(float)-H(i)", func(i int) float64 { return -float64(i) }},
	{"B(0.1f * i) + B(0.3f)", func(i int) float64 {
		return bfloatRounded(bfloatRounded(float64(float32(0.1)*float32(i))) + bfloatRounded(float64(float32(0.3))))
	}},
	{"(float)(B(i) * B(1.3f))", func(i int) float64 { return bfloatRounded(float64(i) * bfloatRounded(float64(float32(1.3)))) }},
	{"(float)(B(i) - B(100.5f))", func(i int) float64 { return bfloatRounded(float64(i) - 100.5) }},
	{"sum(__hgt2(__half2(H(i), H(20.f)), __half2(H(20.f), H(i))))", func(i int) float64 { return truth(i > 20) + truth(20 > i) }},
	{"sum(__hle2(BB(B(i), B(20.f)), BB(B(20.f), B(i))))", func(i int) float64 { return truth(i <= 20) + truth(20 <= i) }},
	{"(__hbge2(__half2(H(i), H(30.f)), __half2(H(20.f), H(i))) ? 1.f : 0.f)", func(i int) float64 { return truth(i >= 20 && i <= 30) }},
	{"(__hne(H(i), H(NAN)) ? 1.f : 0.f) + (__hneu(B(i), B(NAN)) ? 2.f : 0.f) + __hisinf(H(-1e9f))", func(int) float64 { return 1 }},
	{"(float)__half2int_ru(H(i + 0.25f)) + __half2short_rz(H(-i - 0.5f)) + __half2uint_rd(H(i + 0.75f))", func(i int) float64 { return float64(i + 1) }},
	{"(float)__float2half_rz(i + 2049.f) + (float)__ushort2half_rn(i) + (float)__double2half(i * 0.1)", func(i int) float64 {
		x := float64(i + 2049)
		return float64(float32(math.Floor(x/2)*2 + float64(i) + halfRounded(float64(i)*0.1)))
	}},
	{"__bfloat162int_rn(B(i)) + __bfloat162uint_ru(B(i + 0.5f))", func(i int) float64 {
		return float64(i) + math.Ceil(bfloatRounded(float64(i)+0.5))
	}},
	{"(float)__hmax(B(i), B(9.f)) + sum(__hmin2(BB(B(i), B(1.f)), BB(B(3.f), B(2.f))))", func(i int) float64 { return max(float64(i), 9) + min(float64(i), 3) + 1 }},
	{"sum(__lowhigh2highlow(__half2(H(i), H(1.f))) * __half2(H(1.f), H(3.f)))", func(i int) float64 { return float64(1 + 3*i) }},
	{"(float)__shfl_xor_sync(~0u, B(i), 3) + sum(__shfl_down_sync(~0u, BB(B(i), B(i)), 32, 32))", func(i int) float64 { return float64(i^3) + float64(2*i) }},
	// Atomics of halves and what shared memory holds of them.
	{"halves<H>(i)", func(int) float64 { return 64 }},
	{"halves<B>(i)", func(int) float64 { return 64 }},
	{"sum(halves<__half2>(i))", func(int) float64 { return 128 }},
	{"sum(halves<BB>(i))", func(int) float64 { return 128 }},
	{"(float)__ldcs(in + i) + (float)__ldcg(in + i)", func(i int) float64 { return float64(2 * i) }},
	// Groups.
	{"warp.meta_group_size() * 100 + warp.meta_group_rank() * 10 + eight.meta_group_rank()", func(i int) float64 { return float64(200 + i/32*10 + i%32/8) }},
	{"eight.shfl_xor(Pair{(float)i, 1.0}, 1).a + warp.shfl(Pair{1.f, (double)i}, 5).b", func(i int) float64 { return float64(i^1) + float64(i/32*32+5) }},
	{"cg::inclusive_scan(warp, i) + cg::exclusive_scan(eight, 1)", func(i int) float64 {
		first := i / 32 * 32
		return float64((i-first+1)*(first+i)/2 + i%8)
	}},
	{"cg::inclusive_scan(warp, (i * 7) % 13, cg::greater<int>())", func(i int) float64 {
		most := 0
		for k := i / 32 * 32; k <= i; k++ {
			most = max(most, k*7%13)
		}
		return float64(most)
	}},
	{"group.thread_rank() + 100 * group.size() + cg::thread_group(block).thread_rank()", func(i int) float64 { return float64(i%16 + 1600 + i) }},
	{"oddOnes(i)", func(i int) float64 {
		if i%2 == 0 {
			return -1
		}
		return float64(bits.OnesCount32(odd)) + float64(i%32/2) + float64(bits.OnesCount32(odd&0xffff))
	}},
	{"cg::labeled_partition(warp, i % 3).size() + 100 * cg::binary_partition(warp, i % 32 < 5).thread_rank()", func(i int) float64 {
		lane, n := i%32, 0
		for k := range 32 {
			if (i-lane+k)%3 == i%3 {
				n++
			}
		}
		rank := lane
		if lane >= 5 {
			rank = lane - 5
		}
		return float64(n + 100*rank)
	}},
	{"cg::this_grid().thread_rank() % 64 + 64 * 40 * (cg::this_grid().size() == 64 * gridDim.x * gridDim.y)", func(i int) float64 { return float64(i + 64*40) }},
	// The standard library.
	{"std::get<0>(tuples(i)) + std::get<1>(tuples(i))", func(i int) float64 { return float64(i) + float64(i)/2 }},
	{"std::less<int>()(i, 7) + std::plus<>()(i, 1) + std::max(i, 5, std::less<int>())", func(i int) float64 { return truth(i < 7) + float64(i+1) + float64(max(i, 5)) }},
	{"placed(i)->a", func(i int) float64 { return float64(i) }},
	{"(float)(UINT64_C(1) << 40) + umin(i, 7) + llmax(-1, i) + (float)(INT64_MIN + 1 < 0)", func(i int) float64 {
		return float64(float32(1<<40 + float64(min(i, 7)+i+1)))
	}},
	{"(float)__ull2double_rd((1ull << 60) + i) - (float)(1ull << 60)", func(int) float64 { return 0 }},
	// Complex numbers.
	{"cuCabsf(cuCmulf(make_cuComplex(3.f * i, 4.f * i), make_cuComplex(0.f, 2.f))) + cuCimagf(cuConjf(make_cuFloatComplex(1.f, i)))", func(i int) float64 { return float64(9 * i) }},
	{"complexQuotient(i)", func(i int) float64 { return float64(100*i - 4) }},
	// cub.
	{"reduced(i, cub::Sum(), 64)", func(i int) float64 { return 64 * 63 / 2 }},
	{"reduced(i, cub::Sum(), 50) + reduced(i, cub::Max(), 41)", func(i int) float64 { return 50*49/2 + 40 }},
	{"best(i)", func(i int) float64 { return 37 }},
	{"warpSum(i)", func(i int) float64 { return float64(8*(i/8*8) + 28) }},
	{"scanned(i)", func(i int) float64 {
		lane := i % 32
		return float64(lane*(lane+1)/2 + 100*(lane*(lane-1)/2) + 7*lane + 32*31/2)
	}},
	{"clock_t(i)", func(i int) float64 { return float64(i) }},
}

const languageSource = `#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cub/cub.cuh>
#include <cufft.h>
#include <vector>
#include <iostream>
#include <cuda/std/tuple>
namespace cg = cooperative_groups;
typedef __half H;
typedef __nv_bfloat16 B;
typedef __nv_bfloat162 BB;
struct Pair { float a; double b; };
__device__ float sum(__half2 v) { return float(v.x) + float(v.y); }
__device__ float sum(BB v) { return float(v.x) + float(v.y); }
__device__ void one(H &v) { v = H(1.f); }
__device__ void one(B &v) { v = B(1.f); }
template <class V> __device__ auto one(V &v) -> decltype(v.x, void()) { one(v.x); one(v.y); }
template <class V> __device__ V halves(int i) {
  __shared__ V total;
  V v;
  if (i == 0) memset(&total, 0, sizeof total);
  __syncthreads();
  one(v);
  atomicAdd(&total, v);
  __syncthreads();
  return total;
}
template <> __device__ H halves<H>(int i) {
  __shared__ __half2 total;
  if (i == 0) total = __half2(H(0.f), H(0.f));
  __syncthreads();
  atomicAdd(&total.x, H(1.f));
  __syncthreads();
  return total.x;
}
__device__ float complexQuotient(int i) {
  cufftDoubleComplex a = make_cuDoubleComplex(i, -4), b = make_cuDoubleComplex(0, 2);
  cuDoubleComplex c = cuCdiv(cuCadd(cuCsub(cuCmul(a, b), b), b), b);
  return 100 * cuCreal(c) + cuCimag(c);
}
__device__ float oddOnes(int i) {
  if (i % 2 == 0) return -1;
  cg::coalesced_group g = cg::coalesced_threads();
  return g.size() + g.thread_rank() + __popc(g.ballot(i % 32 < 16));
}
__device__ std::tuple<int, float> tuples(int i) {
  int a;
  float b;
  std::tie(a, b) = std::make_tuple(i, 0.5f * i);
  return cuda::std::make_tuple(a, b);
}
__device__ Pair *placed(int i) {
  __shared__ Pair space[64];
  return new (space + i) Pair{(float)i, 1};
}
template <class Op> __device__ float reduced(int i, Op op, int valid) {
  typedef cub::BlockReduce<float, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4> Reduce;
  typedef cub::BlockReduce<float, 64> Flat;
  __shared__ typename Flat::TempStorage s;
  __shared__ float all;
  static_assert(sizeof(s) == sizeof(typename Reduce::TempStorage), "");
  float v = Flat(s).Reduce(i, op, valid);
  if (i == 0) all = v;
  __syncthreads();
  v = all;
  __syncthreads();
  return v;
}
__device__ float best(int i) {
  typedef cub::KeyValuePair<int, float> Pair;
  __shared__ int key;
  Pair p = cub::BlockReduce<Pair, 64>().Reduce(Pair(i, -abs(i % 50 - 37)), cub::ArgMax());
  if (i == 0) key = p.key;
  __syncthreads();
  return key;
}
__device__ float warpSum(int i) {
  cub::WarpReduce<int, 8>::TempStorage s;
  return __shfl_sync(~0u, cub::WarpReduce<int, 8>(s).Sum(i), 0, 8);
}
__device__ float scanned(int i) {
  cub::WarpScan<int>::TempStorage s;
  int lane = i % 32, a, b, c, sum;
  cub::WarpScan<int>(s).InclusiveSum(lane, a, sum);
  cub::WarpScan<int>(s).ExclusiveSum(lane, b);
  cub::WarpScan<int>(s).ExclusiveScan(7, c, 0, cub::Sum());
  return a + 100 * b + c + sum;
}
extern "C" __global__ void evaluate(const __half *in, float *out) {
  register int i = threadIdx.x;
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  cg::thread_group group = cg::tiled_partition(block, 16);
  float y = 0;
  switch (blockIdx.y) {
CASES  }
  out[blockIdx.y * 64 + i] = y;
}
`

// What of the device language is not mathematics, compiled by clang and executed.
func TestDeviceLanguage(t *testing.T) {
	var calls []string
	for _, c := range languageCases {
		calls = append(calls, c.call)
	}
	tab := table{source: strings.Replace(languageSource, "CASES", cases("y", calls), 1), elem: call.Float, rows: len(calls), columns: 64, block: 64}
	in := make([]byte, 128)
	for i := range 64 {
		b := uint16(0)
		if i > 0 {
			e := bits.Len(uint(i)) - 1
			b = uint16((e+15)<<10 | i<<(10-e)&0x3ff)
		}
		in[2*i], in[2*i+1] = byte(b), byte(b>>8)
	}
	for _, target := range []string{"sm_80", "sm_90"} {
		out := tab.evaluate(t, target, in)
		for n, c := range languageCases {
			for i := range 64 {
				if got, want := float(out, 64*n+i), c.want(i); got != want {
					t.Errorf("%s: %s of thread %d is %v, want %v", target, c.call, i, got, want)
					break
				}
			}
		}
	}
}
