// Instance normalisation of images of 1024 pixels, one CTA for a sample's group of channels: sums and sums of squares first, then the affine result. Channels last (LAYOUT 0): TX threads along channels with VEC each, the rest along pixels; planes (LAYOUT 1): TX threads along a plane's pixels with VEC each, the rest planes. Sums are shared out by a tree in shared memory (REDUCE 0) or by shuffles and then over warps (1). The second pass reads memory again in the same order (KEEP 0), in reverse order (1), or from a copy in shared memory (2).
#define PIXELS 1024
#define TY (BLOCK / TX)
#if LAYOUT == 0
#define OWN VEC
#define CHANNELS (TX * VEC)
#define SHARERS TY
#define STEPS (PIXELS / TY)
#else
#define OWN 1
#define CHANNELS TY
#define SHARERS TX
#define STEPS (PIXELS / (TX * VEC))
#endif
#if REDUCE == 0
#define PARTS SHARERS
#elif LAYOUT == 0
#define PARTS (TX < 32 ? BLOCK / 32 : TY)
#else
#define PARTS (TX < 32 ? 1 : TX / 32)
#endif
#if VEC == 4
typedef float4 vec;
#elif VEC == 2
typedef float2 vec;
#else
typedef float vec;
#endif
union pack { vec v; float f[VEC]; };
extern "C" __global__ void __launch_bounds__(BLOCK) instance_norm(const float* __restrict__ in, const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ out, int channels, float eps) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ float part[2][PARTS * CHANNELS];
  vec* kept = (vec*)raw;
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * TX + tx, groups = channels / CHANNELS, c0 = blockIdx.x % groups * CHANNELS;
  size_t sample = (size_t)(blockIdx.x / groups) * channels * PIXELS;
#if LAYOUT == 0
  size_t at = sample + (size_t)ty * channels + c0 + tx * VEC, step = (size_t)TY * channels;
  int who = ty, mine = tx * VEC;
#else
  size_t at = sample + (size_t)(c0 + ty) * PIXELS + tx * VEC, step = TX * VEC;
  int who = tx, mine = ty;
#endif
  float s[OWN], q[OWN];
#pragma unroll
  for (int e = 0; e < OWN; ++e) s[e] = q[e] = 0.0f;
#pragma unroll 4
  for (int k = 0; k < STEPS; ++k) {
    pack p;
    p.v = *(const vec*)(in + at + k * step);
#if KEEP == 2
    kept[k * BLOCK + t] = p.v;
#endif
#pragma unroll
    for (int e = 0; e < VEC; ++e) {
      s[e % OWN] += p.f[e];
      q[e % OWN] = fmaf(p.f[e], p.f[e], q[e % OWN]);
    }
  }
#if REDUCE == 0
#pragma unroll
  for (int e = 0; e < OWN; ++e) part[0][who * CHANNELS + mine + e] = s[e], part[1][who * CHANNELS + mine + e] = q[e];
  __syncthreads();
#pragma unroll
  for (int h = SHARERS / 2; h > 0; h /= 2) {
    if (who < h)
#pragma unroll
      for (int e = 0; e < OWN; ++e) {
        part[0][who * CHANNELS + mine + e] += part[0][(who + h) * CHANNELS + mine + e];
        part[1][who * CHANNELS + mine + e] += part[1][(who + h) * CHANNELS + mine + e];
      }
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < OWN; ++e) s[e] = part[0][mine + e], q[e] = part[1][mine + e];
#else
#if LAYOUT == 0
#pragma unroll
  for (int o = TX; o < 32; o *= 2)
#else
#pragma unroll
  for (int o = 1; o < (TX < 32 ? TX : 32); o *= 2)
#endif
#pragma unroll
    for (int e = 0; e < OWN; ++e) {
      s[e] += __shfl_xor_sync(0xffffffffu, s[e], o);
      q[e] += __shfl_xor_sync(0xffffffffu, q[e], o);
    }
#if LAYOUT == 0
  int slot = TX < 32 ? t / 32 : ty;
  bool speaks = TX >= 32 || t % 32 < TX;
#else
  int slot = tx / 32;
  bool speaks = tx % 32 == 0;
#endif
  if (speaks)
#pragma unroll
    for (int e = 0; e < OWN; ++e) part[0][slot * CHANNELS + mine + e] = s[e], part[1][slot * CHANNELS + mine + e] = q[e];
  __syncthreads();
#pragma unroll
  for (int e = 0; e < OWN; ++e) s[e] = q[e] = 0.0f;
#pragma unroll 4
  for (int k = 0; k < PARTS; ++k)
#pragma unroll
    for (int e = 0; e < OWN; ++e) s[e] += part[0][k * CHANNELS + mine + e], q[e] += part[1][k * CHANNELS + mine + e];
#endif
#pragma unroll
  for (int e = 0; e < OWN; ++e) {
    float mean = s[e] * (1.0f / PIXELS), var = fmaxf(q[e] * (1.0f / PIXELS) - mean * mean, 0.0f);
    q[e] = __ldg(gamma + c0 + mine + e) * rsqrtf(var + eps);
    s[e] = __ldg(beta + c0 + mine + e) - mean * q[e];
  }
#pragma unroll 4
  for (int i = 0; i < STEPS; ++i) {
    pack p;
#if KEEP == 2
    int k = i;
    p.v = kept[k * BLOCK + t];
#else
    int k = KEEP ? STEPS - 1 - i : i;
    p.v = *(const vec*)(in + at + k * step);
#endif
#pragma unroll
    for (int e = 0; e < VEC; ++e) p.f[e] = fmaf(p.f[e], q[e % OWN], s[e % OWN]);
    *(vec*)(out + at + k * step) = p.v;
  }
}
