// copied.cu - what all SMs get of the tiles that a product's CTAs copy by cp.async past L1, without the product (copied.tiles): by
// tile, by the bytes of a row, by how many CTAs an SM has. And what they get where all copy the same few rows, as where rows beyond
// the end of a matrix are taken to be its first (copied.same): by how many there are, and how often a warp copies each.
#include "harness.cuh"

const int M = 1024, N = 6144, K = 4096; // bytes

__device__ __forceinline__ void copy(unsigned to, const char *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// One part of a tile, ROWS by BYTES, by WARPS warps.
template <int ROWS, int BYTES, int WARPS> __device__ __forceinline__ void part(unsigned to, const char *from) {
  const int chunks = BYTES / 16, each = WARPS * 32 / chunks;
#pragma unroll
  for (int i = 0; i < ROWS / each; i++) copy(to + (threadIdx.x + i * WARPS * 32) * 16, from + i * each * K);
}

template <int ROWS, int COLUMNS, int BYTES, int WARPS, int STAGES> __global__ void tiles(const char *a, const char *b, int group, unsigned *sink) {
  extern __shared__ __align__(128) unsigned char kept[];
  const int step = (ROWS + COLUMNS) * BYTES, across = N / COLUMNS, chunks = BYTES / 16;
  unsigned base = unsigned(__cvta_generic_to_shared(kept)), sum = 0;
  int turn = blockIdx.x / (group * across), size = min(M / ROWS - turn * group, group);
  int m = turn * group + blockIdx.x % (group * across) % size, n = blockIdx.x % (group * across) / size;
  const char *mine_a = a + (m * ROWS + threadIdx.x / chunks) * K + threadIdx.x % chunks * 16;
  const char *mine_b = b + (n * COLUMNS + threadIdx.x / chunks) * K + threadIdx.x % chunks * 16;
#pragma unroll 1
  for (int i = 0, at = 0; i < K / BYTES + STAGES - 1; i++, at = at == STAGES - 1 ? 0 : at + 1) {
    if (i >= STAGES - 1) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
      __syncthreads();
      sum += kept[(at == STAGES - 1 ? 0 : at + 1) * step + threadIdx.x];
      __syncthreads();
    }
    if (i < K / BYTES) {
      part<ROWS, BYTES, WARPS>(base + at * step, mine_a + i * BYTES);
      part<COLUMNS, BYTES, WARPS>(base + at * step + ROWS * BYTES, mine_b + i * BYTES);
    }
    asm volatile("cp.async.commit_group;");
  }
  if (sum == 12345) *sink = sum;
}

template <int ROWS, int COLUMNS, int BYTES, int WARPS, int STAGES> void measure(const Device &dev, const char *a, const char *b, int ctas, unsigned *sink) {
  auto kernel = tiles<ROWS, COLUMNS, BYTES, WARPS, STAGES>;
  int shared = std::max((ROWS + COLUMNS) * BYTES * STAGES, 227 * 1024 / ctas - 1024), grid = M / ROWS * (N / COLUMNS), resident;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, WARPS * 32, shared));
  for (int group : {1, 4}) {
    double us = microseconds([&] { kernel<<<grid, WARPS * 32, shared>>>(a, b, group, sink); }, 3);
    Params p = Params()("rows", ROWS)("columns", COLUMNS)("bytes", BYTES)("warps", WARPS)("stages", STAGES)("ctas", resident)("group", group);
    emit("copied.tiles", p, double(grid) * (ROWS + COLUMNS) * K / us / 1e3 / dev.sms(), "bytes/ns/SM");
  }
}

// Each warp copies rows of BYTES, each `times` times, of `distinct` that all warps have in common.
template <int BYTES> __global__ void same(const char *in, int times, unsigned distinct, unsigned *sink) {
  extern __shared__ __align__(128) unsigned char kept[];
  const int chunks = BYTES / 16, rows = 32 / chunks;
  unsigned to = unsigned(__cvta_generic_to_shared(kept)) + threadIdx.x * 16, lane = threadIdx.x % 32;
  unsigned row = ((blockIdx.x * 8 + threadIdx.x / 32) * (rows / times) + lane / chunks / times) % distinct;
  const char *from = in + size_t(row) * K + lane % chunks * 16;
#pragma unroll 1
  for (int i = 0; i < K / BYTES; i++) {
    copy(to + i % 4 * 4096, from + i * BYTES);
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 3;");
  }
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  if (kept[threadIdx.x] == 77) *sink = 1;
}

template <int BYTES> void measureSame(const Device &dev, const char *in, unsigned *sink) {
  const int rows = 32 / (BYTES / 16), grid = dev.sms() * 16;
  for (int times = 1; times <= rows; times *= rows)
    for (unsigned distinct : {1u, 2u, 8u, 64u, 512u, unsigned(N)}) {
      double us = microseconds([&] { same<BYTES><<<grid, 256, 40000>>>(in, times, distinct, sink); });
      emit("copied.same", Params()("bytes", BYTES)("times", times)("distinct", distinct), double(grid) * 8 * rows * (K / BYTES) / us / 1e3, "rows/ns");
    }
}

int main() {
  Device dev;
  Buffer<char> a(size_t(M) * K), b(size_t(N) * K);
  Buffer<unsigned> sink(1);
  measure<128, 32, 32, 2, 5>(dev, a.p, b.p, 5, sink.p);
  measure<128, 32, 64, 4, 5>(dev, a.p, b.p, 4, sink.p);
  measure<128, 32, 128, 4, 4>(dev, a.p, b.p, 2, sink.p);
  measure<64, 32, 64, 2, 4>(dev, a.p, b.p, 9, sink.p);
  measure<32, 64, 32, 2, 2>(dev, a.p, b.p, 16, sink.p);
  measure<64, 64, 32, 4, 4>(dev, a.p, b.p, 8, sink.p);
  measure<64, 64, 64, 4, 4>(dev, a.p, b.p, 4, sink.p);
  measure<64, 128, 64, 8, 2>(dev, a.p, b.p, 4, sink.p);
  measure<128, 64, 128, 4, 4>(dev, a.p, b.p, 2, sink.p);
  measure<64, 128, 128, 4, 5>(dev, a.p, b.p, 1, sink.p);
  measure<128, 128, 128, 8, 4>(dev, a.p, b.p, 1, sink.p);
  measure<64, 256, 128, 8, 5>(dev, a.p, b.p, 1, sink.p);
  measureSame<32>(dev, b.p, sink.p);
  measureSame<64>(dev, b.p, sink.p);
  measureSame<128>(dev, b.p, sink.p);
}
