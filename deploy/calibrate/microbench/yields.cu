// What it costs that lanes of a warp yield to each other: cycles of one warp for an iteration of a loop that lanes leave by what a load of
// shared memory says, volatile (ptxas marks it, see yields.py) or not: of all lanes at once (together), of lanes that leave in groups one
// after another and wait for the others (leaving), and of two halves that spin in two such loops, one in each, for an
// iteration of both (two_loops).
//   nvcc -O3 -arch=sm_90 -o yields yields.cu && ./yields
#include <cstdio>
#include <cuda_runtime.h>
template <bool STRONG> __device__ __forceinline__ int load(const int *p) {
  int v;
  unsigned a = (unsigned)__cvta_generic_to_shared(p);
  if (STRONG) asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  else asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}
// Each lane walks a list of its own, whose length is trips + apart * (lane % groups).
template <bool STRONG> __global__ void walk(int *out, long long *cycles, int trips, int apart, int groups) {
  extern __shared__ int next[];
  int lane = threadIdx.x % 32, length = trips + apart * (lane % groups), at = threadIdx.x;
  for (int i = 0; i < 64; ++i) next[i * blockDim.x + threadIdx.x] = (i + 1) % 64 * blockDim.x + threadIdx.x;
  __syncthreads();
  long long t = clock64();
  int n = 0;
  while ((at = load<STRONG>(next + at)) >= 0 && n < length) ++n;
  __syncwarp();
  cycles[threadIdx.x] = clock64() - t;
  out[threadIdx.x] = at + n;
}
template <bool STRONG> __global__ void both(int *out, long long *cycles, int trips, int apart, int) {
  extern __shared__ int next[];
  int lane = threadIdx.x % 32, first = lane % 2 ? trips : 10, second = lane % 2 ? 10 : trips, at = threadIdx.x;
  for (int i = 0; i < 64; ++i) next[i * blockDim.x + threadIdx.x] = (i + 1) % 64 * blockDim.x + threadIdx.x;
  __syncthreads();
  long long t = clock64();
  int n = 0, m = 0;
  while ((at = load<STRONG>(next + at)) >= 0 && n < first) ++n;
  out[threadIdx.x + 1024] = at;
  while ((at = load<STRONG>(next + at)) >= 0 && m < second) m += apart;
  __syncwarp();
  cycles[threadIdx.x] = clock64() - t;
  out[threadIdx.x] = at + n + m;
}
template <bool STRONG> static double measure(int threads, int trips, int apart, int groups, bool twice = false) {
  int *out;
  long long *cycles, host[1024];
  cudaMalloc(&out, 8192), cudaMalloc(&cycles, 8192);
  auto k = twice ? both<STRONG> : walk<STRONG>;
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 4 * 512);
  for (int i = 0; i < 3; ++i) k<<<1, threads, 64 * 4 * threads>>>(out, cycles, trips, apart, groups);
  cudaMemcpy(host, cycles, 8 * threads, cudaMemcpyDeviceToHost);
  if (cudaError_t e = cudaGetLastError()) printf("%s\n", cudaGetErrorString(e));
  cudaFree(out), cudaFree(cycles);
  return (double)host[0];
}
static void print(const char *name, int threads, int strong, int groups, double cycles) {
  printf("{\"name\": \"yields.%s\", \"params\": {\"threads\": %d, \"volatile\": %d", name, threads, strong);
  if (groups) printf(", \"groups\": %d", groups);
  printf("}, \"value\": %.2f, \"unit\": \"cycles\"}\n", cycles);
}
int main() {
  for (int threads : {32, 128, 512}) {
    for (int strong = 0; strong < 2; ++strong) {
      auto m = strong ? measure<true> : measure<false>;
      print("together", threads, strong, 0, (m(threads, 2000, 0, 1, false) - m(threads, 1000, 0, 1, false)) / 1000);
      for (int groups : {2, 4, 8, 16, 32}) // in all groups * apart iterations more
        print("leaving", threads, strong, groups, (m(threads, 1000, 40, groups, false) - m(threads, 1000, 20, groups, false)) / (20.0 * (groups - 1)));
      print("two_loops", threads, strong, 0, (m(threads, 2000, 1, 2, true) - m(threads, 1000, 1, 2, true)) / 1000);
    }
  }
}
