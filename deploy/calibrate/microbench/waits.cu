// waits.cu - how long a warp waits for lines that DRAM delivers: the distribution
// over requests, by the lines it asks for at a time, by the warps that do the same
// and by how many SMs they are on. Every line is read once, the warps side by side.
#include "harness.cuh"

const int BIN = 8, BINS = 1024; // cycles, and their number: the last holds the rest

template <class T> __device__ unsigned load(const T *p);
template <> __device__ unsigned load(const unsigned *p) {
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
template <> __device__ unsigned load(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v.x ^ v.y ^ v.z ^ v.w;
}

// each iteration issues LOADS loads and waits for all of them
template <class T, int LOADS> __global__ void waits(const T *p, int iterations, unsigned *bins, unsigned long long *total, unsigned *sink) {
  __shared__ unsigned count[BINS];
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) count[i] = 0;
  __syncthreads();
  size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x, step = size_t(gridDim.x) * blockDim.x;
  unsigned s = 0;
  long long sum = 0;
  for (int k = 0; k < iterations; k++) {
    unsigned v[LOADS];
    long long begin = clock64();
#pragma unroll
    for (int j = 0; j < LOADS; j++) v[j] = load(p + at + j * step);
#pragma unroll
    for (int j = 0; j < LOADS; j++) s ^= v[j];
    asm volatile("" ::"r"(s) : "memory");
    if (s == 0x12345678) sink[1] = s; // waits for all of them
    long long took = clock64() - begin;
    at += LOADS * step;
    if (k < 4) continue; // until the warps are apart
    sum += took;
    if (threadIdx.x % 32 == 0) atomicAdd(&count[min(int(took / BIN), BINS - 1)], 1u);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)sum);
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&bins[i], count[i]);
}

template <class T, int LOADS> static void measure(void *p, size_t bytes, int sms, int warps) {
  size_t once = size_t(sms) * warps * 32 * LOADS * sizeof(T);
  const int runs = 4; // each reads lines of its own
  int iterations = int(std::min<size_t>(bytes / once / runs, 1000)), run = 0;
  Buffer<unsigned> bins(BINS), sink(2);
  Buffer<unsigned long long> total(1);
  double us = microseconds([&] {
    CHECK(cudaMemsetAsync(bins.p, 0, BINS * 4));
    CHECK(cudaMemsetAsync(total.p, 0, 8));
    waits<T, LOADS><<<sms, warps * 32>>>((const T *)((char *)p + run++ * once * iterations), iterations, bins.p, total.p, sink.p);
  }, 1, runs - 1);
  auto params = [&] { return Params()("bytes", double(sizeof(T)))("loads", LOADS)("warps", warps)("sms", sms); };
  double n = double(sms) * warps * (iterations - 4);
  emit("waits.mean", params(), total.get(1)[0] / n, "cycles");
  emit("waits.rate", params(), double(once) * iterations / us * 1e-3, "GB/s");
  auto v = bins.get(BINS);
  double seen = 0;
  std::vector<int> wanted = {1, 10, 25, 50, 75, 90, 99};
  size_t next = 0;
  for (int i = 0; i < BINS && next < wanted.size(); i++) {
    seen += v[i];
    while (next < wanted.size() && seen >= n * wanted[next] / 100) emit("waits.percentile", params()("percentile", wanted[next++]), (i + .5) * BIN, "cycles");
  }
}

int main() {
  Device dev;
  const size_t bytes = size_t(8) << 30; // far more than L2, and every line once
  Buffer<uint4> buffer(bytes / 16);
  for (int sms : {1, dev.sms()})
    for (int warps : {1, 4, 8, 16, 32}) {
      if (sms == 1 && warps > 8) continue;
      measure<unsigned, 1>(buffer.p, bytes, sms, warps);
      measure<unsigned, 2>(buffer.p, bytes, sms, warps);
      measure<unsigned, 4>(buffer.p, bytes, sms, warps);
      measure<uint4, 1>(buffer.p, bytes, sms, warps);
      measure<uint4, 4>(buffer.p, bytes, sms, warps);
    }
}
