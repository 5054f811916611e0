// matches.cu - match.any by how many values the lanes of a warp have, and match.all: a chain of
// them, and how many cycles of an SM each takes, alone and with sums of integers, roots or loads
// from shared memory in turns.
#include "harness.cuh"

enum Kind { ANY, ANY64, ALL, KINDS };
enum With { NOTHING, SUMS, ROOTS, LOADS, WITHS };
static const char *kindName[] = {"any.b32", "any.b64", "all.b32"}, *withName[] = {"nothing", "iadd", "rsqrt", "ld.shared"};
const int rounds = 8, loops = 32;

template <int KIND> __device__ inline unsigned match(unsigned x) {
  unsigned m;
  if (KIND == ANY) asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(m) : "r"(x));
  if (KIND == ANY64) asm volatile("match.any.sync.b64 %0, %1, -1;" : "=r"(m) : "l"((unsigned long long)x));
  if (KIND == ALL) asm volatile("{.reg .pred p; match.all.sync.b32 %0|p, %1, -1;}" : "=r"(m) : "r"(x));
  return m;
}

// Each warp makes rounds * loops matches; in a chain each takes a bit, always zero, of the one before.
template <int KIND, int WITH, bool CHAIN> __global__ void __launch_bounds__(1024) run(long long *took, unsigned *sink, unsigned values, unsigned zero) {
  __shared__ unsigned words[1024];
  unsigned x = threadIdx.x % 32 % values, s = threadIdx.x, m = 0;
  float f = 1.5f + threadIdx.x;
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  long long begin = clock64();
  for (int l = 0; l < loops; l++)
#pragma unroll
    for (int r = 0; r < rounds; r++) {
      unsigned q = match<KIND>(CHAIN ? x + (m & zero) : x);
      m = CHAIN ? q : m ^ q;
      if (WITH == SUMS) asm volatile("add.u32 %0, %0, %1; xor.b32 %0, %0, %1; add.u32 %0, %0, %1; xor.b32 %0, %0, %1;" : "+r"(s) : "r"(x));
      if (WITH == ROOTS) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(f));
      if (WITH == LOADS) asm volatile("{.reg .u32 v; ld.shared.u32 v, [%1]; xor.b32 %0, %0, v;}" : "+r"(s) : "l"(__cvta_generic_to_shared(words + threadIdx.x)));
    }
  __syncthreads();
  if (threadIdx.x == 0) *took = clock64() - begin;
  sink[threadIdx.x] = m + s + unsigned(f);
}

template <int KIND, int WITH> void rates(long long *took, unsigned *sink) {
  for (unsigned values : {1, 2, 4, 8, 16, 32})
    for (int warps : {0, 1, 4, 32}) {
      if (WITH && warps != 32) continue;
      long long t;
      for (int i = 0; i < 2; i++) {
        if (warps) run<KIND, WITH, false><<<1, 32 * warps>>>(took, sink, values, 0);
        else run<KIND, WITH, true><<<1, 32>>>(took, sink, values, 0);
      }
      CHECK(cudaMemcpy(&t, took, sizeof t, cudaMemcpyDeviceToHost));
      double each = double(t) / (rounds * loops);
      if (!warps) emit("match.latency", Params()("op", kindName[KIND])("values", values), each, "cycles");
      else emit("match.rate", Params()("op", kindName[KIND])("values", values)("warps", warps)("with", withName[WITH]), each / warps, "cycles/warp");
    }
}

int main() {
  Device dev;
  Buffer<long long> took(1);
  Buffer<unsigned> sink(1024);
  rates<ANY, NOTHING>(took.p, sink.p), rates<ANY, SUMS>(took.p, sink.p), rates<ANY, ROOTS>(took.p, sink.p), rates<ANY, LOADS>(took.p, sink.p);
  rates<ANY64, NOTHING>(took.p, sink.p), rates<ALL, NOTHING>(took.p, sink.p);
}
