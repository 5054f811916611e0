// Product of two sparse matrices, Gustavson's way: LANES lanes gather a row of the result in a hash table of SIZE places in shared memory, linear probing by compare and swap, then write what is there densely to the row's slots. A lane takes an entry of A's row with the eight of B's row, or the products are dealt out one by one (SPREAD); keys may be read before they are swapped (PEEK); places in the result by ballots or by a counter (COUNTER).
#define GROUPS (BLOCK / LANES)
#define SLOTS 128
#define EACH 8
__device__ __forceinline__ void insert(volatile int* keys, float* sums, int key, float v) {
  unsigned h = (unsigned)key * 2654435761u >> 16 & (SIZE - 1);
  for (;;) {
#if PEEK
    int old = keys[h];
    if (old == -1) old = atomicCAS((int*)keys + h, -1, key);
#else
    int old = atomicCAS((int*)keys + h, -1, key);
#endif
    if (old == -1 || old == key) break;
    h = (h + 1) & (SIZE - 1);
  }
  atomicAdd(sums + h, v);
}
extern "C" __global__ void __launch_bounds__(BLOCK) spgemm_hash(const int* __restrict__ start, const int* __restrict__ acol, const float* __restrict__ aval, const int* __restrict__ bcol, const float* __restrict__ bval, int* __restrict__ count, int* __restrict__ ccol, float* __restrict__ cval) {
  extern __shared__ int raw[];
  int g = threadIdx.x / LANES, lane = threadIdx.x % LANES, row = blockIdx.x * GROUPS + g;
  int* keys = raw + g * SIZE;
  float* sums = (float*)(raw + GROUPS * SIZE) + g * SIZE;
#pragma unroll 4
  for (int s = lane; s < SIZE; s += LANES) keys[s] = -1, sums[s] = 0.0f;
#if COUNTER
  __shared__ int used[GROUPS];
  if (lane == 0) used[g] = 0;
#endif
  __syncwarp();
  int begin = start[row], end = start[row + 1];
#if SPREAD
#pragma unroll 1
  for (int k = begin * EACH + lane; k < end * EACH; k += LANES) {
    int a = k / EACH, b = acol[a] * EACH + k % EACH;
    insert(keys, sums, bcol[b], aval[a] * bval[b]);
  }
#else
#pragma unroll 1
  for (int a = begin + lane; a < end; a += LANES) {
    int b = acol[a] * EACH;
    float v = aval[a];
#pragma unroll 1
    for (int e = 0; e < EACH; e += 4) {
      int4 c = *(const int4*)(bcol + b + e);
      float4 q = *(const float4*)(bval + b + e);
      insert(keys, sums, c.x, v * q.x);
      insert(keys, sums, c.y, v * q.y);
      insert(keys, sums, c.z, v * q.z);
      insert(keys, sums, c.w, v * q.w);
    }
  }
#endif
  __syncwarp();
  int* to = ccol + (size_t)row * SLOTS;
  float* tv = cval + (size_t)row * SLOTS;
#if COUNTER
#pragma unroll 1
  for (int s = lane; s < SIZE; s += LANES)
    if (keys[s] >= 0) {
      int at = atomicAdd(used + g, 1);
      to[at] = keys[s], tv[at] = sums[s];
    }
  __syncwarp();
  if (lane == 0) count[row] = used[g];
#else
  int filled = 0, shift = threadIdx.x % 32 - lane;
#pragma unroll 1
  for (int s = lane; s < SIZE; s += LANES) {
    int key = keys[s];
    unsigned m = __ballot_sync(0xffffffffu, key >= 0) >> shift & (0xffffffffu >> (32 - LANES));
    if (key >= 0) {
      int at = filled + __popc(m & ((1u << lane) - 1u));
      to[at] = key, tv[at] = sums[s];
    }
    filled += __popc(m);
  }
  if (lane == 0) count[row] = filled;
#endif
}
