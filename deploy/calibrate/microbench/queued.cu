// queued.cu - how many warpgroup MMAs wait at a tensor core: cycles until a warp has issued so many in a row, and until they
// are done, by columns and by warpgroups of the SM; and cycles of one that is waited for before the next, without a loop around
// it, by where A is. Prints JSON lines as the other programs do. sm_90a.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o queued queued.cu && ./queued
#include "harness.cuh"
#include "mma.cuh"

constexpr int tileBytes = 65536;

template <int N, int MMAS> __global__ void __launch_bounds__(256) issue(int *issued, int *done, float *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  float d[N / 2] = {};
  uint64_t at = zeroed(tile, tileBytes);
  for (int turn = 0; turn < 3; turn++) { // the last one counts
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    int begin = clock();
#pragma unroll
    for (int k = 0; k < MMAS; k++) Mma<N>::shared(d, at + 2048 + 2 * (k & 3), at + 2 * (k & 3));
    int last = clock();
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    int end = clock();
    if (threadIdx.x % 32 == 0) issued[threadIdx.x / 32] = last - begin, done[threadIdx.x / 32] = end - begin;
  }
  for (float x : d) sink[threadIdx.x] += x;
}

template <int N, bool REGISTERS> __global__ void __launch_bounds__(128) alone(int *cycles, float *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  float d[N / 2] = {};
  unsigned a[4] = {};
  uint64_t at = zeroed(tile, tileBytes);
  for (int turn = 0; turn < 3; turn++) { // the last one counts
    __syncthreads();
    int begin = clock();
#pragma unroll
    for (int k = 0; k < 32; k++) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      if (REGISTERS) Mma<N>::registers(d, a, at);
      else Mma<N>::shared(d, at + 2048, at);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    int end = clock();
    if (threadIdx.x == 0) cycles[0] = end - begin;
  }
  for (float x : d) sink[threadIdx.x] += x;
}

template <int N, int MMAS> void one(int warpgroups) {
  Buffer<int> issued(8), done(8);
  Buffer<float> sink(256);
  CHECK(cudaFuncSetAttribute(issue<N, MMAS>, cudaFuncAttributeMaxDynamicSharedMemorySize, tileBytes));
  issue<N, MMAS><<<1, 128 * warpgroups, tileBytes>>>(issued.p, done.p, sink.p);
  CHECK(cudaGetLastError());
  auto last = [&](Buffer<int> &b) { auto v = b.get(4 * warpgroups); return *std::max_element(v.begin(), v.end()); };
  Params p = Params()("columns", N)("mmas", double(MMAS))("warpgroups", warpgroups);
  emit("wgmma.issued", p, last(issued), "cycles");
  emit("wgmma.ended", p, last(done), "cycles");
}

template <int N, bool REGISTERS> void apart() {
  Buffer<int> v(1);
  Buffer<float> sink(128);
  CHECK(cudaFuncSetAttribute(alone<N, REGISTERS>, cudaFuncAttributeMaxDynamicSharedMemorySize, tileBytes));
  alone<N, REGISTERS><<<1, 128, tileBytes>>>(v.p, sink.p);
  CHECK(cudaGetLastError());
  emit("wgmma.alone", Params()("columns", N)("a", REGISTERS ? "registers" : "shared"), v.get(1)[0] / 32.0, "cycles");
}

template <int N> void all() {
  apart<N, false>(), apart<N, true>();
  for (int w : {1, 2}) one<N, 0>(w), one<N, 1>(w), one<N, 2>(w), one<N, 3>(w), one<N, 4>(w), one<N, 6>(w), one<N, 8>(w), one<N, 12>(w), one<N, 16>(w), one<N, 32>(w), one<N, 64>(w);
}

int main() { all<8>(), all<64>(), all<128>(), all<256>(); }
