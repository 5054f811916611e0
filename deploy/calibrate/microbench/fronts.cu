// fronts.cu - what DRAM gives to kernels that read and write at the same time, by how their CTAs go through the data:
// each once and in order, a few CTAs in a loop (in step, in any order, each its own part), by the bytes of a tile, by
// what is under way, and by the part of a row that a CTA takes; how far apart the CTAs' ends are, and what each SM gets.
// Clusters: a barrier by warps, beside stores, and between the loads and stores of a stream. Needs compute capability 9.0.
#include "harness.cuh"
#include <cooperative_groups.h>

static const size_t MiB = 1 << 20;
struct End { unsigned long long start, end; unsigned sm, tiles; };

__device__ inline unsigned long long now() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
__device__ inline unsigned smid() { unsigned s; asm volatile("mov.u32 %0, %smid;" : "=r"(s)); return s; }
__device__ inline uint4 load(const uint4 *p) { uint4 v; asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }

enum Order { SHORT, LOOP, DYNAMIC, SCATTERED, CHUNKED };
static const char *orders[] = {"short", "loop", "dynamic", "scattered", "chunked"};

// R streams are read and W written, a tile of blockDim.x * U 16-byte words at a time.
template <int R, int W, int U> __global__ void walk(uint4 *a, size_t n, int order, unsigned *next, End *ends, unsigned *sink) {
  __shared__ unsigned drawn;
  const unsigned words = blockDim.x * U, tiles = n / words, per = (tiles + gridDim.x - 1) / gridDim.x;
  End e{now(), 0, smid(), 0};
  unsigned s = 0;
  for (unsigned i = 0;; i++) {
    unsigned t = blockIdx.x + i * gridDim.x;
    if (order == DYNAMIC) {
      __syncthreads();
      if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
      __syncthreads();
      t = drawn;
    }
    if (order == CHUNKED) t = i < per ? blockIdx.x * per + i : tiles;
    if (t >= tiles) break;
    if (order == SCATTERED) t = (t * 40503u) & (tiles - 1); // tiles is a power of two
    e.tiles++;
    size_t at = size_t(t) * words + threadIdx.x;
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = make_uint4(t, 1, 2, 3);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int u = 0; u < U; u++) {
        uint4 x = load(a + r * n + at + u * blockDim.x);
        v[u].x ^= x.x, v[u].y ^= x.y, v[u].z ^= x.z, v[u].w ^= x.w;
      }
#pragma unroll
    for (int w = 0; w < W; w++)
#pragma unroll
      for (int u = 0; u < U; u++) a[(R + w) * n + at + u * blockDim.x] = v[u];
#pragma unroll
    for (int u = 0; u < U; u++) s += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
    if (order == SHORT) break;
  }
  if (s == 0x12345678) sink[0] = s;
  e.end = now();
  if (threadIdx.x == 0 && order != SHORT) ends[blockIdx.x] = e;
}

static uint4 *data;
static unsigned *sink, *next;
static Buffer<End> *ends;

template <int R, int W, int U> void stream(Device &dev, size_t bytes, int threads, int perSM, int order) {
  size_t n = 1;
  while (n * 2 * (R + W) * 16 <= bytes) n *= 2;
  unsigned tiles = n / (threads * U), grid = order == SHORT ? tiles : dev.sms() * perSM;
  auto k = walk<R, W, U>;
  int most;
  size_t limit = order == SHORT ? size_t(dev.prop.sharedMemPerMultiprocessor / perSM - 2048) / 256 * 256 : 0; // so many CTAs an SM
  limit = std::min(limit, dev.prop.sharedMemPerBlockOptin);
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dev.prop.sharedMemPerBlockOptin - 1024));
  if (limit > dev.prop.sharedMemPerBlockOptin - 1024) limit = dev.prop.sharedMemPerBlockOptin - 1024;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, k, threads, 0));
  if (most < perSM) return;
  const int launches = 10;
  int i = 0;
  std::vector<double> t;
  for (int rep = 0; rep < 4; rep++) {
    CHECK(cudaMemset(next, 0, 64 * sizeof(unsigned)));
    i = 0;
    t.push_back(microseconds([&] { k<<<grid, threads, limit>>>(data, n, order, next + i++, ends->p, sink); }, launches, 1));
  }
  double us = median(t), total = double(n) * 16 * (R + W);
  Params p = Params()("order", orders[order])("reads", double(R))("writes", double(W))("threads", threads)("tile", double(threads) * U * 16)("ctas_per_sm", perSM)("bytes", total);
  emit("fronts.stream", p, total / us * 1e-3, "GB/s");
  if (order == SHORT) return;
  auto v = ends->get(grid);
  unsigned long long first = ~0ull, last = 0;
  for (auto &x : v) first = std::min(first, x.start), last = std::max(last, x.end);
  std::vector<double> e;
  std::vector<double> sm(dev.sms(), 0);
  double mean = 0;
  for (auto &x : v) e.push_back(double(x.end - first)), mean += double(x.end - first) / v.size(), sm[x.sm % dev.sms()] += x.tiles;
  std::sort(e.begin(), e.end());
  emit("fronts.ends", p("mean", mean / (last - first))("p10", e[e.size() / 10] / (last - first))("first", e[0] / (last - first)), (last - first) * 1e-3, "us");
  if (order == DYNAMIC) {
    std::sort(sm.begin(), sm.end());
    double m = double(tiles) / dev.sms();
    emit("fronts.sms", p("least", sm[0] / m)("p10", sm[13] / m)("p50", sm[66] / m)("p90", sm[118] / m), sm[131] / m, "tiles of the mean");
  }
}

template <int R, int W> void streams(Device &dev) {
  for (size_t mib : {64, 512, 2048})
    for (int order : {SHORT, LOOP, DYNAMIC, SCATTERED, CHUNKED}) {
      if (mib != 512 && order != LOOP && order != SHORT) continue;
      for (int perSM : {1, 2, 4, 8}) {
        if (perSM >= 2 && mib == 512) stream<R, W, 1>(dev, mib * MiB, 256, perSM, order);
        stream<R, W, 4>(dev, mib * MiB, 256, perSM, order);
        if (perSM <= 2) stream<R, W, 1>(dev, mib * MiB, 1024, perSM, order);
        if (perSM <= 2 && mib == 512) stream<R, W, 8>(dev, mib * MiB, 512, perSM, order);
        if (mib == 512) stream<R, W, 8>(dev, mib * MiB, 128, perSM, order);
      }
    }
}

// A CTA takes part bytes of each of so many rows of pitch bytes; its neighbours take the same part of the next rows, or, where
// across, the next part of the same rows.
__global__ void parts(const uint4 *p, uint4 *q, unsigned pitch, unsigned words, unsigned rows, int across, int store, unsigned *sink) {
  unsigned x = across ? blockIdx.y : blockIdx.x, y = across ? blockIdx.x : blockIdx.y, s = 0;
  unsigned in = threadIdx.x % words, down = threadIdx.x / words, step = blockDim.x / words;
  for (unsigned r = down; r < rows; r += step) {
    size_t at = (size_t(x) * rows + r) * pitch + y * words + in;
    uint4 v = load(p + at);
    if (store) q[at] = v;
    s += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (s == 0x12345678) sink[0] = s;
}

static void rows(Device &dev) {
  for (int store : {1, 0})
    for (unsigned pitch : {2048, 6144, 8192})
      for (unsigned part : {128, 256, 512, 1024, 2048, 6144, 8192})
        for (int across : {0, 1})
          for (unsigned deep : {1, 4}) {
            unsigned words = part / 16;
            if (pitch % part || part > pitch || words > 1024) continue;
            unsigned threads = std::max(128u, words), rows = threads / words * deep, n = unsigned(256 * MiB / pitch / rows), parts_ = pitch / part;
            if (parts_ > 65535 || (!across && parts_ == 1)) continue;
            dim3 grid(across ? parts_ : n, across ? n : parts_);
            if (grid.y > 65535) continue;
            double us = microseconds([&] { parts<<<grid, threads>>>(data, data + 512 * MiB / 16, pitch / 16, words, rows, across, store, sink); }, 10, 3);
            emit("fronts.parts", Params()("store", store)("pitch", pitch)("part", part)("across", across)("rows", rows)("threads", threads), double(n) * rows * pitch * (1 + store) / us * 1e-3, "GB/s");
          }
}

// BARRIERS arrivals that release (or not) and waits of a cluster; with STREAM between a load and a store of 16 bytes a thread.
template <int RELEASE> __global__ void barriers(uint4 *p, size_t n, int count, int stream, long long *took) {
  size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  uint4 v = make_uint4(1, 2, 3, 4);
  if (stream) v = load(p + at);
  if (stream && v.x == 0x1234567) p[n] = v;
  long long t = clock64();
  for (int i = 0; i < count; i++) {
    if (stream == 2) p[n + at] = v;
    if (RELEASE) asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    else asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
  }
  t = clock64() - t;
  if (stream == 1) p[n + at] = v;
  if (threadIdx.x == 0) took[blockIdx.x] = t;
}

template <int RELEASE> void clusters(Device &dev) {
  Buffer<long long> took(1 << 20);
  for (int size : {1, 2, 4, 8})
    for (int threads : {32, 128, 256, 512, 1024})
      for (int perSM : {1, 2, 4, 16})
        for (int stream : {0, 1, 2})
          for (int count : {1, 2, 64}) {
            if (threads * perSM > 2048 || (stream && count == 64) || (!stream && count != 64) || (stream && threads * perSM < 2048) || (perSM == 16 && threads != 128)) continue;
            if (stream == 2 && count != 1) continue;
            size_t n = 256 * MiB / 16;
            unsigned grid = stream ? unsigned(n / threads) : 128 / size * size * perSM;
            cudaLaunchConfig_t c = {};
            cudaLaunchAttribute at[1];
            at[0].id = cudaLaunchAttributeClusterDimension, at[0].val.clusterDim.x = size, at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
            c.gridDim = grid, c.blockDim = threads, c.attrs = at, c.numAttrs = 1;
            auto go = [&] { CHECK(cudaLaunchKernelEx(&c, barriers<RELEASE>, data, n, count, stream, took.p)); };
            double us = microseconds(go, stream ? 5 : 2, 3);
            auto v = took.get(grid);
            double mean = 0;
            for (auto x : v) mean += double(x) / grid / count;
            Params p = Params()("release", double(RELEASE))("cluster", size)("threads", threads)("ctas_per_sm", perSM)("stream", stream)("barriers", count);
            emit("fronts.barrier", p, mean, "cycles");
            if (stream) emit("fronts.barrier_stream", p, us, "us");
          }
}

int main() {
  Device dev;
  Buffer<uint4> a(2560 * MiB / 16);
  Buffer<unsigned> s(16), c(64);
  Buffer<End> e(1 << 14);
  data = a.p, sink = s.p, next = c.p, ends = &e;
  rows(dev);
  clusters<1>(dev);
  clusters<0>(dev);
  streams<1, 1>(dev);
  streams<1, 0>(dev);
  streams<2, 1>(dev);
  streams<0, 1>(dev);
}
