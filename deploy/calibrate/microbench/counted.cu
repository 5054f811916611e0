// counted.cu - what hardware counters count, for ncu (see run.sh): sectors that cross
// between the halves of L2 and sectors found there, when CTAs near and far from each
// other read the same lines; what DRAM takes of a launch that a profiler replays;
// turns that stores to shared memory wait for data arriving from L2. A line a launch.
#include "harness.cuh"

static const size_t MiB = 1 << 20;

static void launched(const char *name, const Params &p) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  emit(name, p, 1, "launch");
}

// shared CTAs, distance apart in launch order, read the same 32 lines: all of each,
// or (SECTORS 1) the sector that is theirs
template <int SECTORS> __global__ void __launch_bounds__(256) together(const float *in, float *sink, int shared, int distance) {
  int c = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int region = c / (distance * shared) * distance + c % distance, part = c / distance % shared;
  float s = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    size_t line = (size_t(region) * 4 + i) * 8 + warp;
    s += in[line * 32 + (SECTORS == 4 ? lane : part * 8 + lane % 8)];
  }
  if (s == 123.f) sink[0] = s;
}

template <int SECTORS> void share(const float *in, float *sink, int shared, int distance) {
  const int regions = 16384; // 64 MiB
  together<SECTORS><<<regions * shared, 256>>>(in, sink, shared, distance);
  launched("counted.together", Params()("sectors", SECTORS)("shared", shared)("distance", distance));
}

// reads READS words for each that it writes, and writes what is there already: that
// the profiler does not restore
template <int READS> __global__ void __launch_bounds__(256) same(const float *in, float *out, size_t n) {
  size_t i = blockIdx.x * size_t(256) + threadIdx.x;
  float s = 0;
#pragma unroll
  for (int k = 0; k < READS; k++) s += in[i + k * n];
  out[i] = s;
}

template <int READS> void unchanged(const float *in, float *out) {
  const size_t n = 4 * MiB;
  same<READS><<<unsigned(n / 256), 256>>>(in, out, n);
  launched("counted.same", Params()("read", double(READS * n * 4))("written", double(n * 4)));
}

// reads 256 MiB and writes a word a CTA
__global__ void __launch_bounds__(256) once(const float *in, float *out, int each) {
  float s = 0;
  for (int k = 0; k < each; k++) s += in[(blockIdx.x * size_t(each) + k) * 256 + threadIdx.x];
  s = __syncthreads_or(s != 0);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

// STORES to shared memory between one load and the next
template <int STORES> __global__ void __launch_bounds__(256) turns(const float *in, float *sink, size_t stride) {
  __shared__ float t[256];
  unsigned a = unsigned(__cvta_generic_to_shared(t + threadIdx.x));
  size_t i = blockIdx.x * size_t(256) + threadIdx.x;
  float s = 0;
  for (int k = 0; k < 16; k++) {
    s += in[i + k * stride];
#pragma unroll
    for (int l = 0; l < STORES; l++) asm volatile("st.shared.f32 [%0], %1;" ::"r"(a), "f"(s) : "memory");
  }
  if (s == 123.f) sink[0] = s;
}

template <int STORES> void collide(const Device &dev, const float *in, float *sink) {
  unsigned ctas = dev.sms() * 24;
  turns<STORES><<<ctas, 256>>>(in, sink, size_t(ctas) * 256);
  launched("counted.turns", Params()("stores", STORES)("lines", ctas * 8. * 16));
}

int main() {
  Device dev;
  Buffer<float> in(66 * MiB), out(4 * MiB);
  for (int shared : {1, 2, 3, 4, 8})
    for (int distance : {1, 2, 8, 64, 128, 1024, 16384})
      if (shared > 1 || distance == 1) share<4>(in.p, out.p, shared, distance);
  for (int shared : {2, 4})
    for (int distance : {1, 64, 1024, 16384}) share<1>(in.p, out.p, shared, distance);
  unchanged<2>(in.p, out.p);
  unchanged<4>(in.p, out.p);
  unchanged<8>(in.p, out.p);
  unchanged<16>(in.p, out.p);
  for (int each : {2, 16, 64}) {
    once<<<unsigned(64 * MiB / 256 / each), 256>>>(in.p, out.p, each);
    launched("counted.once", Params()("written", 64. * MiB / 64 / each));
  }
  collide<1>(dev, in.p, out.p);
  collide<4>(dev, in.p, out.p);
  collide<16>(dev, in.p, out.p);
}
