// tma.cu - copies by the bulk copy engine: latency and rate by size or box, swizzle, how many are in flight and from where (L2 or DRAM),
// multicast, stores, and how fast small ones are issued. sm_90a.
#include "warpgroup.cuh"

const int most = 16; // stages in flight

// slot is the shared memory of a copy: tiles begin at multiples of 128 bytes.
__host__ __device__ inline int slot(int bytes) { return bytes < 128 ? 128 : bytes; }

struct Job {
  int bytes;     // of a copy
  int box_x, box_y;
  int depth;     // copies in flight of a CTA
  int loops;     // copies of a CTA
  long long wrap; // a CTA begins again after so many bytes
};

enum Kind { BULK, TILE };

// One thread keeps DEPTH copies under way: it waits for the oldest, then asks for another in its place.
template <Kind KIND> __global__ void loads(const __grid_constant__ CUtensorMap map, const char *from, Job j, Span *span, unsigned *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ __align__(8) unsigned long long bars[most];
  if (threadIdx.x) return;
  for (int i = 0; i < j.depth; i++) barrierInit(sharedAddress(bars + i), 1);
  barrierInitDone();
  int copies = int(j.wrap / j.bytes), n = 0, row = blockIdx.x * copies * j.box_y, step = slot(j.bytes);
  uint32_t base = sharedAddress(tile), bar0 = sharedAddress(bars), at = 0, parity = 0;
  from += (long long)blockIdx.x * j.wrap;
  long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < j.loops + j.depth; i++) {
    uint32_t bar = bar0 + 8 * at;
    if (i >= j.depth) barrierWait(bar, parity ^ 1);
    if (i < j.loops) {
      barrierExpect(bar, j.bytes);
      if (KIND == BULK) bulkLoad(base + at * step, from + (long long)n * j.bytes, j.bytes, bar);
      else tileLoad(base + at * step, &map, 0, row + n * j.box_y, bar);
      if (++n == copies) n = 0;
    }
    if (++at == j.depth) at = 0, parity ^= 1;
  }
  long long end = clock64();
  sink[blockIdx.x] = tile[at];
  span[blockIdx.x] = Span{begin, end};
}

// The same in the other direction.
template <Kind KIND> __global__ void stores(const __grid_constant__ CUtensorMap map, char *to, Job j, Span *span) {
  extern __shared__ __align__(1024) unsigned char tile[];
  if (threadIdx.x) return;
  int copies = int(j.wrap / j.bytes), n = 0, row = blockIdx.x * copies * j.box_y, step = slot(j.bytes);
  uint32_t base = sharedAddress(tile);
  to += (long long)blockIdx.x * j.wrap;
  long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < j.loops; i++) { // depth is a power of two
    if (KIND == BULK) bulkStore(to + (long long)n * j.bytes, base + (i & j.depth - 1) * step, j.bytes);
    else tileStore(&map, base + (i & j.depth - 1) * step, 0, row + n * j.box_y);
    if (++n == copies) n = 0;
    bulkCommit();
    if (j.depth == 1) bulkWaitRead<0>();
    else if (j.depth == 2) bulkWaitRead<1>();
    else bulkWaitRead<3>();
  }
  long long read = clock64();
  bulkWait<0>();
  span[blockIdx.x] = Span{begin, j.loops == 1 ? clock64() : read};
}

// CTAs of a cluster each load a part of a box and give it to all: each receives the whole. Warp 0 asks; warp 1 waits for what
// arrives and tells all CTAs that its place is free.
__global__ void multicasts(const __grid_constant__ CUtensorMap map, Job j, int size, Span *span) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ __align__(8) unsigned long long bars[most], empties[most];
  uint32_t rank = clusterRank(), full = sharedAddress(bars), empty = sharedAddress(empties);
  if (threadIdx.x == 0) {
    for (int i = 0; i < j.depth; i++) barrierInit(full + 8 * i, 1), barrierInit(empty + 8 * i, size);
    barrierInitDone();
  }
  __syncthreads();
  clusterSync();
  int part = j.box_y, bytes = j.bytes / size; // rows and bytes that this CTA asks for
  int copies = int(j.wrap / j.bytes), n = 0, row = (blockIdx.x / size * copies * size + rank) * part;
  uint32_t base = sharedAddress(tile), at = 0, parity = 0;
  unsigned short all = (unsigned short)((1 << size) - 1);
  long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < j.loops; i++) {
    if (threadIdx.x == 0) {
      if (i >= j.depth) barrierWait(empty + 8 * at, parity ^ 1);
      barrierExpect(full + 8 * at, j.bytes);
      tileLoadMulticast(base + at * j.bytes + rank * bytes, &map, 0, row + n * size * part, full + 8 * at, all);
      if (++n == copies) n = 0;
    } else if (threadIdx.x >= 32) {
      barrierWait(full + 8 * at, parity);
      if (threadIdx.x - 32 < size) barrierArriveRemote(inCta(empty + 8 * at, threadIdx.x - 32));
    }
    if (++at == j.depth) at = 0, parity ^= 1;
  }
  if (threadIdx.x == 32) span[blockIdx.x] = Span{begin, clock64()};
  __syncthreads();
  clusterSync();
}

struct Bench {
  Device dev;
  Buffer<char> memory{size_t(3) << 30};
  Buffer<Span> span{1024};
  Buffer<unsigned> sink{1024};

  double perCta(int ctas) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum = 0;
    for (auto &s : span.get(ctas)) sum += double(s.stop - s.start);
    return sum / ctas;
  }

  CUtensorMap map(const Job &j, int swizzle) {
    uint64_t rows = memory.n / (j.box_x * 2);
    return tensorMap(memory.p, j.box_x, rows, j.box_x, j.box_y, swizzle);
  }

  void report(const char *name, Params p, const Job &j, int ctas, const char *from, bool latency) {
    double t = perCta(ctas);
    p("bytes", j.bytes)("depth", j.depth)("ctas", ctas)("from", from);
    if (latency) emit(name, p, t / j.loops, "cycles");
    else emit(name, p, double(j.bytes) * j.loops / t, "bytes/cycle/SM");
  }

  template <Kind KIND> void load(Job j, int swizzle, int ctas, bool dram) {
    j.wrap = dram ? (memory.n / ctas) / j.bytes * j.bytes : std::max(131072 / j.bytes, 1) * j.bytes;
    if (dram) j.wrap = std::min<long long>(j.wrap, (long long)j.bytes * j.loops);
    auto k = loads<KIND>;
    int shared = slot(j.bytes) * j.depth + 1024;
    CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CUtensorMap m = KIND == BULK ? CUtensorMap{} : map(j, swizzle);
    for (int i = 0; i < 2; i++) {
      if (dram) CHECK(cudaMemset(memory.p + memory.n / 2, i, size_t(256) << 20)); // leaves L2 without what is read
      k<<<ctas, 32, shared>>>(m, memory.p, j, span.p, sink.p);
    }
    Params p;
    if (KIND == TILE) p("box_x", j.box_x)("box_y", j.box_y)("swizzle", swizzle);
    report(KIND == BULK ? (j.depth == 1 ? "tma.bulk_latency" : "tma.bulk_rate") : (j.depth == 1 ? "tma.tile_latency" : "tma.tile_rate"), p, j, ctas, dram ? "DRAM" : "L2", j.depth == 1);
  }

  template <Kind KIND> void store(Job j, int ctas) {
    j.wrap = std::max(131072 / j.bytes, 1) * j.bytes;
    auto k = stores<KIND>;
    int shared = slot(j.bytes) * j.depth + 1024;
    CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CUtensorMap m = KIND == BULK ? CUtensorMap{} : map(j, j.box_x == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : 0);
    for (int i = 0; i < 2; i++) k<<<ctas, 32, shared>>>(m, memory.p, j, span.p);
    Params p;
    if (KIND == TILE) p("box_x", j.box_x)("box_y", j.box_y);
    report(KIND == BULK ? "tma.bulk_store" : "tma.tile_store", p, j, ctas, "shared", j.loops == 1);
  }

  void multicast(Job j, int size, int ctas) {
    j.wrap = std::max(131072 / j.bytes, 1) * j.bytes;
    int shared = slot(j.bytes) * j.depth + 1024;
    CHECK(cudaFuncSetAttribute(multicasts, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CHECK(cudaFuncSetAttribute(multicasts, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    j.box_y /= size;
    CUtensorMap m = map(j, j.box_x == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : 0);
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeClusterDimension, a.val.clusterDim.x = size, a.val.clusterDim.y = a.val.clusterDim.z = 1;
    ctas = ctas / size * size;
    c.gridDim = ctas, c.blockDim = 64, c.dynamicSmemBytes = shared, c.attrs = &a, c.numAttrs = 1;
    for (int i = 0; i < 2; i++) CHECK(cudaLaunchKernelEx(&c, multicasts, m, j, size, span.p));
    report("tma.multicast", Params()("cluster", size)("box_x", j.box_x)("box_y", j.box_y), j, ctas, "L2", j.depth == 1);
  }
};

int main() {
  Bench b;
  int all = b.dev.sms();
  for (bool dram : {false, true})
    for (int ctas : {1, all}) {
      for (int bytes : {16, 128, 1024, 4096, 16384, 32768})
        for (int depth : {1, 2, 4, 8, 16})
          if (bytes * depth <= 196608) b.load<BULK>({bytes, 0, 0, depth, 512}, 0, ctas, dram);
      for (int swizzle : {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B})
        for (int rows : {8, 32, 64, 128, 256})
          for (int depth : {1, 2, 4, 6})
            if (128 * rows * depth <= 196608) b.load<TILE>({128 * rows, 64, rows, depth, 512}, swizzle, ctas, dram);
      for (int rows : {64, 128}) b.load<TILE>({64 * rows, 32, rows, 4, 512}, CU_TENSOR_MAP_SWIZZLE_64B, ctas, dram), b.load<TILE>({32 * rows, 16, rows, 4, 512}, CU_TENSOR_MAP_SWIZZLE_32B, ctas, dram);
      for (int x : {8, 16, 32, 128, 256}) b.load<TILE>({2 * x * 64, x, 64, 4, 512}, CU_TENSOR_MAP_SWIZZLE_NONE, ctas, dram);
      for (int x : {8, 64}) b.load<TILE>({2 * x * 1, x, 1, 16, 2048}, CU_TENSOR_MAP_SWIZZLE_NONE, ctas, dram); // issue
    }
  for (int ctas : {1, all}) {
    for (int bytes : {128, 1024, 4096, 16384})
      for (int depth : {1, 2, 4}) b.store<BULK>({bytes, 0, 0, depth, 512}, ctas);
    for (int rows : {8, 64, 128})
      for (int depth : {1, 2, 4}) b.store<TILE>({128 * rows, 64, rows, depth, 512}, ctas);
    b.store<BULK>({16384, 0, 0, 1, 1}, ctas), b.store<TILE>({16384, 64, 128, 1, 1}, ctas), b.store<BULK>({128, 0, 0, 1, 1}, ctas);
    for (int size : {1, 2, 4, 8})
      for (int rows : {64, 128, 256})
        for (int depth : {1, 2, 4})
          if (ctas == all || size > 1) b.multicast({128 * rows, 64, rows, depth, 512}, size, std::max(ctas, size));
  }
}
