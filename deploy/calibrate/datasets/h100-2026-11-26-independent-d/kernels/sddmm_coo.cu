// Sampled dense-dense product: for each nonzero (row, col) of a sparse matrix in coordinate order, out = value * <A[row], B[col]> with K = 128 floats. LANES lanes share a nonzero and add up by shuffles, each with vectors of VEC; a group of lanes does PER nonzeros: strided over the CTA's (ORDER 0), consecutive ones (1), or consecutive ones with the row of A kept in registers while it stays the same (2).
#define K 128
#define GROUPS (BLOCK / LANES)
#define CHUNKS (K / (LANES * VEC))
#if VEC == 4
typedef float4 vec;
__device__ __forceinline__ float fold(vec a, vec b, float s) { return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, s)))); }
#elif VEC == 2
typedef float2 vec;
__device__ __forceinline__ float fold(vec a, vec b, float s) { return fmaf(a.y, b.y, fmaf(a.x, b.x, s)); }
#else
typedef float vec;
__device__ __forceinline__ float fold(vec a, vec b, float s) { return fmaf(a, b, s); }
#endif
extern "C" __global__ void __launch_bounds__(BLOCK) sddmm_coo(const int* __restrict__ row, const int* __restrict__ col, const float* __restrict__ value, const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ out) {
  int lane = threadIdx.x % LANES, group = threadIdx.x / LANES, base = blockIdx.x * (GROUPS * PER);
#if ORDER == 0
#define AT(p) (base + (p) * GROUPS + group)
#else
#define AT(p) (base + group * PER + (p))
#endif
  int r[PER], c[PER];
  float sum[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) r[p] = row[AT(p)], c[p] = col[AT(p)];
#if ORDER == 2
  vec a[CHUNKS];
  int have = -1;
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    const vec* bp = (const vec*)(B + (size_t)c[p] * K) + lane;
    const vec* ap = (const vec*)(A + (size_t)r[p] * K) + lane;
    sum[p] = 0.0f;
#if ORDER == 2
    if (r[p] != have) {
#pragma unroll
      for (int k = 0; k < CHUNKS; ++k) a[k] = __ldg(ap + k * LANES);
      have = r[p];
    }
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) sum[p] = fold(a[k], __ldg(bp + k * LANES), sum[p]);
#else
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) sum[p] = fold(__ldg(ap + k * LANES), __ldg(bp + k * LANES), sum[p]);
#endif
  }
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2)
#pragma unroll
    for (int p = 0; p < PER; ++p) sum[p] += __shfl_xor_sync(0xffffffffu, sum[p], o);
#pragma unroll
  for (int p = 0; p < PER; ++p)
    if (lane == p % LANES) out[AT(p)] = value[AT(p)] * sum[p];
}
