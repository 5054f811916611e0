// Rotary embedding in place: elements i and i+64 of each head of 128 halves turn by an angle of the token: a thread VEC pairs on both sides, for HEADS heads;
// sine and cosine from a table (TABLE 1) or computed (0).
#include <cuda_fp16.h>
#define DIM 128
#define LANES (DIM / 4 / VEC)
#if VEC == 1
typedef unsigned word;
#elif VEC == 2
typedef uint2 word;
#else
typedef uint4 word;
#endif
union Pair { unsigned bits; __half2 h; };
extern "C" __global__ void rope_half(__half* __restrict__ x, const float4* __restrict__ table, int tokens, int heads) {
  int id = blockIdx.x * BLOCK + threadIdx.x, lane = id % LANES, item = id / LANES;
  int groups = heads / HEADS, token = item / groups;
  if (token >= tokens) return;
  float c[2 * VEC], s[2 * VEC];
#if TABLE
#pragma unroll
  for (int i = 0; i < VEC; ++i) {
    float4 t = table[(size_t)token * (DIM / 4) + lane * VEC + i];
    c[2 * i] = t.x, s[2 * i] = t.y, c[2 * i + 1] = t.z, s[2 * i + 1] = t.w;
  }
#else
#pragma unroll
  for (int i = 0; i < 2 * VEC; ++i) __sincosf(token * exp2f((lane * 2 * VEC + i) * (-2 * 13.287712f / DIM)), &s[i], &c[i]);
#endif
  word* at = (word*)(x + ((size_t)token * heads + item % groups * HEADS) * DIM) + lane;
#pragma unroll
  for (int h = 0; h < HEADS; ++h) {
    word low = at[h * 2 * LANES], high = at[h * 2 * LANES + LANES];
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
      Pair p, q;
      p.bits = ((unsigned*)&low)[i], q.bits = ((unsigned*)&high)[i];
      float2 a = __half22float2(p.h), b = __half22float2(q.h);
      p.h = __floats2half2_rn(a.x * c[2 * i] - b.x * s[2 * i], a.y * c[2 * i + 1] - b.y * s[2 * i + 1]);
      q.h = __floats2half2_rn(b.x * c[2 * i] + a.x * s[2 * i], b.y * c[2 * i + 1] + a.y * s[2 * i + 1]);
      ((unsigned*)&low)[i] = p.bits, ((unsigned*)&high)[i] = q.bits;
    }
    at[h * 2 * LANES] = low;
    at[h * 2 * LANES + LANES] = high;
  }
}
