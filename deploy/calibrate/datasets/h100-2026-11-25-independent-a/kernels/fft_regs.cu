// Transforms of 512 complex points, eight of them in a thread's registers, radix 8 in three passes that exchange through shared memory (complex numbers at once, or real parts and then imaginary ones): FFTS transforms a block; roots of unity computed or from a table.
#define PLACE(i) ((i) + PAD * ((i) / 32))
__device__ __forceinline__ float2 mul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ void pair(float2& a, float2& b) {
  float2 t = a;
  a = make_float2(t.x + b.x, t.y + b.y);
  b = make_float2(t.x - b.x, t.y - b.y);
}
__device__ __forceinline__ void swap(float2& a, float2& b) {
  float2 t = a;
  a = b;
  b = t;
}
__device__ __forceinline__ void fft8(float2* v) {
  const float h = 0.70710678f;
  pair(v[0], v[4]), pair(v[1], v[5]), pair(v[2], v[6]), pair(v[3], v[7]);
  v[5] = make_float2(h * (v[5].x + v[5].y), h * (v[5].y - v[5].x));
  v[6] = make_float2(v[6].y, -v[6].x);
  v[7] = make_float2(h * (v[7].y - v[7].x), -h * (v[7].x + v[7].y));
  pair(v[0], v[2]), pair(v[1], v[3]), pair(v[4], v[6]), pair(v[5], v[7]);
  v[3] = make_float2(v[3].y, -v[3].x);
  v[7] = make_float2(v[7].y, -v[7].x);
  pair(v[0], v[1]), pair(v[2], v[3]), pair(v[4], v[5]), pair(v[6], v[7]);
  swap(v[1], v[4]), swap(v[3], v[6]);
}
extern "C" __global__ void fft_regs(const float2* __restrict__ in, const float2* __restrict__ roots, float2* __restrict__ out) {
#if SPLIT
  __shared__ float s[FFTS][PLACE(512)];
#else
  __shared__ float2 s[FFTS][PLACE(512)];
#endif
  int j = threadIdx.x, f = threadIdx.y;
  size_t base = ((size_t)blockIdx.x * FFTS + f) * 512;
  float2 v[8];
#pragma unroll
  for (int r = 0; r < 8; ++r) v[r] = in[base + j + 64 * r];
  fft8(v);
#pragma unroll
  for (int pass = 0; pass < 2; ++pass) {
    int ns = pass ? 8 : 1, to = (j / ns) * ns * 8 + j % ns, step = pass ? 1 : 8, k = j % (ns * 8);
#if SPLIT
#pragma unroll
    for (int r = 0; r < 8; ++r) s[f][PLACE(to + r * ns)] = v[r].x;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; ++r) v[r].x = s[f][PLACE(j + 64 * r)];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; ++r) s[f][PLACE(to + r * ns)] = v[r].y;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; ++r) v[r].y = s[f][PLACE(j + 64 * r)];
    __syncthreads();
#else
#pragma unroll
    for (int r = 0; r < 8; ++r) s[f][PLACE(to + r * ns)] = v[r];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; ++r) v[r] = s[f][PLACE(j + 64 * r)];
    __syncthreads();
#endif
#if TABLE
#pragma unroll
    for (int r = 1; r < 8; ++r) v[r] = mul(v[r], roots[k * r * step]);
#else
    float2 root, power;
    __sincosf(-0.012271846f * (k * step), &root.y, &root.x);
    power = root;
#pragma unroll
    for (int r = 1; r < 8; ++r) {
      v[r] = mul(v[r], power);
      power = mul(power, root);
    }
#endif
    fft8(v);
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) out[base + j + 64 * r] = v[r];
}
