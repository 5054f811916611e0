// Counts keys into BINS bins that lie spread over the shared memory of the CL blocks of a cluster.
// Macros: CL, BINS, THREADS, UNROLL loads of 4 keys in flight a thread
#include "hop.cuh"
constexpr int MINE = BINS / CL;

extern "C" __global__ void __launch_bounds__(THREADS)
#if CL > 1
__cluster_dims__(CL, 1, 1)
#endif
cluster_hist(const int4* __restrict__ keys, int* __restrict__ counts, int quads) {
  extern __shared__ int bins[];
  const int rank = CL > 1 ? (int)cluster_rank() : 0;
  for (int i = threadIdx.x; i < MINE; i += THREADS) bins[i] = 0;
  if (CL > 1) cluster_sync_all(); else __syncthreads();
  const uint32_t base = sm(bins);
  auto add = [&](int key) {
#if CL > 1
    asm volatile("{\n.reg .b32 r;\nmapa.shared::cluster.u32 r, %0, %1;\nred.relaxed.cluster.shared::cluster.add.u32 [r], 1;\n}" ::"r"(base + (key / CL) * 4), "r"(key % CL) : "memory");
#else
    atomicAdd(&bins[key], 1);
#endif
  };
  const int stride = gridDim.x * THREADS;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads; i += stride * UNROLL) {
    int4 k[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) k[u] = i + u * stride < quads ? __ldg(keys + i + u * stride) : make_int4(-1, -1, -1, -1);
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (k[u].x >= 0) { add(k[u].x); add(k[u].y); add(k[u].z); add(k[u].w); }
  }
  if (CL > 1) cluster_sync_all(); else __syncthreads();
  for (int i = threadIdx.x; i < MINE; i += THREADS)
    if (bins[i]) atomicAdd(counts + i * CL + rank, bins[i]);
}
