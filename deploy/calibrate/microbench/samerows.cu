// samerows.cu - what L2 gives of rows that many SMs copy by cp.async past L1 at once: by how many SMs there are, how many rows and
// how far apart, and whether they walk (samerows.copies, cycles of an SM for each row); what the others get meanwhile (beside);
// loads past L1 of the same (loads). And what tiles of a product take whose rows beyond the end of a matrix are all taken to be its
// first, beside what they take where these rows are there (samerows.tiles).
#include "harness.cuh"

const int K = 4096; // bytes

enum Where { Same, PerSM, Own, Ninth };
const char *names[] = {"same", "sm", "own", "ninth"};

__device__ __forceinline__ void copy(unsigned to, const char *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// Each warp copies rows of BYTES: all the same of `distinct`, `apart` lines apart, each SM one of its own, each warp its own, or each
// ninth SM the same and the others their own. The next time `walk` bytes further.
template <int BYTES> __global__ void copies(const char *in, Where where, int distinct, int apart, int walk, int turns, long long *took, unsigned *sink) {
  extern __shared__ __align__(128) unsigned char kept[];
  const int chunks = BYTES / 16, rows = 32 / chunks;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, at = (blockIdx.x * (blockDim.x / 32) + warp) * rows + lane / chunks;
  unsigned to = unsigned(__cvta_generic_to_shared(kept)) + threadIdx.x * 16, row;
  if (where == Same || (where == Ninth && blockIdx.x % 9 == 0)) row = at % distinct * apart;
  else if (where == PerSM) row = blockIdx.x * 32;
  else row = 64 * 32 + at * 2;
  const char *from = in + size_t(row) * 128 + lane % chunks * 16;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0, off = 0; i < turns; i++, off = (off + walk) & (where >= Own ? 255 : K - 1)) {
    copy(to + i % 4 * (blockDim.x * 16), from + off);
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 3;");
  }
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
  if (kept[threadIdx.x] == 77) *sink = 1;
}

__global__ void loads(const char *in, Where where, int turns, long long *took, unsigned *sink) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned row = where == Same ? 0 : (blockIdx.x * (blockDim.x / 32) + warp) * 2, sum = 0;
  const char *from = in + size_t(row) * 128 + lane * 4;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < turns; i++) {
    unsigned v[4];
#pragma unroll
    for (int j = 0; j < 4; j++) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[j]) : "l"(from));
#pragma unroll
    for (int j = 0; j < 4; j++) sum += v[j];
  }
  if (sum == 12345) *sink = sum;
  __syncthreads();
  if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
}

static double mean(const std::vector<long long> &v, int by, bool rest) {
  double s = 0;
  int n = 0;
  for (int i = 0; i < int(v.size()); i++)
    if ((i % by == 0) != rest) s += v[i], n++;
  return s / n;
}

template <int BYTES> void copied(const char *in, Buffer<long long> &took, unsigned *sink, int sms, Where where, int distinct = 1, int apart = 1, int walk = 0) {
  const int warps = 16, rows = 32 / (BYTES / 16), turns = 400;
  CHECK(cudaFuncSetAttribute(copies<BYTES>, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024));
  for (int i = 0; i < 3; i++) copies<BYTES><<<sms, warps * 32, 160 * 1024>>>(in, where, distinct, apart, walk, turns, took.p, sink);
  CHECK(cudaDeviceSynchronize());
  auto v = took.get(sms);
  double per = double(turns) * warps * rows;
  Params p = Params()("bytes", BYTES)("sms", sms)("where", names[where])("distinct", distinct)("apart", apart)("walk", walk);
  emit("samerows.copies", p, mean(v, where == Ninth ? 9 : 1, false) / per, "cycles");
  if (where == Ninth) emit("samerows.beside", p, mean(v, 9, true) / per, "cycles");
}

// Tiles of ROWS of a and COLUMNS of b, BYTES of each row at a time. Rows from `there` on are taken to be the first.
template <int ROWS, int BYTES, int WARPS> __device__ __forceinline__ void part(unsigned to, const char *from, int first, int there) {
  const int chunks = BYTES / 16, each = WARPS * 32 / chunks;
#pragma unroll
  for (int i = 0; i < ROWS / each; i++) {
    int row = first + i * each + threadIdx.x / chunks;
    copy(to + (threadIdx.x + i * WARPS * 32) * 16, from + (row < there ? row : 0) * K);
  }
}

template <int ROWS, int COLUMNS, int BYTES, int WARPS, int STAGES> __global__ void tiles(const char *a, const char *b, int across, int there, unsigned *sink) {
  extern __shared__ __align__(128) unsigned char kept[];
  const int step = (ROWS + COLUMNS) * BYTES, chunks = BYTES / 16;
  unsigned base = unsigned(__cvta_generic_to_shared(kept)), sum = 0;
  int m = blockIdx.x / across * ROWS, n = blockIdx.x % across * COLUMNS;
  a += threadIdx.x % chunks * 16, b += threadIdx.x % chunks * 16;
#pragma unroll 1
  for (int i = 0, at = 0; i < K / BYTES + STAGES - 1; i++, at = at == STAGES - 1 ? 0 : at + 1) {
    if (i >= STAGES - 1) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
      __syncthreads();
      sum += kept[(at == STAGES - 1 ? 0 : at + 1) * step + threadIdx.x];
      __syncthreads();
    }
    if (i < K / BYTES) {
      part<ROWS, BYTES, WARPS>(base + at * step, a + i * BYTES, m, there);
      part<COLUMNS, BYTES, WARPS>(base + at * step + ROWS * BYTES, b + i * BYTES, n, 1 << 30);
    }
    asm volatile("cp.async.commit_group;");
  }
  if (sum == 12345) *sink = sum;
}

template <int ROWS, int COLUMNS, int BYTES, int WARPS, int STAGES> void product(const char *a, const char *b, int ctas, unsigned *sink) {
  const int m = 1027, n = 6144;
  auto kernel = tiles<ROWS, COLUMNS, BYTES, WARPS, STAGES>;
  int shared = std::max((ROWS + COLUMNS) * BYTES * STAGES, 227 * 1024 / ctas - 1024), down = (m + ROWS - 1) / ROWS, resident;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, WARPS * 32, shared));
  for (int there : {m, 1 << 30}) {
    double us = microseconds([&] { kernel<<<down * (n / COLUMNS), WARPS * 32, shared>>>(a, b, n / COLUMNS, there, sink); }, 3);
    emit("samerows.tiles", Params()("rows", ROWS)("columns", COLUMNS)("bytes", BYTES)("warps", WARPS)("stages", STAGES)("ctas", resident)("clamped", there == m), us, "us");
  }
}

int main() {
  Device dev;
  fprintf(stderr, "%s, %d MHz\n", dev.prop.name, [] { int k = 0; cudaDeviceGetAttribute(&k, cudaDevAttrClockRate, 0); return k / 1000; }());
  Buffer<char> a(size_t(1280) * K), b(size_t(6144) * K);
  Buffer<long long> took(256);
  Buffer<unsigned> sink(1);
  int all = dev.sms();
  for (int sms : {1, 2, 4, 8, 16, 33, 66, all})
    for (Where w : {Same, PerSM, Own}) copied<32>(b.p, took, sink.p, sms, w), copied<128>(b.p, took, sink.p, sms, w);
  for (Where w : {Same, PerSM})
    for (int walk : {32, 128}) copied<32>(b.p, took, sink.p, all, w, 1, 1, walk), copied<128>(b.p, took, sink.p, all, w, 1, 1, walk);
  for (int sms : {8, all})
    for (int distinct : {2, 4, 8, 16, 64})
      for (int apart : {1, 2, 32}) copied<32>(b.p, took, sink.p, sms, Same, distinct, apart);
  for (int walk : {0, 32}) copied<32>(b.p, took, sink.p, all, Ninth, 1, 1, walk);
  copied<128>(b.p, took, sink.p, all, Ninth);
  for (int sms : {1, all})
    for (Where w : {Same, Own}) {
      const int turns = 400, warps = 16;
      for (int i = 0; i < 3; i++) loads<<<sms, warps * 32>>>(b.p, w, turns, took.p, sink.p);
      CHECK(cudaDeviceSynchronize());
      emit("samerows.loads", Params()("sms", sms)("where", names[w]), mean(took.get(sms), 1, false) / (turns * warps * 4.0), "cycles");
    }
  product<128, 32, 32, 8, 5>(a.p, b.p, 5, sink.p);
  product<128, 32, 64, 4, 5>(a.p, b.p, 4, sink.p);
  product<128, 32, 128, 4, 4>(a.p, b.p, 2, sink.p);
  product<128, 64, 64, 4, 4>(a.p, b.p, 4, sink.p);
  product<128, 128, 64, 8, 4>(a.p, b.p, 2, sink.p);
  product<128, 128, 128, 8, 4>(a.p, b.p, 1, sink.p);
  product<64, 32, 64, 2, 4>(a.p, b.p, 9, sink.p);
  product<64, 64, 32, 4, 4>(a.p, b.p, 8, sink.p);
  product<64, 128, 64, 8, 2>(a.p, b.p, 4, sink.p);
  product<64, 128, 128, 4, 5>(a.p, b.p, 1, sink.p);
  product<32, 64, 32, 2, 2>(a.p, b.p, 16, sink.p);
  product<32, 128, 64, 2, 4>(a.p, b.p, 5, sink.p);
}
