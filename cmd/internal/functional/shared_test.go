package functional_test

import (
	"math"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// sharedCases are expressions of the thread's number i in a block of 64; t holds the squares of 0 to 63 in shared
// memory, g in global, and more is as much of it that belongs to the launch.
var sharedCases = []languageCase{
	{"t[63 - i]", func(i int) float64 { return square(63 - i) }},
	{"t[i / 2 - 1 + (i < 2)]", func(i int) float64 { return square(i/2 - 1 + int(truth(i < 2))) }},
	{"sumOf(t, i)", func(i int) float64 { return sumOfSquares(i) }},
	{"sumOf(g, i) + sumOf(more, i)", func(i int) float64 { return 2 * sumOfSquares(i) }},
	{"sumOf(i % 3 ? t : g, i)", func(i int) float64 { return sumOfSquares(i) }},
	{"*later(t, i)", func(i int) float64 { return square((i + 1) % 64) }},
	{"t[64 - n - i % 4]", func(i int) float64 { return square(63 - i%4) }},
	{"(&t[i] - &t[9]) * 2 + (&t[i] < &t[20]) + (t + i + 1 == later(t, i))", func(i int) float64 { return float64((i-9)*2) + truth(i < 20) + truth(i < 63) }},
	{"(char *)(t + i) - (char *)t", func(i int) float64 { return float64(4 * i) }},
	{"chosen(t, g, more, i)", func(i int) float64 { return square(i) }},
	{"list(t, i)", func(i int) float64 { return square(i ^ 5) }},
	{"backwards(t, i)", func(i int) float64 { return sumOfSquares(63) - sumOfSquares(i) }},
	{"vectors(t, i)", func(i int) float64 { return square(i/4*4) + square(i/4*4+3) }},
	{"moved(t, i)", func(i int) float64 { return square((i + 8) % 64) }},
	{"counted<int>(i)", func(i int) float64 { return 64 }},
	{"counted<unsigned>(i)", func(i int) float64 { return 64 }},
	{"counted<unsigned long long>(i)", func(i int) float64 { return 64 }},
	{"counted<float>(i)", func(i int) float64 { return 64 }},
	{"counted<double>(i)", func(i int) float64 { return 64 }},
	{"extremes(i)", func(i int) float64 { return 63*100 - 7 }},
	{"bits(i)", func(i int) float64 { return 63 + 64 }},
	{"swapped(i)", func(i int) float64 { return 64 }},
	{"copied(g, i)", func(i int) float64 { return square(i) }},
	{"narrow(t + i)", func(i int) float64 { return square(i) }},
	{"wide(t + i)", func(i int) float64 { return square(i) }},
	{"matrix(i)", func(i int) float64 { return float64(i%32/4*8 + i%4*2) }},
	{"table[i] + table[63 - n * i]", func(i int) float64 { return float64(i + 63 - i) }},
	{"own(i, n)", func(i int) float64 { return float64(i%8*10 + i%8) }},
}

func square(i int) float64 { return float64(i * i) }

func sumOfSquares(to int) (s float64) {
	for i := range to + 1 {
		s += square(i)
	}
	return s
}

const sharedSource = `#include <cuda_pipeline.h>
extern __shared__ float more[];
__constant__ int table[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
  44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
__device__ __noinline__ float sumOf(const float *p, int to) { float s = 0; for (int k = 0; k <= to; ++k) s += p[k]; return s; }
__device__ __noinline__ float *later(float *p, int i) { return p + (i + 1) % 64; }
__device__ float chosen(float *t, float *g, float *m, int i) { float *p = i % 3 == 0 ? t : i % 3 == 1 ? g : m; return p[i]; }
__device__ float list(float *t, int i) {
  __shared__ float *places[64];
  float *mine[4];
  places[i] = t + i;
  __syncthreads();
  for (int k = 0; k < 4; ++k) mine[k] = places[i ^ (k + 3)];
  float *p = mine[(int)t[1] + 1];
  __syncthreads();
  return *p;
}
__device__ float backwards(float *t, int i) { float s = 0; for (float *p = t + 63; p != t + i; --p) s += *p; return s; }
__device__ float vectors(float *t, int i) { float4 v = *(float4 *)&t[i / 4 * 4]; return v.x + v.w; }
__device__ float moved(float *t, int i) {
  struct Row { float v[8]; };
  __shared__ Row rows[8];
  if (i < 8) rows[i] = *(Row *)(t + (i + 1) % 8 * 8);
  __syncthreads();
  float v = rows[i / 8].v[i % 8];
  __syncthreads();
  return v;
}
template <class T> __device__ float counted(int i) {
  __shared__ T n;
  if (i == 0) n = 0;
  __syncthreads();
  atomicAdd(&n, T(1));
  __syncthreads();
  float v = n;
  __syncthreads();
  return v;
}
__device__ float extremes(int i) {
  __shared__ int most;
  __shared__ long long least;
  if (i == 0) most = -1000, least = 1000;
  __syncthreads();
  atomicMax(&most, i);
  atomicMin(&least, (long long)i - 7);
  __syncthreads();
  float v = most * 100 + least;
  __syncthreads();
  return v;
}
__device__ float bits(int i) {
  __shared__ unsigned either, turns;
  if (i == 0) either = 0, turns = 0;
  __syncthreads();
  atomicOr(&either, (unsigned)i);
  atomicInc(&turns, 1000u);
  __syncthreads();
  float v = either + turns;
  __syncthreads();
  return v;
}
__device__ float swapped(int i) {
  __shared__ unsigned long long n;
  if (i == 0) n = 0;
  __syncthreads();
  for (unsigned long long was = 0, seen; (seen = atomicCAS(&n, was, was + 1)) != was; was = seen) {}
  __syncthreads();
  float v = n;
  __syncthreads();
  return v;
}
__device__ float copied(const float *g, int i) {
  __shared__ __align__(16) float c[64];
  if (i < 4) __pipeline_memcpy_async(c + 4 * i, g + 4 * i, 16);
  else if (i < 24) __pipeline_memcpy_async(c + 8 + 2 * i, g + 8 + 2 * i, 8);
  else if (i < 32) __pipeline_memcpy_async(c + 32 + i, g + 32 + i, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  float v = c[i];
  __syncthreads();
  return v;
}
__device__ float narrow(const float *p) { float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"((unsigned)__cvta_generic_to_shared(p))); return v; }
__device__ float wide(const float *p) { float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "l"(__cvta_generic_to_shared(p))); return v; }
__device__ float matrix(int i) {
  __shared__ __align__(16) unsigned short rows[8][8];
  for (int k = i; k < 64; k += 64) rows[k / 8][k % 8] = k;
  __syncthreads();
  unsigned r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(&rows[i % 8][0])));
  __syncthreads();
  return r & 0xffff;
}
__device__ float own(int i, int n) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[(k * n + i) % 8] = (k + i) % 8 * 10;
  return a[i % 8] + i % 8;
}
extern "C" __global__ void evaluate(float *g, int *ones, float *out) {
  __shared__ __align__(16) float t[64];
  int i = threadIdx.x, n = ones[i];
  more[i] = t[i] = g[i];
  __syncthreads();
  float y = 0;
  switch (blockIdx.y) {
CASES  }
  out[blockIdx.y * 64 + i] = y;
}
`

// Shared memory, whose addresses clang in nvcc's place holds in 32 bits, in all the ways in which kernels come by them.
func TestSharedMemory(t *testing.T) {
	var calls []string
	for _, c := range sharedCases {
		calls = append(calls, c.call)
	}
	tab := table{source: strings.Replace(sharedSource, "CASES", cases("y", calls), 1), elem: call.Float, rows: len(calls), columns: 64, block: 64, dynamic: 256}
	squares, ones := make([]uint32, 64), make([]uint32, 64)
	for i := range squares {
		squares[i], ones[i] = math.Float32bits(float32(i*i)), 1
	}
	for _, clang := range needClangs(t) {
		who, err := clang.Identify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := tab.evaluateBy(t, clang, "sm_90", words(squares), words(ones))
		for n, c := range sharedCases {
			for i := range 64 {
				if got, want := float(out, 64*n+i), c.want(i); got != want {
					t.Errorf("%s: %s of thread %d is %v, want %v", who, c.call, i, got, want)
					break
				}
			}
		}
	}
}
