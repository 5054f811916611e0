// Tiles of 4096 keys sorted by their low 12 bits, RBITS a pass, keys in registers between passes: places within a warp by votes (MATCH 0) or by match.any (1), counts of digit and warp in shared memory, summed by one warp 32 at a time (SUMS 0) or each lane its own stretch (1).
#define TILE 4096
#define ITEMS (TILE / BLOCK)
#define WARPS (BLOCK / 32)
#define DIGITS (1 << RBITS)
#define COUNTS (DIGITS * WARPS)
extern "C" __global__ void __launch_bounds__(BLOCK) radix_sort_tile(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  __shared__ unsigned keys[TILE];
  __shared__ int counts[COUNTS];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, from = warp * 32 * ITEMS + lane;
  const unsigned below = (1u << lane) - 1;
  unsigned key[ITEMS];
  int place[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) key[k] = in[(size_t)blockIdx.x * TILE + from + k * 32];
#pragma unroll 1
  for (int shift = 0; shift < 12; shift += RBITS) {
    for (int i = threadIdx.x; i < COUNTS; i += BLOCK) counts[i] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      unsigned digit = key[k] >> shift & (DIGITS - 1), same;
#if MATCH
      same = __match_any_sync(0xffffffffu, digit);
#else
      same = 0xffffffffu;
#pragma unroll
      for (int b = 0; b < RBITS; ++b) {
        bool one = digit >> b & 1;
        unsigned votes = __ballot_sync(0xffffffffu, one);
        same &= one ? votes : ~votes;
      }
#endif
      int* at = counts + digit * WARPS + warp;
      int before = *at;
      __syncwarp();
      place[k] = before + __popc(same & below);
      if (!(same & below)) *at = before + __popc(same);
      __syncwarp();
    }
    __syncthreads();
    if (warp == 0) {
#if SUMS
      const int per = (COUNTS + 31) / 32;
      int total = 0;
      for (int i = 0; i < per; ++i)
        if (lane * per + i < COUNTS) total += counts[lane * per + i];
      int upto = total;
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(0xffffffffu, upto, d);
        if (lane >= d) upto += o;
      }
      int sum = upto - total;
      for (int i = 0; i < per; ++i)
        if (lane * per + i < COUNTS) {
          int c = counts[lane * per + i];
          counts[lane * per + i] = sum;
          sum += c;
        }
#else
      int sum = 0;
      for (int i = 0; i < COUNTS; i += 32) {
        int c = i + lane < COUNTS ? counts[i + lane] : 0, upto = c;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
          int o = __shfl_up_sync(0xffffffffu, upto, d);
          if (lane >= d) upto += o;
        }
        if (i + lane < COUNTS) counts[i + lane] = sum + upto - c;
        sum += __shfl_sync(0xffffffffu, upto, 31);
      }
#endif
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) keys[counts[(key[k] >> shift & (DIGITS - 1)) * WARPS + warp] + place[k]] = key[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) key[k] = keys[from + k * 32];
  }
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) out[(size_t)blockIdx.x * TILE + from + k * 32] = key[k];
}
