// tiles.cu - what all SMs get from L2 together of the tiles that a product's CTAs copy, without the product: by tile, by the order of
// the tiles, by how many CTAs an SM has. sm_90a.
#include "warpgroup.cuh"

const int M = 4096, N = 4096, K = 2048; // of halves

struct Tile {
  int m, n, k, depth, group; // rows, columns, depth of a tile, stages, tiles of a column that follow each other
};

DEVICE void place(const Tile &t, int &m, int &n) {
  int tiles_m = M / t.m, tiles_n = N / t.n, per = t.group * tiles_n, id = blockIdx.x;
  int first = id / per * t.group, size = min(tiles_m - first, t.group);
  m = first + id % per % size, n = id % per / size;
}

// One thread copies; B is N by K (kMajor) or K by N.
__global__ void bulk(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Tile t, int kMajor, unsigned *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ __align__(8) unsigned long long bars[16];
  if (threadIdx.x) return;
  for (int i = 0; i < t.depth; i++) barrierInit(sharedAddress(bars + i), 1);
  barrierInitDone();
  int m, n, wide = min(t.k, 64), step = (t.m + t.n) * t.k * 2;
  place(t, m, n);
  uint32_t base = sharedAddress(tile), at = 0, parity = 0;
#pragma unroll 1
  for (int i = 0; i < K / t.k + t.depth; i++) {
    uint32_t bar = sharedAddress(bars + at), to = base + at * step;
    if (i >= t.depth) barrierWait(bar, parity ^ 1);
    if (i < K / t.k) {
      barrierExpect(bar, step);
      for (int k = 0; k < t.k; k += wide, to += t.m * wide * 2) tileLoad(to, &a, i * t.k + k, m * t.m, bar);
      if (kMajor)
        for (int k = 0; k < t.k; k += wide, to += t.n * wide * 2) tileLoad(to, &b, i * t.k + k, n * t.n, bar);
      else
        for (int x = 0; x < t.n; x += min(t.n, 64), to += min(t.n, 64) * t.k * 2) tileLoad(to, &b, n * t.n + x, i * t.k, bar);
    }
    if (++at == t.depth) at = 0, parity ^= 1;
  }
  sink[blockIdx.x] = tile[at];
}

int main() {
  Device dev;
  Buffer<char> a(size_t(M) * K * 2), b(size_t(N) * K * 2);
  Buffer<unsigned> sink(1 << 16);
  CHECK(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 220000));
  const int shapes[][2] = {{64, 32}, {64, 64}, {128, 32}, {128, 64}, {64, 128}, {256, 32}, {128, 128}, {256, 64}, {64, 256}, {256, 128}, {128, 256}};
  for (auto &s : shapes)
    for (int k : {32, 64, 128})
      for (int group : {1, 8})
        for (int ctas : {1, 2, 4}) {
          Tile t{s[0], s[1], k, 0, group};
          int step = (t.m + t.n) * k * 2, shared = 216000 / ctas;
          t.depth = std::min(shared / step, 6);
          if (t.depth < 2) continue;
          int grid = M / t.m * (N / t.n);
          double bytes = double(grid) * (t.m + t.n) * K * 2;
          for (bool k_major : {true, false}) {
            Params p = Params()("m", t.m)("n", t.n)("k", k)("group", group)("ctas", ctas)("depth", t.depth)("by", "bulk")("b", k_major ? "n by k" : "k by n");
            int wide = std::min(k, 64), wide_n = std::min(t.n, 64);
            auto swizzle = [](int w) { return w == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B; };
            CUtensorMap ma = tensorMap(a.p, K, M, wide, t.m, swizzle(wide));
            CUtensorMap mb = k_major ? tensorMap(b.p, K, N, wide, t.n, swizzle(wide)) : tensorMap(b.p, N, K, wide_n, k, swizzle(wide_n));
            double us = microseconds([&] { bulk<<<grid, 32, shared>>>(ma, mb, t, k_major, sink.p); }, 3, 3);
            emit("tiles.copied", p, bytes / us / 1e3 / dev.sms(), "bytes/ns/SM");
          }
        }
}
