// merged.cu - reads of the same lines by several SMs at about the same time, for ncu (see
// run.sh): how many of them reach L2. A line a launch: the sectors that SMs ask for.
#include <cstdint>
#include "harness.cuh"

struct Way {
  int a, b;     // SMs that read the same lines; b < 0: all SMs read
  int sharers;  // of SMs that all read, so many read the same lines,
  int stride;   // as far apart
  int delay;    // cycles that every other of them starts later
  int loops;
};

__device__ unsigned arrived;

// Every SM has one CTA. They start together; those that have a part read lines of 2 MiB that stay in L2.
__global__ void __launch_bounds__(256) read(const float4 *in, Way w, float *sink) {
  extern __shared__ char most[];
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned *)&arrived < gridDim.x) {}
  }
  __syncthreads();
  int stream = 0, late = 0;
  if (w.b >= 0) {
    if (sm != w.a && sm != w.b) return;
    late = sm == w.b;
  } else {
    int block = sm / (w.sharers * w.stride), in_block = sm % (w.sharers * w.stride);
    stream = block * w.stride + in_block % w.stride;
    late = in_block / w.stride % 2;
  }
  long long start = clock64();
  while (late && clock64() - start < w.delay) {}
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float s = 0;
  for (int i = 0; i < w.loops; i++) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      unsigned at = (unsigned(i * 4 + k) * 8 + warp) % 256 + unsigned(stream) * 256;
      asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[k].x), "=f"(v[k].y), "=f"(v[k].z), "=f"(v[k].w) : "l"(in + size_t(at) * 32 + lane));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) s += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  if (s == 123.f) sink[0] = s;
}

struct Bench {
  Device dev;
  Buffer<float4> in{size_t(2) << 20};
  Buffer<float> sink{16};

  void one(Way w, int readers) {
    unsigned none = 0;
    CHECK(cudaMemcpyToSymbol(arrived, &none, sizeof none));
    CHECK(cudaFuncSetAttribute(read, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    CHECK(cudaEventRecord(a));
    read<<<dev.sms(), 256, 200 << 10>>>(in.p, w, sink.p);
    CHECK(cudaEventRecord(b));
    CHECK(cudaDeviceSynchronize());
    float ms;
    CHECK(cudaEventElapsedTime(&ms, a, b));
    emit("merged.read", Params()("a", w.a)("b", w.b)("sharers", w.sharers)("stride", w.stride)("delay", w.delay)("loops", w.loops)("us", ms * 1e3), double(readers) * w.loops * 4 * 8 * 16, "sectors");
  }
};

int main() {
  Bench b;
  int sms = b.dev.sms();
  for (int s = 1; s < sms; s++) b.one({0, s, 1, 1, 0, 32}, 2);
  for (int delay : {50, 100, 200, 400, 800, 1600, 3200}) b.one({0, 1, 1, 1, delay, 32}, 2);
  for (int sharers : {1, 2, 4, 8, 16, 32, sms / 2, sms})
    for (int stride : {1, 2, 4, 8, 16, 32, sms / 2})
      if (sharers * stride <= sms && (sharers > 1 || stride == 1))
        for (int delay : {0, 200, 800})
          for (int loops : {64, 1024}) b.one({0, -1, sharers, stride, delay, loops}, sms);
}
