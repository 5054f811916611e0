// bandwidth.cu - bytes a second by footprint (L2 and DRAM), by read/write mix, by
// bytes in flight, by stored share of a sector, by access order, and of a few SMs.
#include "harness.cuh"

// every CTA reads the footprint from its own start, so all of it is read by all
__global__ void readShared(const uint4 *p, size_t n, int passes, unsigned *sink) {
  unsigned s = 0;
  size_t start = n / gridDim.x * blockIdx.x;
  for (int k = 0; k < passes; k++)
#pragma unroll 4
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
      size_t at = start + i;
      if (at >= n) at -= n;
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + at));
      s += v.x ^ v.y ^ v.z ^ v.w;
    }
  if (s == 0x12345678) sink[0] = s;
}

// the footprint is divided among the CTAs; R loads and W stores per element
template <int R, int W>
__global__ void stream(uint4 *a, size_t n, int passes, unsigned *sink, int chunked) {
  unsigned s = 0;
  size_t part = n / gridDim.x;
  size_t first = chunked ? blockIdx.x * part : blockIdx.x * size_t(blockDim.x);
  size_t step = chunked ? blockDim.x : size_t(gridDim.x) * blockDim.x, last = chunked ? first + part : n;
  for (int k = 0; k < passes; k++)
#pragma unroll 4
    for (size_t i = first + threadIdx.x; i < last; i += step) {
      uint4 v = make_uint4(unsigned(i), k, 2, 3);
#pragma unroll
      for (int r = 0; r < R; r++) {
        uint4 t;
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(t.x), "=r"(t.y), "=r"(t.z), "=r"(t.w) : "l"(a + r * n + i));
        v.x ^= t.x, v.y += t.y, v.z ^= t.z, v.w += t.w;
      }
#pragma unroll
      for (int w = 0; w < W; w++)
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(a + (R + w) * n + i), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
      if (W == 0) s += v.x ^ v.y ^ v.z ^ v.w;
    }
  if (s == 0x12345678) sink[0] = s;
}

// short CTAs as tuned kernels have them: LOADS independent loads of T a thread, then done
template <class T, int LOADS> __global__ void inFlight(const T *p, T *q, int store) {
  extern __shared__ unsigned limit[];
  size_t i = blockIdx.x * size_t(blockDim.x) * LOADS + threadIdx.x;
  T v[LOADS];
#pragma unroll
  for (int k = 0; k < LOADS; k++) v[k] = p[i + k * blockDim.x];
#pragma unroll
  for (int k = 0; k < LOADS; k++)
    if (store || *(const unsigned *)&v[k] == 0x12345678u) q[i + k * blockDim.x] = v[k];
}

// eight loads of a thread in flight at any time: what the port of an SM gives
__global__ void batched(const uint4 *p, size_t n, int passes, unsigned *sink) {
  unsigned s = 0;
  size_t step = size_t(gridDim.x) * blockDim.x;
  for (int k = 0; k < passes; k++)
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i + 7 * step < n; i += 8 * step) {
      uint4 v[8];
#pragma unroll
      for (int j = 0; j < 8; j++)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[j].x), "=r"(v[j].y), "=r"(v[j].z), "=r"(v[j].w) : "l"(p + i + j * step));
#pragma unroll
      for (int j = 0; j < 8; j++) s += v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
    }
  if (s == 0x12345678) sink[0] = s;
}

__global__ void storeStride(unsigned *p, size_t n, int stride, int words) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    for (int w = 0; w < words; w++) p[i * stride + w] = unsigned(i);
}

static Buffer<unsigned> *sink;
static const size_t MiB = 1 << 20;

static void readsByFootprint(Device &dev, uint4 *p) {
  for (double mib : {1., 2., 4., 8., 16., 20., 24., 28., 32., 40., 48., 56., 64., 80., 96., 128., 256.}) {
    size_t n = size_t(mib * MiB) / 16;
    int passes = std::max(1, int(64 / mib));
    double us = microseconds([&] { readShared<<<dev.sms(), 1024>>>(p, n, passes, sink->p); }, 1, 3);
    emit("bandwidth.read_shared", Params()("bytes", n * 16.), n * 16. * passes * dev.sms() / us * 1e-3, "GB/s");
    passes = std::max(2, int(1024 / mib));
    us = microseconds([&] { stream<1, 0><<<dev.sms() * 2, 1024>>>(p, n, passes, sink->p, 0); }, 1, 3);
    emit("bandwidth.read_divided", Params()("bytes", n * 16.), n * 16. * passes / us * 1e-3, "GB/s");
    us = microseconds([&] { stream<0, 1><<<dev.sms() * 2, 1024>>>(p, n, passes, sink->p, 0); }, 1, 3);
    emit("bandwidth.write_divided", Params()("bytes", n * 16.), n * 16. * passes / us * 1e-3, "GB/s");
    us = microseconds([&] { stream<1, 1><<<dev.sms() * 2, 1024>>>(p, n / 2, passes, sink->p, 0); }, 1, 3);
    emit("bandwidth.copy_divided", Params()("bytes", n * 16.), n * 16. * passes / us * 1e-3, "GB/s");
  }
}

template <int R, int W> void mix(Device &dev, uint4 *p, size_t bytes) {
  size_t n = bytes / 16 / (R + W);
  for (int chunked : {0, 1})
    for (int perSM : {1, 2, 4, 8}) {
      double us = microseconds([&] { stream<R, W><<<dev.sms() * perSM, 256>>>(p, n, 1, sink->p, chunked); }, 1, 3);
      emit("bandwidth.mix", Params()("reads", double(R))("writes", double(W))("order", chunked ? "chunked" : "interleaved")("ctas_per_sm", perSM)("threads", 256)("bytes", n * 16. * (R + W)),
           n * 16. * (R + W) / us * 1e-3, "GB/s");
    }
}

template <class T, int LOADS> void flight(Device &dev, void *p, void *q, size_t bytes) {
  auto kernel = inFlight<T, LOADS>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dev.prop.sharedMemPerBlockOptin));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  size_t n = bytes / sizeof(T);
  for (int store : {0, 1})
    for (int perSM : {1, 2, 4, 8}) {
      size_t shared = dev.prop.sharedMemPerMultiprocessor / perSM - 1024 - 1024;
      shared = std::min(shared, dev.prop.sharedMemPerBlockOptin) / 256 * 256;
      double us = microseconds([&] { kernel<<<unsigned(n / 256 / LOADS), 256, shared>>>((const T *)p, (T *)q, store); }, 1, 3);
      emit("bandwidth.in_flight", Params()("loads", LOADS)("width", sizeof(T))("store", store)("ctas_per_sm", perSM)("threads", 256), double(bytes) * (1 + store) / us * 1e-3, "GB/s");
    }
}

// Warps read so many sectors of lines drawn anywhere in 16 MiB, those of a mask, eight lanes each;
// CTAs draw others.
__global__ void sectors(const unsigned *p, unsigned mask, unsigned lines, int rounds, unsigned *sink) {
  unsigned lane = threadIdx.x % 32, x = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 2654435761u + 1, s = 0, each = __popc(mask);
  unsigned sector = lane / 8 % each, line = lane / 8 / each; // of the request's
  unsigned bit = __fns(mask, 0, sector + 1);
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    unsigned v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      x = x * 1664525u + 1013904223u;
      unsigned at = ((x >> 8 ^ x << 13) + line * 77777) & (lines - 1);
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(p + at * 32 + bit * 8 + lane % 8));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) s += v[k];
  }
  if (s == 0x12345678) sink[0] = s;
}

// What L2 delivers by which sectors of a line a request reads.
void bySectors(Device &dev, unsigned *p) {
  for (unsigned mask : {1, 2, 3, 5, 6, 9, 12, 15}) {
    const int ctas = dev.sms() * 8, rounds = 256;
    double us = microseconds([&] { sectors<<<ctas, 256>>>(p, mask, 16 * MiB / 128, rounds, sink->p); }, 1, 3);
    emit("bandwidth.sectors", Params()("mask", mask)("sectors", __builtin_popcount(mask)), double(ctas) * 8 * rounds * 4 * 4 / us * 1e-3, "G sectors/s");
  }
}

int main() {
  Device dev;
  const size_t total = 2048 * MiB;
  Buffer<unsigned> s(16);
  sink = &s;
  Buffer<uint4> a(total / 16), b(512 * MiB / 16);
  bySectors(dev, (unsigned *)a.p);
  readsByFootprint(dev, a.p);
  mix<1, 0>(dev, a.p, total);
  mix<0, 1>(dev, a.p, total);
  mix<1, 1>(dev, a.p, total);
  mix<2, 1>(dev, a.p, total);
  mix<3, 1>(dev, a.p, total);
  mix<1, 2>(dev, a.p, total);
  flight<unsigned, 1>(dev, a.p, b.p, 512 * MiB);
  flight<unsigned, 2>(dev, a.p, b.p, 512 * MiB);
  flight<unsigned, 4>(dev, a.p, b.p, 512 * MiB);
  flight<unsigned, 8>(dev, a.p, b.p, 512 * MiB);
  flight<uint4, 1>(dev, a.p, b.p, 512 * MiB);
  flight<uint4, 2>(dev, a.p, b.p, 512 * MiB);
  flight<uint4, 4>(dev, a.p, b.p, 512 * MiB);
  flight<uint4, 8>(dev, a.p, b.p, 512 * MiB);
  for (int stride : {1, 2, 4, 8, 16, 32}) // one word stored of every stride words
    for (size_t mib : {16, 1024}) {
      size_t n = mib * MiB / 4 / stride;
      double us = microseconds([&] { storeStride<<<dev.sms() * 8, 256>>>((unsigned *)a.p, n, stride, 1); }, 1, 3);
      emit("bandwidth.store_stride", Params()("stride", stride)("bytes", double(mib * MiB)), n * 4. * std::min(stride, 8) / us * 1e-3, "GB/s of sectors");
    }
  for (int sms = 1; sms < 2 * dev.sms(); sms *= 2) { // a few SMs: the port of one
    int ctas = std::min(sms, dev.sms());
    // whole rounds of eight loads for every thread, 8 to 17 MiB in all
    size_t n = size_t(ctas) * 1024 * 8 * std::max(1, 64 / ctas);
    double us = microseconds([&] { batched<<<ctas, 1024>>>(a.p, n, 16, sink->p); }, 1, 3);
    emit("bandwidth.l2_read_sms", Params()("sms", ctas)("bytes", n * 16.), n * 16. * 16 / us * 1e-3, "GB/s");
    us = microseconds([&] { stream<0, 1><<<ctas, 1024>>>(a.p, n, 16, sink->p, 0); }, 1, 3);
    emit("bandwidth.l2_write_sms", Params()("sms", ctas)("bytes", n * 16.), n * 16. * 16 / us * 1e-3, "GB/s");
    n = 1024 * MiB / 16;
    if (ctas < 16) n /= 8;
    us = microseconds([&] { batched<<<ctas, 1024>>>(a.p, n, 1, sink->p); }, 1, 3);
    emit("bandwidth.dram_read_sms", Params()("sms", ctas), n * 16. / us * 1e-3, "GB/s");
  }
}
