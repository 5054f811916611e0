// Inclusive prefix sum of int32, a single pass with decoupled look-back. The last block to leave clears the tiles' states for the next launch.
// Macros: THREADS, ITEMS a thread, TRANS 1: coalesced loads turned over in shared memory (0: int4 loads of a thread's own items),
// WIDE 1: a warp looks back over 32 tiles at once (0: one thread, tile by tile), NAP nanoseconds between looks, STREAM 1: streaming loads and stores
#include <cstdint>
namespace {
constexpr int TILE = THREADS * ITEMS, WARPS = THREADS / 32;
typedef unsigned long long u64;
__device__ __forceinline__ u64 ld_state(const u64* p) { u64 v; asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ void st_state(u64* p, u64 v) { asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
__device__ __forceinline__ u64 state(int flag, int v) { return ((u64)flag << 32) | (uint32_t)v; }
__device__ __forceinline__ int load1(const int* p) { return STREAM ? __ldcs(p) : *p; }
__device__ __forceinline__ int4 load4(const int4* p) { return STREAM ? __ldcs(p) : *p; }
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
lookback_scan(const int* __restrict__ in, int* __restrict__ out, u64* states, int* counters, int n, int tiles) {
  __shared__ int sums[32];
  __shared__ int s_tile, s_before, s_last;
#if TRANS
  extern __shared__ int stage[];
#endif
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  if (tid == 0) s_tile = atomicAdd(counters, 1);
  __syncthreads();
  const int tile = s_tile;
  const int base = tile * TILE;
  const bool whole = base + TILE <= n;
  int x[ITEMS];
#if TRANS
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = base + i * THREADS + tid;
    const int l = i * THREADS + tid;
    stage[l + (l >> 5)] = whole || at < n ? load1(in + at) : 0;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int l = tid * ITEMS + i;
    x[i] = stage[l + (l >> 5)];
  }
#else
  if (whole) {
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
      const int4 v = load4(reinterpret_cast<const int4*>(in + base + tid * ITEMS + i));
      x[i] = v.x; x[i + 1] = v.y; x[i + 2] = v.z; x[i + 3] = v.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) x[i] = base + tid * ITEMS + i < n ? in[base + tid * ITEMS + i] : 0;
  }
#endif
#pragma unroll
  for (int i = 1; i < ITEMS; ++i) x[i] += x[i - 1];
  const int mine = x[ITEMS - 1];
  int inc = mine;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const int y = __shfl_up_sync(~0u, inc, d);
    if (lane >= d) inc += y;
  }
  if (lane == 31) sums[warp] = inc;
  __syncthreads();
  if (warp == 0) {
    int w = lane < WARPS ? sums[lane] : 0;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      const int y = __shfl_up_sync(~0u, w, d);
      if (lane >= d) w += y;
    }
    if (lane < WARPS) sums[lane] = w;
    const int total = __shfl_sync(~0u, w, WARPS - 1);
    int before = 0;
    if (tile == 0) {
      if (lane == 0) st_state(states, state(2, total));
    } else {
      if (lane == 0) st_state(states + tile, state(1, total));
#if WIDE
      for (int look = tile - 1;; look -= 32) {
        const int at = look - lane;
        u64 s;
        for (;;) {
          s = at >= 0 ? ld_state(states + at) : state(2, 0);
          if (__all_sync(~0u, (s >> 32) != 0)) break;
          if (NAP) __nanosleep(NAP);
        }
        const uint32_t done = __ballot_sync(~0u, (s >> 32) == 2);
        int v = (int)(uint32_t)s;
        if (done && lane > __ffs(done) - 1) v = 0;
        before += __reduce_add_sync(~0u, v);
        if (done) break;
      }
#else
      if (lane == 0)
        for (int look = tile - 1;; --look) {
          u64 s;
          while (((s = ld_state(states + look)) >> 32) == 0)
            if (NAP) __nanosleep(NAP);
          before += (int)(uint32_t)s;
          if ((s >> 32) == 2) break;
        }
#endif
      if (lane == 0) st_state(states + tile, state(2, before + total));
    }
    if (lane == 0) s_before = before;
  }
  __syncthreads();
  const int add = s_before + (warp ? sums[warp - 1] : 0) + inc - mine;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) x[i] += add;
#if TRANS
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int l = tid * ITEMS + i;
    stage[l + (l >> 5)] = x[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = base + i * THREADS + tid, l = i * THREADS + tid;
    if (whole || at < n) {
      if (STREAM) __stcs(out + at, stage[l + (l >> 5)]);
      else out[at] = stage[l + (l >> 5)];
    }
  }
#else
  if (whole) {
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
      int4* p = reinterpret_cast<int4*>(out + base + tid * ITEMS + i);
      const int4 v = make_int4(x[i], x[i + 1], x[i + 2], x[i + 3]);
      if (STREAM) __stcs(p, v);
      else *p = v;
    }
  } else {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      if (base + tid * ITEMS + i < n) out[base + tid * ITEMS + i] = x[i];
  }
#endif
  if (tid == 0) s_last = atomicAdd(counters + 1, 1) == tiles - 1;
  __syncthreads();
  if (s_last) {
    for (int i = tid; i < tiles; i += THREADS) states[i] = 0;
    if (tid < 2) counters[tid] = 0;
  }
}
