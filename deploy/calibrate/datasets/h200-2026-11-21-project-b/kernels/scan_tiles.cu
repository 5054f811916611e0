// Running sums of tiles of BLOCK*ITEMS numbers: by shuffles within warps, or up and down a tree in shared memory.
#define T (BLOCK * ITEMS)
extern "C" __global__ void scan_tiles(const int* __restrict__ in, int* __restrict__ out, int* __restrict__ totals) {
  size_t base = (size_t)blockIdx.x * T;
  int v[ITEMS];
#if VEC
#pragma unroll
  for (int k = 0; k < ITEMS / 4; ++k) {
    int4 q = ((const int4*)(in + base))[threadIdx.x * (ITEMS / 4) + k];
    v[4 * k] = q.x; v[4 * k + 1] = q.y; v[4 * k + 2] = q.z; v[4 * k + 3] = q.w;
  }
#else
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) v[k] = in[base + threadIdx.x * ITEMS + k];
#endif
#pragma unroll
  for (int k = 1; k < ITEMS; ++k) v[k] += v[k - 1];
  int before;
#if TREE
  __shared__ int s[BLOCK];
  s[threadIdx.x] = v[ITEMS - 1];
  for (int d = 1; d < BLOCK; d <<= 1) {
    __syncthreads();
    int i = (threadIdx.x + 1) * 2 * d - 1;
    if (i < BLOCK) s[i] += s[i - d];
  }
  __syncthreads();
  if (threadIdx.x == 0) { totals[blockIdx.x] = s[BLOCK - 1]; s[BLOCK - 1] = 0; }
  for (int d = BLOCK / 2; d; d >>= 1) {
    __syncthreads();
    int i = (threadIdx.x + 1) * 2 * d - 1;
    if (i < BLOCK) { int l = s[i - d]; s[i - d] = s[i]; s[i] += l; }
  }
  __syncthreads();
  before = s[threadIdx.x];
#else
  __shared__ int s[BLOCK / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = v[ITEMS - 1];
  for (int d = 1; d < 32; d <<= 1) {
    int o = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += o;
  }
  if (lane == 31) s[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int w = lane < BLOCK / 32 ? s[lane] : 0;
    for (int d = 1; d < BLOCK / 32; d <<= 1) {
      int o = __shfl_up_sync(0xffffffffu, w, d);
      if (lane >= d) w += o;
    }
    if (lane < BLOCK / 32) s[lane] = w;
  }
  __syncthreads();
  before = sum - v[ITEMS - 1] + (warp ? s[warp - 1] : 0);
  if (threadIdx.x == BLOCK - 1) totals[blockIdx.x] = s[BLOCK / 32 - 1];
#endif
#if VEC
#pragma unroll
  for (int k = 0; k < ITEMS / 4; ++k)
    ((int4*)(out + base))[threadIdx.x * (ITEMS / 4) + k] = make_int4(before + v[4 * k], before + v[4 * k + 1], before + v[4 * k + 2], before + v[4 * k + 3]);
#else
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) out[base + threadIdx.x * ITEMS + k] = before + v[k];
#endif
}
