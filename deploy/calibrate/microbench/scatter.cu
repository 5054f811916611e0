// scatter.cu - reads at random addresses, by the bytes read of each place and the
// footprint: what L2 holds of it and what DRAM gives for the rest.
#include "harness.cuh"

static const size_t MiB = 1 << 20;

__device__ __forceinline__ unsigned mix(unsigned x) { // finaliser of MurmurHash3
  x ^= x >> 16, x *= 0x85ebca6bu, x ^= x >> 13, x *= 0xc2b2ae35u;
  return x ^ x >> 16;
}

// groups of `lanes` threads read a random run of lanes words each, eight loads of a thread in flight
__global__ void randomRuns(const unsigned *p, unsigned runs, unsigned lanes, int loops, unsigned *sink) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, groups = gridDim.x * blockDim.x / lanes;
  unsigned group = thread / lanes, s = 0;
  for (int k = 0; k < loops; k++) {
    unsigned v[8];
#pragma unroll
    for (int j = 0; j < 8; j++) {
      size_t run = __umulhi(mix(group + (k * 8 + j) * groups), runs);
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[j]) : "l"(p + run * lanes + thread % lanes));
    }
#pragma unroll
    for (int j = 0; j < 8; j++) s ^= v[j];
  }
  if (s == 0x12345678) sink[0] = s;
}

int main() {
  Device dev;
  Buffer<unsigned> sink(16), a(2048 * MiB / 4);
  for (unsigned lanes : {1, 2, 4, 8, 16, 32}) // runs of 4 to 128 bytes
    for (double mib : {4., 16., 24., 32., 40., 48., 56., 64., 80., 96., 128., 192., 256., 512., 1024., 2048.}) {
      if (lanes > 1 && lanes < 16 && mib < 1024) continue;
      const int ctas = dev.sms() * 8, threads = 256, loops = 32;
      const unsigned runs = unsigned(mib * MiB / 4 / lanes);
      double us = microseconds([&] { randomRuns<<<ctas, threads>>>(a.p, runs, lanes, loops, sink.p); }, 1, 5);
      emit("scatter.random", Params()("run_bytes", lanes * 4)("bytes", mib * MiB), double(ctas) * threads / lanes * loops * 8 / us * 1e-3, "G runs/s");
    }
}
