package functional_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// atomicCases come to the same for all 64 threads of a block, each of which has a number i of its own.
var atomicCases = []struct {
	call string
	want int32
}{
	{"all(number, [&] { number.fetch_add(i); })", 2016},
	{"all(number, [&] { number.fetch_sub(i, cuda::memory_order_relaxed); })", -2016},
	{"all(number, [&] { number.fetch_max(i * 37 % 64); })", 63},
	{"all(number, [&] { number.fetch_min(-(i * 37 % 64)); })", -63},
	{"all(number, [&] { number.fetch_or(1 << i % 20); })", 1<<20 - 1},
	{"all(number, [&] { number.fetch_xor(i); })", 0},
	{"all(number, [&] { ++number; number++; number += 3; --number; })", 64 * 4},
	{"all(number, [&] { if (i == 7) number.exchange(5, cuda::memory_order_acq_rel); })", 5},
	{"all(number, [&] { if (i == 7) number = 9; })", 9},
	{"all(number, [&] { int seen = number.load(cuda::memory_order_acquire); while (!number.compare_exchange_weak(seen, seen + i * i, cuda::memory_order_release, cuda::memory_order_relaxed)) {} })", 85344},
	{"all(wide, [&] { wide.fetch_add(i * 10000000000ull); }) / 10000000000ull", 2016},
	{"all(wide, [&] { wide.fetch_and(~0ull << i); wide.fetch_or(7); })", 7},
	{"all(real, [&] { real.fetch_add(i + 0.5f); })", 2048},
	{"all(standard, [&] { standard.fetch_add(2, cuda::std::memory_order_relaxed); })", 128},
	{"ref<float>([&](cuda::atomic_ref<float, cuda::thread_scope_block> r) { r += 0.25f; })", 16},
	{"ref<double>([&](cuda::atomic_ref<double, cuda::thread_scope_block> r) { r.fetch_add(0.5); })", 32},
	{"ref<int>([&](cuda::atomic_ref<int, cuda::thread_scope_device> r) { r++; cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); })", 64},
}

const atomicSource = `#include <cuda/atomic>
#include <cuda/std/atomic>
template <class A, class F> __device__ auto all(A &a, F f) {
  if (threadIdx.x == 0) a.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  f();
  __syncthreads();
  auto v = a.load();
  __syncthreads();
  return v;
}
template <class C, class A> __device__ A arg(void (C::*)(A) const);
template <class T, class F> __device__ T ref(F f) {
  __shared__ T held;
  if (threadIdx.x == 0) held = 0;
  __syncthreads();
  f(decltype(arg(&F::operator()))(held));
  __syncthreads();
  return held;
}
extern "C" __global__ void evaluate(int *unused, int *out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> number;
  __shared__ cuda::atomic<unsigned long long, cuda::thread_scope_device> wide;
  __shared__ cuda::atomic<float> real;
  __shared__ cuda::std::atomic<int> standard;
  int i = threadIdx.x, y = 0;
  switch (blockIdx.y) {
CASES  }
  out[blockIdx.y * 64 + i] = y;
}
`

// TestScopedAtomics: cuda::atomic and cuda::atomic_ref come to what their names say.
func TestScopedAtomics(t *testing.T) {
	var calls []string
	for _, c := range atomicCases {
		calls = append(calls, c.call)
	}
	tab := table{source: strings.Replace(atomicSource, "CASES", cases("y", calls), 1), elem: call.Int32, rows: len(calls), columns: 64, block: 64}
	for _, target := range []string{"sm_70", "sm_90"} {
		out := tab.evaluate(t, target, make([]byte, 4))
		for n, c := range atomicCases {
			for i := range 64 {
				if got := int32(binary.LittleEndian.Uint32(out[4*(64*n+i):])); got != c.want {
					t.Errorf("%s: %s of thread %d is %d, want %d", target, c.call, i, got, c.want)
					break
				}
			}
		}
	}
}
