// walks.cu - reads of DRAM by CTAs that walk along rows: each copies part bytes of each of its rows to shared memory, then
// the next part, stages - 1 parts ahead. Other data is written to L2 before each launch. Prints JSON lines as the other
// programs do; a median of five launches.
//
//   nvcc -O3 -arch=native -o walks walks.cu && ./walks
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int threads = 128, sharedBytes = 227 << 10;
constexpr size_t bytes = 1ull << 30, flushed = 256 << 20;
static uint4 *data;
static unsigned *sink;
extern __shared__ uint4 tile[];

__device__ __forceinline__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

template <int ROWS, int PART, int STAGES> __global__ void __launch_bounds__(threads) walk(const uint4 *p, unsigned pitch, unsigned steps, unsigned *sink) {
  constexpr int words = PART / 16, down = threads / words;
  const uint4 *from = p + size_t(blockIdx.x) * ROWS * pitch + size_t(threadIdx.x / words) * pitch + threadIdx.x % words;
  auto copy = [&](unsigned k) {
    for (int r = 0; r < ROWS / down; r++) copy16(&tile[k % STAGES * ROWS * words + r * threads + threadIdx.x], from + size_t(r) * down * pitch + size_t(k) * words);
  };
  unsigned x = 0;
  for (int k = 0; k < STAGES - 1; k++) {
    copy(k);
    asm volatile("cp.async.commit_group;");
  }
  for (unsigned k = 0; k < steps; k++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    x ^= tile[k % STAGES * ROWS * words + threadIdx.x].x;
    if (k + STAGES - 1 < steps) copy(k + STAGES - 1);
    asm volatile("cp.async.commit_group;");
  }
  if (x == 0x12345678) sink[0] = x;
}

template <int ROWS, int PART, int STAGES> void one(unsigned pitch, int grid, int perSM) {
  int need = ROWS * PART * STAGES, shared = std::max(need, sharedBytes / perSM - 2048); // so many CTAs an SM, and no more
  size_t span = size_t(grid) * ROWS * pitch;
  if (shared > sharedBytes || sharedBytes / (need + 1024) < perSM || span > bytes) return;
  cudaFuncSetAttribute(walk<ROWS, PART, STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  std::vector<float> took;
  for (int i = 0; i < 6; i++) {
    cudaMemsetAsync((char *)data + bytes, 0, flushed);
    cudaEventRecord(a);
    walk<ROWS, PART, STAGES><<<grid, threads, shared>>>(data + i % (bytes / span) * span / 16, pitch / 16, pitch / PART, sink);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    if (i) took.push_back(ms);
  }
  std::sort(took.begin(), took.end());
  if (cudaError_t e = cudaGetLastError()) fprintf(stderr, "walks: %s\n", cudaGetErrorString(e));
  printf("{\"name\": \"walks.rate\", \"params\": {\"rows\": %d, \"part\": %d, \"stages\": %d, \"pitch\": %u, \"grid\": %d, \"per_sm\": %d}, \"value\": %.0f, \"unit\": \"GB/s\"}\n", ROWS, PART, STAGES, pitch, grid, perSM, span / took[2] * 1e-6);
}

template <int ROWS, int PART> void stages(unsigned pitch, int grid, int perSM) {
  one<ROWS, PART, 2>(pitch, grid, perSM);
  one<ROWS, PART, 3>(pitch, grid, perSM);
  one<ROWS, PART, 5>(pitch, grid, perSM);
}

int main() {
  cudaMalloc(&data, bytes + flushed);
  cudaMalloc(&sink, 4);
  cudaMemset(data, 1, bytes);
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  printf("{\"name\": \"device.name\", \"params\": {\"gpu\": \"%s\"}, \"value\": 1, \"unit\": \"flag\"}\n", device.name);
  for (unsigned pitch : {3072u, 16384u})
    for (int perSM : {1, 2, 4})
      for (int waves : {1, 4}) {
        int grid = device.multiProcessorCount * perSM * waves;
        stages<256, 32>(pitch, grid, perSM), stages<256, 64>(pitch, grid, perSM), stages<256, 128>(pitch, grid, perSM);
        stages<128, 64>(pitch, grid, perSM), stages<128, 128>(pitch, grid, perSM), stages<128, 256>(pitch, grid, perSM);
        stages<64, 64>(pitch, grid, perSM), stages<64, 128>(pitch, grid, perSM), stages<64, 256>(pitch, grid, perSM);
      }
}
