// queues.cu - how many memory instructions a sub-partition takes before its warps
// stall: when each of 48 in a row is issued. Each takes many cycles of the
// load/store unit (32 lines or a 32-way bank conflict), so that once the queue is
// full instructions issue at the unit's pace. One CTA on one SM, 1, 2 or 4 warps
// in one, two or all sub-partitions.
#include "harness.cuh"

enum Kind { GLOBAL_LD, GLOBAL_LD_LINE, GLOBAL_ST, SHARED_LD, SHARED_ST, KINDS };
static const char *kindName[] = {"global_ld", "global_ld_line", "global_st", "shared_ld", "shared_st"};
static const int COUNT = 48;

__device__ inline unsigned now() {
  unsigned long long t; // the 64-bit clock: the other one may be read through the slow uniform path
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return unsigned(t);
}

// issued[w*COUNT+i] is the cycle at which warp w's instruction i has been issued
template <int KIND> __global__ void __launch_bounds__(512, 1) fill(const unsigned *g, unsigned *st, int warpsPerPart, int parts, unsigned *issued, unsigned *sink) {
  __shared__ unsigned tile[4096];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = i;
  const bool active = int(warp % 4) < parts && int(warp / 4) < warpsPerPart;
  const unsigned *p = g + (KIND == GLOBAL_LD_LINE ? 0 : lane * 32);
  unsigned *q = st + lane * 32;
  unsigned s = (unsigned)__cvta_generic_to_shared(tile) + lane * 128;
  unsigned v[COUNT], t[COUNT], x = 0, begin = 0;
  for (int round = 0; round < 3; round++) { // the last is the one kept: the lines are in L1 and the code in its cache
    __syncthreads();
    if (!active) continue;
    begin = now();
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      v[i] = 0;
      if (KIND == GLOBAL_LD || KIND == GLOBAL_LD_LINE) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[i]) : "l"(p + i * 2) : "memory");
      if (KIND == GLOBAL_ST) asm volatile("st.global.u32 [%0], %1;" ::"l"(q + i * 2), "r"(lane) : "memory");
      if (KIND == SHARED_LD) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[i]) : "r"(s + i * 8) : "memory");
      if (KIND == SHARED_ST) asm volatile("st.shared.u32 [%0], %1;" ::"r"(s + i * 8), "r"(lane) : "memory");
      t[i] = now();
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) x ^= v[i];
  }
  if (active && lane == 0)
#pragma unroll
    for (int i = 0; i < COUNT; i++) issued[warp * COUNT + i] = t[i] - begin;
  if (x == 0x12345678) sink[0] = x;
}

template <int KIND> void run(Buffer<unsigned> &g, Buffer<unsigned> &st, Buffer<unsigned> &issued, Buffer<unsigned> &sink) {
  for (int parts : {1, 2, 4})
    for (int warps : {1, 2, 4}) {
      fill<KIND><<<1, 512>>>(g.p, st.p, warps, parts, issued.p, sink.p);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      auto v = issued.get(16 * COUNT);
      for (int i = 0; i < COUNT; i++) { // the mean over the warps of the first sub-partition
        double sum = 0;
        for (int w = 0; w < warps; w++) sum += v[size_t(w) * 4 * COUNT + i];
        emit("queues.issued", Params()("kind", kindName[KIND])("sub_partitions", parts)("warps", warps)("instruction", i + 1), sum / warps, "cycles");
      }
    }
}

int main() {
  Device dev;
  Buffer<unsigned> g(1 << 16), st(1 << 16), issued(16 * COUNT), sink(16);
  run<GLOBAL_LD>(g, st, issued, sink);
  run<GLOBAL_LD_LINE>(g, st, issued, sink);
  run<GLOBAL_ST>(g, st, issued, sink);
  run<SHARED_LD>(g, st, issued, sink);
  run<SHARED_ST>(g, st, issued, sink);
}
