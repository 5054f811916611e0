// Complex FFT of rows of 4096, Stockham, one row a block: passes of radix R through shared memory.
// Macros: R 2, 4, 8, 16; REP butterflies a thread and pass; TW 0: every twiddle from a table in global memory, 1: one sincospif and its powers, 2: the table in shared memory,
// 3: one entry of the global table and its powers; PAD one float2 of padding every 16; MINB blocks a multiprocessor at least
constexpr int LEN = 4096;
constexpr int THREADS = LEN / R / REP;
// cos(2 pi i / 16)
__device__ constexpr float cos16(int i) {
  switch (i & 15) {
    case 0: return 1.f;
    case 1: case 15: return 0.9238795325112867f;
    case 2: case 14: return 0.7071067811865476f;
    case 3: case 13: return 0.3826834323650898f;
    case 5: case 11: return -0.3826834323650898f;
    case 6: case 10: return -0.7071067811865476f;
    case 7: case 9: return -0.9238795325112867f;
    case 8: return -1.f;
    default: return 0.f;
  }
}

__device__ __forceinline__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

template <int N> struct Dft {
  __device__ static __forceinline__ void run(float2 (&v)[N]) {
    float2 e[N / 2], o[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; ++i) { e[i] = v[2 * i]; o[i] = v[2 * i + 1]; }
    Dft<N / 2>::run(e);
    Dft<N / 2>::run(o);
#pragma unroll
    for (int k = 0; k < N / 2; ++k) {
      const float c = cos16(k * (16 / N)), s = cos16(k * (16 / N) + 4);     // e^{-2 pi i k / N}
      const float2 t = k == 0 ? o[0] : make_float2(o[k].x * c - o[k].y * s, o[k].x * s + o[k].y * c);
      v[k] = make_float2(e[k].x + t.x, e[k].y + t.y);
      v[k + N / 2] = make_float2(e[k].x - t.x, e[k].y - t.y);
    }
  }
};
template <> struct Dft<1> { __device__ static __forceinline__ void run(float2 (&)[1]) {} };

__device__ __forceinline__ int at(int i) { return PAD ? i + (i >> 4) : i; }

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
fft4k(const float2* __restrict__ in, float2* __restrict__ out, const float2* __restrict__ table) {
  extern __shared__ float2 buf[];
  float2* tab = buf + (PAD ? LEN + LEN / 16 : LEN);
  const size_t row = (size_t)blockIdx.x * LEN;
  const int tid = threadIdx.x;
  if (TW == 2) {
    for (int i = tid; i < LEN; i += THREADS) tab[i] = table[i];
    __syncthreads();
  }
  float2 v[REP][R];
#pragma unroll
  for (int p = 0; p < REP; ++p)
#pragma unroll
    for (int r = 0; r < R; ++r) v[p][r] = in[row + p * THREADS + tid + r * (LEN / R)];
#pragma unroll 1
  for (int ns = 1; ns < LEN; ns *= R) {
    if (ns > 1) {
      __syncthreads();
#pragma unroll
      for (int p = 0; p < REP; ++p)
#pragma unroll
        for (int r = 0; r < R; ++r) v[p][r] = buf[at(p * THREADS + tid + r * (LEN / R))];
      __syncthreads();
#pragma unroll
      for (int p = 0; p < REP; ++p) {
        const int k = (p * THREADS + tid) & (ns - 1), step = k * (LEN / R / ns);
        if (TW == 0 || TW == 2) {
#pragma unroll
          for (int r = 1; r < R; ++r) v[p][r] = cmul(v[p][r], TW == 2 ? tab[step * r] : __ldg(table + step * r));
        } else {
          float2 w;
          if (TW == 1) sincospif(-2.f * (float)step / LEN, &w.y, &w.x);
          else w = __ldg(table + step);
          float2 q = w;
#pragma unroll
          for (int r = 1; r < R; ++r) {
            v[p][r] = cmul(v[p][r], q);
            q = cmul(q, w);
          }
        }
      }
    }
#pragma unroll
    for (int p = 0; p < REP; ++p) Dft<R>::run(v[p]);
    if (ns * R < LEN) {
#pragma unroll
      for (int p = 0; p < REP; ++p) {
        const int j = p * THREADS + tid, k = j & (ns - 1), d = (j - k) * R + k;
#pragma unroll
        for (int r = 0; r < R; ++r) buf[at(d + r * ns)] = v[p][r];
      }
    }
  }
#pragma unroll
  for (int p = 0; p < REP; ++p)
#pragma unroll
    for (int r = 0; r < R; ++r) out[row + p * THREADS + tid + r * (LEN / R)] = v[p][r];
}
