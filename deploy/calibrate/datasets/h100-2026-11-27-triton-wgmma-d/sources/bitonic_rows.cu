// Sorts every row of 2048 float keys with their indices, bitonic network: strides inside a thread in registers, inside a warp by shuffles, the rest through shared memory.
// Macros: E keys a thread, ROWS rows a block, PACK 1: key and index as one 64-bit word, SHFL 0: the strides inside a warp go through shared memory too,
// VEC keys a load, MINB blocks a multiprocessor at least
#include <cstdint>
namespace {
constexpr int L = 2048, T = L / E, THREADS = T * ROWS;

#if PACK
struct Item { unsigned long long w; };
__device__ __forceinline__ Item make(float k, int i) {
  uint32_t u = __float_as_uint(k);
  u ^= (uint32_t)((int)u >> 31) | 0x80000000u;
  return {((unsigned long long)u << 32) | (uint32_t)i};
}
__device__ __forceinline__ float key(Item a) {
  const uint32_t u = (uint32_t)(a.w >> 32);
  return __uint_as_float((u & 0x80000000u) ? u ^ 0x80000000u : ~u);
}
__device__ __forceinline__ int val(Item a) { return (int)(uint32_t)a.w; }
__device__ __forceinline__ bool less(Item a, Item b) { return a.w < b.w; }
__device__ __forceinline__ Item across(Item a, int m) { return {__shfl_xor_sync(~0u, a.w, m)}; }
#else
struct Item { float k; int i; };
__device__ __forceinline__ Item make(float k, int i) { return {k, i}; }
__device__ __forceinline__ float key(Item a) { return a.k; }
__device__ __forceinline__ int val(Item a) { return a.i; }
__device__ __forceinline__ bool less(Item a, Item b) { return a.k < b.k || (a.k == b.k && a.i < b.i); }
__device__ __forceinline__ Item across(Item a, int m) { return {__shfl_xor_sync(~0u, a.k, m), __shfl_xor_sync(~0u, a.i, m)}; }
#endif
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
bitonic_rows(const float* __restrict__ in, float* __restrict__ keys, int* __restrict__ vals) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int row = threadIdx.x / T, t = threadIdx.x % T;
  Item* buf = reinterpret_cast<Item*>(raw) + row * L;
  const size_t base = ((size_t)blockIdx.x * ROWS + row) * L + t * E;
  Item x[E];
#pragma unroll
  for (int e = 0; e < E; e += VEC) {
#if VEC == 4
    const float4 v = *reinterpret_cast<const float4*>(in + base + e);
    x[e] = make(v.x, t * E + e);
    x[e + 1] = make(v.y, t * E + e + 1);
    x[e + 2] = make(v.z, t * E + e + 2);
    x[e + 3] = make(v.w, t * E + e + 3);
#elif VEC == 2
    const float2 v = *reinterpret_cast<const float2*>(in + base + e);
    x[e] = make(v.x, t * E + e);
    x[e + 1] = make(v.y, t * E + e + 1);
#else
    x[e] = make(in[base + e], t * E + e);
#endif
  }
#pragma unroll 1
  for (int k = 2; k <= L; k <<= 1) {
#pragma unroll 1
    for (int j = k >> 1; j >= E; j >>= 1) {
      const int m = j / E;
      const bool up = ((t * E) & k) == 0, low = (t & m) == 0;
      if (SHFL && m < 32) {
#pragma unroll
        for (int e = 0; e < E; ++e) {
          const Item y = across(x[e], m);
          if (less(y, x[e]) == (low == up)) x[e] = y;
        }
      } else {
#pragma unroll
        for (int e = 0; e < E; ++e) buf[e * T + t] = x[e];
        __syncthreads();
#pragma unroll
        for (int e = 0; e < E; ++e) {
          const Item y = buf[e * T + (t ^ m)];
          if (less(y, x[e]) == (low == up)) x[e] = y;
        }
        __syncthreads();
      }
    }
#pragma unroll
    for (int j = E / 2; j > 0; j >>= 1)
      if (j < k) {
#pragma unroll
        for (int e = 0; e < E; ++e)
          if ((e & j) == 0) {
            const bool up = ((t * E + e) & k) == 0;
            if (less(x[e | j], x[e]) == up) {
              const Item y = x[e];
              x[e] = x[e | j];
              x[e | j] = y;
            }
          }
      }
  }
#pragma unroll
  for (int e = 0; e < E; e += VEC) {
#if VEC == 4
    *reinterpret_cast<float4*>(keys + base + e) = make_float4(key(x[e]), key(x[e + 1]), key(x[e + 2]), key(x[e + 3]));
    *reinterpret_cast<int4*>(vals + base + e) = make_int4(val(x[e]), val(x[e + 1]), val(x[e + 2]), val(x[e + 3]));
#elif VEC == 2
    *reinterpret_cast<float2*>(keys + base + e) = make_float2(key(x[e]), key(x[e + 1]));
    *reinterpret_cast<int2*>(vals + base + e) = make_int2(val(x[e]), val(x[e + 1]));
#else
    keys[base + e] = key(x[e]);
    vals[base + e] = val(x[e]);
#endif
  }
}
