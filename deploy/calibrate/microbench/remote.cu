// remote.cu - words in the shared memory of the other CTAs of a cluster, by how lanes address them: atomics without a result, atomics
// with one, stores, loads. sm_90a.
#include "warpgroup.cuh"

enum Op { RED, ATOM, STORE, LOAD };
enum Lanes { ROW, RANDOM, SAME };
const char *ops[] = {"red", "atom", "store", "load"}, *lanes[] = {"row", "random", "same"};

// Each lane updates a word of CTA rank+1 (all = 0) or of a CTA drawn among all of the cluster. Words are in a row, drawn among
// 2,048, or one for the warp.
template <Op OP, Lanes LANES> __global__ void words(int turns, int all, Span *span, unsigned *sink) {
  __shared__ __align__(128) unsigned tile[2048];
  uint32_t rank = clusterRank(), size, x = 0, seed = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345, sum = 0;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) tile[i] = 0;
  __syncthreads();
  clusterSync();
  uint32_t mine = sharedAddress(tile), next = (rank + 1) % size;
  long long begin = clock64();
#pragma unroll 4
  for (int i = 0; i < turns; i++) {
    seed = seed * 1664525u + 1013904223u;
    uint32_t word = LANES == ROW ? (threadIdx.x + i * 32) % 2048 : LANES == RANDOM ? seed >> 21 : (threadIdx.x / 32 + i) % 2048;
    uint32_t at = inCta(mine + word * 4, all ? (seed >> 10) % size : next);
    if (OP == RED) asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(at) : "memory");
    if (OP == ATOM) asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(x) : "r"(at) : "memory");
    if (OP == STORE) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(i) : "memory");
    if (OP == LOAD) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    sum += x;
  }
  clusterSync();
  long long end = clock64();
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  if (blockIdx.x == 0) record(span, begin, end);
}

template <Op OP, Lanes LANES> void rates(Device &dev, Buffer<Span> &span, Buffer<unsigned> &sink) {
  const int turns = 256;
  for (int size : {2, 4, 8})
    for (int all : {0, 1})
      for (int warps : {1, 8, 32}) {
        cudaLaunchConfig_t c = {};
        cudaLaunchAttribute a = {};
        a.id = cudaLaunchAttributeClusterDimension, a.val.clusterDim.x = size, a.val.clusterDim.y = a.val.clusterDim.z = 1;
        c.gridDim = 120, c.blockDim = warps * 32, c.attrs = &a, c.numAttrs = 1;
        for (int i = 0; i < 2; i++) CHECK(cudaLaunchKernelEx(&c, words<OP, LANES>, turns, all, span.p, sink.p));
        CHECK(cudaDeviceSynchronize());
        emit("remote.words", Params()("op", ops[OP])("lanes", lanes[LANES])("cluster", size)("all", all)("warps", warps), cycles(span, warps) / turns / warps, "cycles/instruction/SM");
      }
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<unsigned> sink(1 << 20);
  rates<RED, ROW>(dev, span, sink), rates<RED, RANDOM>(dev, span, sink), rates<RED, SAME>(dev, span, sink);
  rates<ATOM, ROW>(dev, span, sink), rates<ATOM, RANDOM>(dev, span, sink);
  rates<STORE, ROW>(dev, span, sink), rates<STORE, RANDOM>(dev, span, sink);
  rates<LOAD, ROW>(dev, span, sink), rates<LOAD, RANDOM>(dev, span, sink);
}
