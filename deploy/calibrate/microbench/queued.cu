// queued.cu - how many warpgroup MMAs wait at a tensor core: cycles until a warp has issued so many in a row, and until they
// are done, by columns and by warpgroups of the SM; and cycles of one that is waited for before the next, without a loop around
// it, by where A is. Prints JSON lines as the other programs do. sm_90a.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o queued queued.cu && ./queued
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define L4(a) "%" #a "0,%" #a "1,%" #a "2,%" #a "3"
#define L10(a) "%" #a "0,%" #a "1,%" #a "2,%" #a "3,%" #a "4,%" #a "5,%" #a "6,%" #a "7,%" #a "8,%" #a "9"
#define L32 L10() "," L10(1) "," L10(2) ",%30,%31"
#define L64 L32 ",%32,%33,%34,%35,%36,%37,%38,%39," L10(4) "," L10(5) ",%60,%61,%62,%63"
#define L128 L64 ",%64,%65,%66,%67,%68,%69," L10(7) "," L10(8) "," L10(9) "," L10(10) "," L10(11) ",%120,%121,%122,%123,%124,%125,%126,%127"
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D32(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12), D4(i + 16), D4(i + 20), D4(i + 24), D4(i + 28)
#define D64 D32(0), D32(32)
#define D128 D64, D32(64), D32(96)
#define MMA(N, LIST, OUT, A, B, R)                                                                                                      \
  template <> struct Mma<N> {                                                                                                      \
    static __device__ __forceinline__ void shared(float *d, uint64_t a, uint64_t b) {                                              \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" LIST "}, " A ", " B ", p, 1, 1, 0, 0;}" : OUT : "l"(a), "l"(b)); \
    }                                                                                                                              \
    static __device__ __forceinline__ void registers(float *d, const unsigned *a, uint64_t b) {                                    \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" LIST "}, " R ", p, 1, 1, 0;}" : OUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)); \
    }                                                                                                                              \
  }
template <int N> struct Mma;
MMA(8, L4(), D4(0), "%4", "%5", "{%4,%5,%6,%7}, %8");
MMA(64, L32, D32(0), "%32", "%33", "{%32,%33,%34,%35}, %36");
MMA(128, L64, D64, "%64", "%65", "{%64,%65,%66,%67}, %68");
MMA(256, L128, D128, "%128", "%129", "{%128,%129,%130,%131}, %132");

template <int N, int MMAS> __global__ void __launch_bounds__(256) issue(int *issued, int *done, float *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  float d[N / 2] = {};
  for (int i = threadIdx.x; i < 65536 / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  uint64_t at = ((uint32_t)__cvta_generic_to_shared(tile) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
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
  for (int i = threadIdx.x; i < 65536 / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  uint64_t at = ((uint32_t)__cvta_generic_to_shared(tile) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
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
  static int *v;
  static float *sink;
  if (!v) cudaMalloc(&v, 64 * 4), cudaMalloc(&sink, 4096);
  cudaFuncSetAttribute(issue<N, MMAS>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  issue<N, MMAS><<<1, 128 * warpgroups, 65536>>>(v, v + 32, sink);
  int h[64];
  if (cudaMemcpy(h, v, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) { fprintf(stderr, "queued: %s\n", cudaGetErrorString(cudaGetLastError())); exit(1); }
  for (int k = 0; k < 2; k++)
    printf("{\"name\": \"wgmma.%s\", \"params\": {\"columns\": %d, \"mmas\": %d, \"warpgroups\": %d}, \"value\": %d, \"unit\": \"cycles\"}\n", k ? "ended" : "issued", N, MMAS, warpgroups, *std::max_element(h + 32 * k, h + 32 * k + 4 * warpgroups));
}

template <int N, bool REGISTERS> void apart() {
  int *v, h;
  float *sink;
  cudaMalloc(&v, 4), cudaMalloc(&sink, 4096);
  cudaFuncSetAttribute(alone<N, REGISTERS>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  alone<N, REGISTERS><<<1, 128, 65536>>>(v, sink);
  if (cudaMemcpy(&h, v, 4, cudaMemcpyDeviceToHost) != cudaSuccess) { fprintf(stderr, "queued: %s\n", cudaGetErrorString(cudaGetLastError())); exit(1); }
  printf("{\"name\": \"wgmma.alone\", \"params\": {\"columns\": %d, \"a\": \"%s\"}, \"value\": %.1f, \"unit\": \"cycles\"}\n", N, REGISTERS ? "registers" : "shared", h / 32.0);
}

template <int N> void all() {
  apart<N, false>(), apart<N, true>();
  for (int w : {1, 2}) one<N, 0>(w), one<N, 1>(w), one<N, 2>(w), one<N, 3>(w), one<N, 4>(w), one<N, 6>(w), one<N, 8>(w), one<N, 12>(w), one<N, 16>(w), one<N, 32>(w), one<N, 64>(w);
}

int main() { all<8>(), all<64>(), all<128>(), all<256>(); }
