// One level of a Gaussian pyramid on images of uchar4: filtered by 1 4 6 4 1 both ways and halved, edges repeated. A thread makes PER outputs, one below the other. WAY 0 filters rows from memory as it goes down; 1 brings the tile to shared memory first; 2 also lays its even and odd columns apart; 3 filters rows on the way into shared memory and columns from there. Four channels as pairs of sixteen bits in two words or as floats (FLOATS); pixels are read singly or in pairs (WIDE).
#define TALL (BY * PER)
#define ROWS (2 * TALL + 3)
#define PAIRS (BX + 2)
#define THREADS (BX * BY)
#if FLOATS
typedef float4 wide;
__device__ __forceinline__ wide spread(unsigned p) { return make_float4((float)(p & 255u), (float)(p >> 8 & 255u), (float)(p >> 16 & 255u), (float)(p >> 24)); }
__device__ __forceinline__ wide five(wide a, wide b, wide c, wide d, wide e) {
  return make_float4(fmaf(6.0f, c.x, fmaf(4.0f, b.x + d.x, a.x + e.x)), fmaf(6.0f, c.y, fmaf(4.0f, b.y + d.y, a.y + e.y)), fmaf(6.0f, c.z, fmaf(4.0f, b.z + d.z, a.z + e.z)), fmaf(6.0f, c.w, fmaf(4.0f, b.w + d.w, a.w + e.w)));
}
__device__ __forceinline__ unsigned one(float f) { return (unsigned)fmaf(f, 0.00390625f, 0.5f); }
__device__ __forceinline__ unsigned shut(wide v) { return one(v.x) | one(v.y) << 8 | one(v.z) << 16 | one(v.w) << 24; }
#else
typedef uint2 wide;
__device__ __forceinline__ wide spread(unsigned p) { return make_uint2(p & 0xff00ffu, p >> 8 & 0xff00ffu); }
__device__ __forceinline__ wide five(wide a, wide b, wide c, wide d, wide e) { return make_uint2(a.x + e.x + 4 * (b.x + d.x) + 6 * c.x, a.y + e.y + 4 * (b.y + d.y) + 6 * c.y); }
__device__ __forceinline__ unsigned shut(wide v) { return (v.x + 0x800080u) >> 8 & 0xff00ffu | (v.y + 0x800080u) & 0xff00ff00u; }
#endif
// Pixels 2*q and 2*q+1 of a row, q from -1 to w/2.
__device__ __forceinline__ uint2 pair(const unsigned* row, int q, int w) {
#if WIDE
  int at = min(max(q, 0), w / 2 - 1);
  uint2 v = __ldg((const uint2*)row + at);
  if (q < 0) v.y = v.x;
  if (q > at) v.x = v.y;
  return v;
#else
  return make_uint2(__ldg(row + min(max(2 * q, 0), w - 1)), __ldg(row + min(max(2 * q + 1, 0), w - 1)));
#endif
}
__device__ __forceinline__ wide across(const unsigned* row, int q, int w) {
  uint2 l = pair(row, q - 1, w), m = pair(row, q, w);
#if WIDE
  uint2 r = pair(row, q + 1, w);
  return five(spread(l.x), spread(l.y), spread(m.x), spread(m.y), spread(r.x));
#else
  return five(spread(l.x), spread(l.y), spread(m.x), spread(m.y), spread(__ldg(row + min(2 * q + 2, w - 1))));
#endif
}
extern "C" __global__ void __launch_bounds__(THREADS) pyramid_down(const unsigned* __restrict__ image, unsigned* __restrict__ small, int w, int h) {
  int x = threadIdx.x, y = threadIdx.y * PER, ox = blockIdx.x * BX + x, oy = blockIdx.y * TALL + y, top = 2 * blockIdx.y * TALL - 2;
#if WAY == 0
#define ROW(d) across(image + (size_t)min(max(2 * oy - 2 + (d), 0), h - 1) * w, ox, w)
#elif WAY == 3
  __shared__ __align__(16) wide mid[ROWS][BX];
#pragma unroll 2
  for (int r = threadIdx.y; r < ROWS; r += BY) mid[r][x] = across(image + (size_t)min(max(top + r, 0), h - 1) * w, ox, w);
  __syncthreads();
#define ROW(d) mid[2 * y + (d)][x]
#else
  __shared__ __align__(8) unsigned tile[ROWS][2 * PAIRS];
#pragma unroll 2
  for (int k = threadIdx.y * BX + x; k < ROWS * PAIRS; k += THREADS) {
    int r = k / PAIRS, q = k % PAIRS;
    uint2 v = pair(image + (size_t)min(max(top + r, 0), h - 1) * w, blockIdx.x * BX + q - 1, w);
#if WAY == 2
    tile[r][q] = v.x, tile[r][PAIRS + q] = v.y;
#else
    *(uint2*)&tile[r][2 * q] = v;
#endif
  }
  __syncthreads();
#if WAY == 2
#define T(d, e) spread(tile[2 * y + (d)][(e) % 2 * PAIRS + x + (e) / 2])
#else
#define T(d, e) spread(tile[2 * y + (d)][2 * x + (e)])
#endif
#define ROW(d) five(T(d, 0), T(d, 1), T(d, 2), T(d, 3), T(d, 4))
#endif
  wide a = ROW(0), b = ROW(1), c = ROW(2);
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    wide d = ROW(2 * p + 3), e = ROW(2 * p + 4);
    small[(size_t)(oy + p) * (w / 2) + ox] = shut(five(a, b, c, d, e));
    a = c, b = d, c = e;
  }
}
