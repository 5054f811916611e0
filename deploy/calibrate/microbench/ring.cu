// ring.cu - loops as Triton makes them of matrix products: warpgroups issue their MMAs, wait for those of the iteration
// before, meet, do something else (wait, or copy a tile by cp.async), and meet again. Cycles an iteration, by MMAs, columns
// and warpgroups, and by what is between. Prints JSON lines as the other programs do. sm_90a.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o ring ring.cu && ./ring
#include "harness.cuh"
#include "mma.cuh"

__device__ __forceinline__ int now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

constexpr int turns = 64, tileBytes = 65536;

// COPIES is how many cp.async of 16 bytes a thread has an iteration, DEPTH how many iterations they may be under way.
template <int N, int MMAS, int COPIES, int DEPTH> __global__ void __launch_bounds__(256, 1) ring(int *cycles, float *sink, const char *from, long long pitch, int gap, int rows) {
  extern __shared__ __align__(1024) unsigned char tile[];
  float d[2][N / 2] = {};
  uint64_t at = zeroed(tile, tileBytes);
  uint32_t to = (uint32_t)__cvta_generic_to_shared(tile) + tileBytes + threadIdx.x * 16;
  const char *p = from + (long long)blockIdx.x * 65536 % 4194304 + threadIdx.x / 8 * pitch + threadIdx.x % 8 * 16;
  __syncthreads();
  long long begin = clock64();
  int slot = 0;
  for (int turn = 0; turn < turns; turn++) {
    if (COPIES) asm volatile("cp.async.wait_group %0;" ::"n"(DEPTH) : "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < MMAS; k++) Mma<N>::shared(d[N <= 128 ? k * 2 / MMAS : 0], at + 2048 + 2 * (k & 3), at + 2 * (k & 3));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();
    if (gap) {
      int t = now();
      while (now() - t < gap) {
      }
    }
    if (COPIES) {
#pragma unroll
      for (int k = 0; k < COPIES; k++) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + slot * COPIES * 4096 + k * 4096), "l"(p + k * 32 * pitch), "r"(threadIdx.x + k < rows ? 16 : 0) : "memory");
      asm volatile("cp.async.commit_group;" ::: "memory");
      slot = slot == DEPTH ? 0 : slot + 1;
      p += 128;
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  for (auto &row : d)
    for (float x : row) sink[threadIdx.x] += x;
}

Buffer<char> *from;

template <int N, int MMAS, int COPIES, int DEPTH> void one(int warpgroups, int ctas, int gap) {
  Buffer<int> v(ctas);
  Buffer<float> sink(256);
  int bytes = tileBytes + COPIES * 4096 * (DEPTH + 1);
  auto k = ring<N, MMAS, COPIES, DEPTH>;
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (int i = 0; i < 3; i++) k<<<ctas, 128 * warpgroups, bytes>>>(v.p, sink.p, from->p, 16384, gap, 1 << 20);
  CHECK(cudaGetLastError());
  auto c = v.get(ctas);
  std::vector<double> x(c.begin(), c.end());
  emit("ring.turn", Params()("columns", N)("mmas", double(MMAS))("warpgroups", warpgroups)("ctas", ctas)("copies", double(COPIES))("depth", double(DEPTH))("gap", gap), median(x) / turns, "cycles");
}

int main() {
  Buffer<char> all(size_t(64) << 20);
  CHECK(cudaMemset(all.p, 0, size_t(64) << 20));
  from = &all;
  for (int gap = 0; gap <= 1200; gap += 100) one<128, 8, 0, 0>(2, 1, gap);
  for (int gap = 0; gap <= 1200; gap += 100) one<128, 8, 0, 0>(1, 1, gap);
  for (int gap = 0; gap <= 1200; gap += 100) one<256, 4, 0, 0>(2, 1, gap);
  for (int gap = 0; gap <= 1200; gap += 100) one<64, 8, 0, 0>(2, 1, gap);
  for (int gap = 0; gap <= 800; gap += 100) one<128, 4, 0, 0>(2, 1, gap);
  for (int gap = 0; gap <= 800; gap += 100) one<128, 2, 0, 0>(2, 1, gap);
  for (int ctas : {1, 132}) {
    one<128, 8, 12, 2>(2, ctas, 0);
    one<128, 8, 12, 1>(2, ctas, 0);
    one<128, 8, 6, 2>(2, ctas, 0);
    one<128, 4, 8, 2>(2, ctas, 0);
    one<256, 4, 12, 2>(2, ctas, 0);
    one<64, 8, 10, 2>(2, ctas, 0);
    one<64, 8, 10, 1>(2, ctas, 0);
    one<64, 8, 10, 0>(2, ctas, 0);
    one<128, 2, 12, 2>(2, ctas, 0);
    one<128, 8, 12, 2>(1, ctas, 0);
  }
}
