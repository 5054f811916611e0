// A sparse matrix as triples sorted by row times a vector, ITEMS entries a thread: neighbouring ones, whose runs of a row are added in registers (WAY 0), or a warp's width apart, added by segmented scans of shuffles (1) or each by an atomic (2).
#if LIMIT == 2
#define BOUNDS __launch_bounds__(BLOCK, 2048 / BLOCK)
#elif LIMIT == 1
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS
#endif
extern "C" __global__ void BOUNDS coo_segsum(const int* __restrict__ row, const int* __restrict__ column, const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y, int entries) {
#if WAY == 0
  int i0 = (blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
  if (i0 >= entries) return;
  int r[ITEMS], c[ITEMS];
  float v[ITEMS];
#if VEC
#pragma unroll
  for (int k = 0; k < ITEMS; k += 4) {
    int4 a = *(const int4*)(row + i0 + k), b = *(const int4*)(column + i0 + k);
    float4 q = *(const float4*)(value + i0 + k);
    r[k] = a.x, r[k + 1] = a.y, r[k + 2] = a.z, r[k + 3] = a.w;
    c[k] = b.x, c[k + 1] = b.y, c[k + 2] = b.z, c[k + 3] = b.w;
    v[k] = q.x, v[k + 1] = q.y, v[k + 2] = q.z, v[k + 3] = q.w;
  }
#else
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) r[k] = row[i0 + k], c[k] = column[i0 + k], v[k] = value[i0 + k];
#endif
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) v[k] *= x[c[k]];
  float s = v[0];
#pragma unroll
  for (int k = 1; k < ITEMS; ++k) {
    if (r[k] != r[k - 1]) {
      atomicAdd(y + r[k - 1], s);
      s = 0;
    }
    s += v[k];
  }
  atomicAdd(y + r[ITEMS - 1], s);
#else
  int lane = threadIdx.x % 32, i0 = (blockIdx.x * BLOCK + threadIdx.x - lane) * ITEMS + lane;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = i0 + k * 32, r = -1;
    float s = 0;
    if (i < entries) {
      r = row[i];
      s = value[i] * x[column[i]];
    }
#if WAY == 1
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      float o = __shfl_up_sync(0xffffffffu, s, d);
      int p = __shfl_up_sync(0xffffffffu, r, d);
      if (lane >= d && p == r) s += o;
    }
    int next = __shfl_down_sync(0xffffffffu, r, 1);
    if (r >= 0 && (lane == 31 || next != r)) atomicAdd(y + r, s);
#else
    if (r >= 0) atomicAdd(y + r, s);
#endif
  }
#endif
}
