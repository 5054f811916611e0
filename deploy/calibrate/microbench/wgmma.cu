// wgmma.cu - warpgroup MMA: time of one, rate by shape, type, source of A, swizzle and warpgroups, how many in flight it takes,
// beside loads from shared memory, and the SM clock under its load. sm_90a.
#include "warpgroup.cuh"

const int turns = 64; // commit groups a run

struct Where {
  int swizzle;    // 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
  int pitch;      // bytes from a row of 8 to the next 8 rows
  const char *name;
};

// Each warpgroup commits groups of BATCH instructions and waits until at most LAG groups are under way. Two accumulators where
// CHAINS is 2: instructions of a group take them in turns.
template <class W> constexpr int most() { return W::registers_of_d > 64 ? 2 : 4; } // warpgroups whose accumulators an SM holds

template <class W, bool REGISTERS, int BATCH, int LAG, int CHAINS> __global__ void __launch_bounds__(128 * most<W>(), 1) chain(Span *out, unsigned *sink, Where w, int loads) {
  extern __shared__ __align__(1024) unsigned char tile[];
  typename W::Acc d[CHAINS][W::registers_of_d];
  unsigned a[4] = {}, sum = 0;
  for (int c = 0; c < CHAINS; c++)
    for (int i = 0; i < W::registers_of_d; i++) d[c][i] = 0;
  for (int i = threadIdx.x; i < 65536 / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int group = threadIdx.x / 128;
  uint32_t base = sharedAddress(tile);
  uint64_t da = matrixDescriptor(base + 32768 + group * 8192, 16, w.pitch, w.swizzle), db = matrixDescriptor(base, 16, w.pitch, w.swizzle);
  __syncthreads();
  long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
    wgmmaFence();
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      if (REGISTERS) W::registers(d[k % CHAINS], a, db + 2 * (k & 3));
      else W::shared(d[k % CHAINS], da + 2 * (k & 3), db + 2 * (k & 3));
    }
    wgmmaCommit();
    for (int l = 0; l < loads; l++) {
      unsigned x, y, z, u;
      asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(u) : "r"(base + (threadIdx.x & 255) * 16));
      sum += x + y + z + u;
    }
    wgmmaWait<LAG>();
  }
  wgmmaWait<0>();
  long long end = clock64();
  for (int c = 0; c < CHAINS; c++)
    for (int i = 0; i < W::registers_of_d; i++) sum += (unsigned)d[c][i];
  sink[threadIdx.x] = sum;
  record(out, begin, end);
}

const Where wheres[] = {{1, 1024, "128B"}, {2, 512, "64B"}, {3, 256, "32B"}, {0, 128, "none"}};

template <class W, bool REGISTERS, int BATCH, int LAG, int CHAINS> void one(const char *name, int groups, const Where &w, int loads, Buffer<Span> &span, Buffer<unsigned> &sink) {
  auto k = chain<W, REGISTERS, BATCH, LAG, CHAINS>;
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  for (int i = 0; i < 2; i++) k<<<1, groups * 128, 65536>>>(span.p, sink.p, w, loads);
  CHECK(cudaDeviceSynchronize());
  double t = cycles(span, groups * 4);
  Params p = Params()("op", W::name())("a", REGISTERS ? "registers" : "shared")("swizzle", w.name)("warpgroups", groups)("batch", BATCH)("in_flight", LAG + 1)("accumulators", CHAINS);
  if (loads) p("loads", loads);
  emit(name, p, t / (double(turns) * BATCH * groups), "cycles/instruction/SM");
}

template <class W> void shape(Buffer<Span> &s, Buffer<unsigned> &k) {
  one<W, false, 1, 0, 1>("wgmma.single", 1, wheres[0], 0, s, k); // issued, committed and waited for, one by one
  one<W, true, 1, 0, 1>("wgmma.single", 1, wheres[0], 0, s, k);
  one<W, false, 4, 0, 1>("wgmma.rate", 1, wheres[0], 0, s, k);
  one<W, false, 4, 1, 1>("wgmma.rate", 1, wheres[0], 0, s, k);
  one<W, false, 16, 0, 1>("wgmma.rate", 1, wheres[0], 0, s, k);
  for (int g : {1, 2, 3, 4})
    if (g <= most<W>()) {
      one<W, false, 4, 0, 1>("wgmma.rate", g, wheres[0], 0, s, k);
      one<W, false, 8, 1, 1>("wgmma.rate", g, wheres[0], 0, s, k);
      one<W, true, 8, 1, 1>("wgmma.rate", g, wheres[0], 0, s, k);
    }
  for (int i = 1; i < 4; i++) one<W, false, 8, 1, 1>("wgmma.rate", 1, wheres[i], 0, s, k), one<W, true, 8, 1, 1>("wgmma.rate", 2, wheres[i], 0, s, k);
}

// What loads of 16 bytes a lane from shared memory cost beside it, and it them.
template <class W> void beside(Buffer<Span> &s, Buffer<unsigned> &k) {
  for (int loads : {0, 1, 2, 4, 8, 16}) one<W, false, 4, 1, 1>("wgmma.beside", 2, wheres[0], loads, s, k), one<W, true, 4, 1, 1>("wgmma.beside", 2, wheres[0], loads, s, k);
}

// All SMs multiply for so long; the SM clock is cycles over nanoseconds of its first and last tenth.
template <class W> __global__ void __launch_bounds__(256, 1) load(unsigned *sink, double *mhz, long long ns, int pattern) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ long long now; // one thread's: all warps of a warpgroup leave the loop together
  typename W::Acc d[W::registers_of_d];
  for (int i = 0; i < W::registers_of_d; i++) d[i] = 0;
  unsigned x = threadIdx.x * 2654435761u + blockIdx.x * 40503u + 1;
  for (int i = threadIdx.x; i < 65536 / 4; i += blockDim.x) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    ((unsigned *)tile)[i] = pattern == 0 ? 0 : pattern == 1 ? 0x3c003c00u : (x & 0x83ff83ffu) | 0x38003800u; // zeros, ones, halves of either sign in [0.5, 1)
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint64_t da = matrixDescriptor(sharedAddress(tile) + 32768 + threadIdx.x / 128 * 8192, 16, 1024, 1), db = matrixDescriptor(sharedAddress(tile), 16, 1024, 1);
  long long t0, t, c0 = clock64(), c1 = c0, t1, products = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  if (threadIdx.x == 0) now = t0;
  __syncthreads();
  t0 = now;
  t1 = t0;
  int part = 0;
  do {
    for (int r = 0; r < 64; r++) {
      wgmmaFence();
#pragma unroll
      for (int k = 0; k < 4; k++) W::shared(d, da + 2 * k, db + 2 * k);
      wgmmaCommit();
      wgmmaWait<0>();
    }
    products += 256;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    if (threadIdx.x == 0) now = t;
    __syncthreads();
    t = now;
    __syncthreads();
    if (part == 0 && t - t0 > ns / 10) {
      if (threadIdx.x == 0 && blockIdx.x == 0) mhz[0] = double(clock64() - c0) / (t - t0) * 1e3;
      part = 1;
    }
    if (part == 1 && t - t0 > ns * 9 / 10) c1 = clock64(), t1 = t, part = 2;
  } while (t - t0 < ns);
  if (threadIdx.x == 0 && blockIdx.x == 0) mhz[1] = double(clock64() - c1) / (t - t1) * 1e3, mhz[2] = double(products) / (t - t0);
  unsigned sum = 0;
  for (int i = 0; i < W::registers_of_d; i++) sum += (unsigned)d[i];
  sink[blockIdx.x * 256 + threadIdx.x] = sum;
}

template <class W> void clocks(const Device &dev) {
  Buffer<unsigned> sink(256 * 256);
  Buffer<double> mhz(3);
  CHECK(cudaFuncSetAttribute(load<W>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  const char *patterns[] = {"zeros", "ones", "random"};
  for (int sms : {dev.sms(), dev.sms() / 2})
    for (int pattern = 0; pattern < 3; pattern++)
      for (double ms : {0.1, 1.0, 10.0, 100.0, 1000.0}) {
        load<W><<<sms, 256, 65536>>>(sink.p, mhz.p, (long long)(ms * 1e6), pattern);
        CHECK(cudaDeviceSynchronize());
        auto v = mhz.get(3);
        if (!(v[1] > 0 && v[1] < 1e4)) v[1] = v[0]; // too short for two readings
        Params p = Params()("op", W::name())("data", patterns[pattern])("ms", ms)("sms", sms);
        emit("wgmma.clock_first", p, v[0], "MHz");
        emit("wgmma.clock_last", p, v[1], "MHz");
        CHECK(cudaDeviceSynchronize());
      }
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<unsigned> sink(1024);
  shape<F16N8>(span, sink), shape<F16N16>(span, sink), shape<F16N32>(span, sink), shape<F16N64>(span, sink), shape<F16N128>(span, sink), shape<F16N192>(span, sink), shape<F16N256>(span, sink);
  shape<BF16N64>(span, sink), shape<BF16N256>(span, sink), shape<HalfN64>(span, sink), shape<HalfN256>(span, sink);
  shape<E4M3N32>(span, sink), shape<E4M3N64>(span, sink), shape<E4M3N128>(span, sink), shape<E4M3N256>(span, sink);
  shape<TF32N64>(span, sink), shape<TF32N128>(span, sink), shape<TF32N256>(span, sink), shape<S8N256>(span, sink);
  beside<F16N64>(span, sink), beside<F16N128>(span, sink), beside<F16N256>(span, sink);
  clocks<F16N256>(dev), clocks<F16N64>(dev), clocks<E4M3N256>(dev);
}
