// behind.cu - what a warp does behind warpgroup MMAs that still wait at the tensor core: cycles from the issue of the last MMA
// until it is done, by how many MMAs there are, for barriers, loads, stores and shuffles, copies, mbarriers. One SM. With
// `other` a warp of the same sub-partition, but of another warpgroup, does it, which has no MMAs of its own. Prints JSON lines
// as the other programs do. sm_90a.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -DPART=0 -o behind behind.cu && ./behind   # and 1 to 4
#include "harness.cuh"
#include "mma.cuh"

enum What { nothing, arithmetic, barrier, arrival, load, store, shuffle, copy, mbarrier, group, vote, global, fence };
const char *const names[] = {"nothing", "arithmetic", "bar.sync", "bar.arrive", "ld.shared", "st.shared", "shfl", "cp.async", "mbarrier.arrive", "wait_group", "vote", "ld.global", "fence.proxy"};
constexpr int tileBytes = 65536;

__device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

// act does it and returns when it is done.
template <What W> __device__ __forceinline__ unsigned act(uint32_t to, uint32_t bar, const char *from, unsigned x) {
  unsigned y = x;
  if (W == arithmetic) asm volatile("mad.lo.u32 %0, %1, %1, %1;" : "=r"(y) : "r"(x));
  if (W == barrier) asm volatile("bar.sync 1, 128;" ::: "memory");
  if (W == arrival) asm volatile("bar.arrive 2, 256;" ::: "memory");
  if (W == load) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(y) : "r"(to) : "memory");
  if (W == store) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(y) : "r"(to) : "memory");
  }
  if (W == shuffle) asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(y) : "r"(x));
  if (W == copy) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
  if (W == mbarrier) {
    uint64_t s;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(bar) : "memory");
    y = (unsigned)s;
  }
  if (W == group) asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  if (W == vote) y = __ballot_sync(~0u, x & 1);
  if (W == global) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(y) : "l"(from) : "memory");
  if (W == fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 123456789; @p trap;}" ::"r"(y) : "memory");
  return now();
}

template <int N, int MMAS, What W, bool OTHER> __global__ void __launch_bounds__(256) behind(unsigned *out, float *sink, const char *from) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ uint64_t bar;
  float d[N / 2] = {};
  uint64_t at = zeroed(tile, tileBytes);
  uint32_t to = (uint32_t)__cvta_generic_to_shared(tile) + tileBytes + threadIdx.x * 16, b = (uint32_t)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 4096;" ::"r"(b) : "memory");
  unsigned last = 0, end = 0, done = 0;
  from += threadIdx.x * 16;
  for (int turn = 0; turn < 4; turn++) { // the last one counts
    __syncthreads();
    if (threadIdx.x < 128) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      if (W == group) {
        Mma<N>::shared(d, at + 2048, at);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      }
#pragma unroll
      for (int k = 0; k < MMAS; k++) Mma<N>::shared(d, at + 2048 + 2 * (k & 3), at + 2 * (k & 3));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      last = now();
      if (!OTHER) end = act<W>(to, b, from, threadIdx.x);
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      done = now();
      if (W == arrival && OTHER) asm volatile("bar.sync 2, 256;" ::: "memory");
    } else if (OTHER) {
      unsigned t = now();
      while (now() - t < 100) {
      }
      last = now();
      end = act<W>(to, b, from, threadIdx.x);
    } else if (W == arrival) asm volatile("bar.sync 2, 256;" ::: "memory");
  }
  if (threadIdx.x % 32 == 0) out[2 * (threadIdx.x / 32)] = end - last, out[2 * (threadIdx.x / 32) + 1] = done - last;
  for (float x : d) sink[threadIdx.x] += x;
}

template <int N, int MMAS, What W, bool OTHER> void one() {
  Buffer<unsigned> v(16);
  Buffer<float> sink(256);
  Buffer<char> from(1 << 16);
  auto k = behind<N, MMAS, W, OTHER>;
  int bytes = tileBytes + 4096;
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (int i = 0; i < 2; i++) k<<<1, 256, bytes>>>(v.p, sink.p, from.p);
  CHECK(cudaGetLastError());
  auto x = v.get(16);
  unsigned most = 0, all = 0;
  for (int i = 0; i < 4; i++) most = std::max(most, x[2 * (i + (OTHER ? 4 : 0))]), all = std::max(all, x[2 * i + 1]);
  Params p = Params()("columns", N)("mmas", double(MMAS))("what", names[W])("warps", OTHER ? "others" : "own");
  emit("behind.done", p, most, "cycles");
  if (W == nothing) emit("behind.products", p, all, "cycles");
}

template <int N, What W, bool OTHER> void each() { one<N, 0, W, OTHER>(), one<N, 1, W, OTHER>(), one<N, 2, W, OTHER>(), one<N, 4, W, OTHER>(), one<N, 6, W, OTHER>(), one<N, 8, W, OTHER>(); }

int main() {
#if PART == 0
  each<128, nothing, false>(), each<128, arithmetic, false>(), each<128, barrier, false>(), each<128, arrival, false>();
#elif PART == 1
  each<128, load, false>(), each<128, store, false>(), each<128, shuffle, false>(), each<128, copy, false>();
#elif PART == 2
  each<128, mbarrier, false>(), each<128, group, false>(), each<128, vote, false>(), each<128, global, false>(), each<128, fence, false>();
#elif PART == 3
  each<128, barrier, true>(), each<128, load, true>(), each<128, shuffle, true>(), each<128, copy, true>(), each<128, mbarrier, true>();
#elif PART == 4
  each<64, barrier, false>(), each<64, load, false>(), each<256, barrier, false>(), each<256, load, false>();
#endif
}
