// launch.cu - the SM clock, the gap between back-to-back launches, the rate at
// which CTAs start, how long a short CTA holds its slot, global atomics, and the
// instruction cache.
#include "harness.cuh"

__global__ void spin(long long ticks, unsigned long long *out) {
  unsigned long long n0, n1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(n0));
  long long c0 = clock64();
  while (clock64() - c0 < ticks) {}
  long long c1 = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(n1));
  out[0] = n1 - n0, out[1] = c1 - c0;
}

__global__ void hold(long long ticks) {
  long long c0 = clock64();
  while (clock64() - c0 < ticks) {}
}

__global__ void empty(int) {}
__global__ void storeOne(unsigned *p) { p[blockIdx.x * size_t(blockDim.x) + threadIdx.x] = 1; }
__global__ void loadStore(const unsigned *q, unsigned *p) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  p[i] = q[i] + 1;
}
// R values live across a barrier: about R + 8 registers a thread
template <int R> __global__ void fat(unsigned *p, int never) {
  unsigned v[R];
  if (never) {
#pragma unroll
    for (int i = 0; i < R; i++) v[i] = p[i * 32 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < R; i++) p[i * 64 + threadIdx.x] = v[i] ^ v[(i + 7) % R];
  }
}
template <bool RETURN> __global__ void atomics(unsigned *p, int spread, int loops, unsigned *sink) {
  size_t t = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  // spread: 0 one address, 1 one per warp, 2 one per lane (coalesced), 3 one line per lane
  size_t at = spread == 0 ? 0 : spread == 1 ? t / 32 * 32 % (1 << 20) : spread == 2 ? t % (1 << 20) : t * 32 % (1 << 22);
  unsigned x = 0;
  for (int i = 0; i < loops; i++) {
    unsigned v = 0;
    if (RETURN) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p + at), "r"(1) : "memory");
    else asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p + at), "r"(1) : "memory");
    x ^= v;
  }
  if (x == 0x12345678) sink[0] = x;
}
template <int N> __global__ void body(int loops, float u, float v, Span *out, float *sink) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  long long start = 0;
  for (int k = -1; k < loops; k++) {
    if (k == 0) start = clock64();
#pragma unroll
    for (int i = 0; i < N / 4; i++)
      asm volatile("fma.rn.f32 %0, %0, %4, %5; fma.rn.f32 %1, %1, %4, %5; fma.rn.f32 %2, %2, %4, %5; fma.rn.f32 %3, %3, %4, %5;"
                   : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "f"(u), "f"(v));
  }
  record(out, start, clock64());
  if (a + b + c + d == 0.123f) sink[0] = a;
}

// where a CTA runs: its SM, and the sub-partition of its first warp
struct Place { unsigned sm, sub; };
__global__ void place(Place *out, long long ticks) {
  unsigned sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  if (threadIdx.x == 0) out[blockIdx.x] = Place{sm, warp % 4};
  long long c0 = clock64();
  while (clock64() - c0 < ticks) {}
}

static void clockRate() {
  Buffer<unsigned long long> out(2);
  for (int i = 0; i < 3; i++) spin<<<1, 1>>>(20000000, out.p);
  CHECK(cudaDeviceSynchronize());
  auto v = out.get(2);
  emit("clock.sm", Params(), double(v[1]) / double(v[0]) * 1e3, "MHz");
}

// Of CTAs that start together, those that share an SM: how far apart they are in the
// grid, and by how many sub-partitions the first warp of one is after that of the last.
static void places(Device &dev) {
  for (int warps : {1, 2, 3, 4, 5, 6, 8, 12, 16}) {
    int each = std::min(64 / warps, 8), n = dev.sms() * each;
    Buffer<Place> out(n);
    for (int i = 0; i < 2; i++) place<<<n, warps * 32>>>(out.p, 200000);
    CHECK(cudaDeviceSynchronize());
    auto v = out.get(n);
    std::vector<double> apart;
    int turns[4] = {};
    std::vector<int> last(1024, -1);
    for (int i = 0; i < n; i++) {
      int &l = last[v[i].sm];
      if (l >= 0) apart.push_back(i - l), turns[(v[i].sub - v[l].sub) % 4]++;
      l = i;
    }
    for (int k = 0; k < 4; k++) emit("launch.turn", Params()("warps", warps)("by", k), double(turns[k]) / apart.size(), "share");
    std::sort(apart.begin(), apart.end());
    for (int p : {1, 25, 50, 75, 99}) emit("launch.apart", Params()("warps", warps)("percentile", p), apart[(apart.size() - 1) * p / 100], "CTAs");
  }
}

static void launches(Device &dev) {
  for (int ctas : {1, dev.sms(), dev.sms() * 8, dev.sms() * 32})
    for (int threads : {32, 256, 1024})
      emit("launch.empty", Params()("ctas", ctas)("threads", threads), microseconds([&] { empty<<<ctas, threads>>>(0); }, 2000, 3), "us");
  // Kernels long enough to hide the host: time a launch = gap + ticks on the SM.
  for (int ctas : {1, dev.sms(), dev.sms() * 2})
    for (int threads : {32, 256, 1024}) {
      double t1 = microseconds([&] { hold<<<ctas, threads>>>(20000); }, 200, 3), t2 = microseconds([&] { hold<<<ctas, threads>>>(40000); }, 200, 3);
      emit("launch.gap", Params()("ctas", ctas)("threads", threads), 2 * t1 - t2, "us");
    }
  for (int threads : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    const int n = 1 << 20;
    double us = microseconds([&] { empty<<<n, threads>>>(0); }, 1, 3);
    emit("launch.cta", Params()("kernel", "empty")("warps", threads / 32)("ctas", n), us * 1e3 / n, "ns/CTA");
  }
}

template <int R> void fatLaunches(unsigned *p) {
  cudaFuncAttributes at;
  CHECK(cudaFuncGetAttributes(&at, fat<R>));
  for (int threads : {32, 128, 256}) {
    double us = microseconds([&] { fat<R><<<1 << 18, threads>>>(p, 0); }, 1, 3);
    emit("launch.cta", Params()("kernel", "fat")("warps", threads / 32)("registers", at.numRegs)("ctas", 1 << 18), us * 1e3 / (1 << 18), "ns/CTA");
  }
}

static void turnaround(Device &dev, unsigned *p, unsigned *q) {
  auto limited = [&](auto kernel, const char *name, auto call) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dev.prop.sharedMemPerBlockOptin));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    for (int perSM : {1, 2, 4, 8, 16})
      for (int threads : {32, 128, 256, 1024}) {
        if (perSM * threads > 2048) continue;
        size_t shared = std::min(dev.prop.sharedMemPerMultiprocessor / perSM - 2048, dev.prop.sharedMemPerBlockOptin) / 256 * 256;
        int n = dev.sms() * perSM * 200;
        double us = microseconds([&] { call(n, threads, shared); }, 1, 3);
        emit("launch.turnaround", Params()("kernel", name)("ctas_per_sm", perSM)("warps", threads / 32), us * 1e3 / 200, "ns a CTA holds its slot");
      }
  };
  limited(empty, "empty", [&](int n, int t, size_t s) { empty<<<n, t, s>>>(0); });
  limited(storeOne, "store", [&](int n, int t, size_t s) { storeOne<<<n, t, s>>>(p); });
  limited(loadStore, "load_store", [&](int n, int t, size_t s) { loadStore<<<n, t, s>>>(q, p); });
}

static void globalAtomics(Device &dev, unsigned *p, unsigned *sink) {
  const char *where[] = {"one_address", "one_per_warp", "coalesced", "one_line_per_lane"};
  for (int spread = 0; spread < 4; spread++) {
    const int ctas = dev.sms() * 4, threads = 256, loops = spread == 0 ? 16 : 1024;
    double us = microseconds([&] { atomics<false><<<ctas, threads>>>(p, spread, loops, sink); }, 1, 3);
    emit("atomic.global", Params()("op", "red")("where", where[spread]), double(ctas) * threads * loops / us * 1e-3, "G lanes/s");
    us = microseconds([&] { atomics<true><<<ctas, threads>>>(p, spread, loops, sink); }, 1, 3);
    emit("atomic.global", Params()("op", "atom")("where", where[spread]), double(ctas) * threads * loops / us * 1e-3, "G lanes/s");
  }
}

template <int N> void icache(Buffer<Span> &span, float *sink) {
  for (int warps : {1, 4, 16}) {
    int loops = std::max(2, 65536 / N);
    for (int i = 0; i < 2; i++) body<N><<<1, warps * 32>>>(loops, 1.01f, 0.5f, span.p, sink);
    emit("icache.body", Params()("instructions", N)("bytes", N * 16)("warps", warps), cycles(span, warps) / (double(loops) * N), "cycles/instruction of a warp");
  }
}

int main() {
  Device dev;
  Buffer<unsigned> p(64 << 20), q(64 << 20);
  Buffer<float> f(16);
  Buffer<Span> span(64);
  emit("device.sms", Params(), dev.sms(), "count");
  emit("device.l2_size", Params(), dev.prop.l2CacheSize, "bytes");
  emit("device.shared_per_sm", Params(), double(dev.prop.sharedMemPerMultiprocessor), "bytes");
  emit("device.shared_per_cta_optin", Params(), double(dev.prop.sharedMemPerBlockOptin), "bytes");
  int kHz, bits; // double data rate
  CHECK(cudaDeviceGetAttribute(&kHz, cudaDevAttrMemoryClockRate, 0));
  CHECK(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
  emit("device.dram_bandwidth", Params(), kHz * 1e3 * 2 * bits / 8, "bytes/s");
  emit("device.cc", Params(), dev.prop.major * 10 + dev.prop.minor, "major*10+minor");
  clockRate();
  places(dev);
  launches(dev);
  fatLaunches<16>(p.p);
  fatLaunches<56>(p.p);
  fatLaunches<120>(p.p);
  turnaround(dev, p.p, q.p);
  globalAtomics(dev, p.p, q.p);
  icache<256>(span, f.p);
  icache<1024>(span, f.p);
  icache<2048>(span, f.p);
  icache<4096>(span, f.p);
  icache<8192>(span, f.p);
  icache<16384>(span, f.p);
  clockRate();
}
