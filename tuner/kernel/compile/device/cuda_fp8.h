// Floating point of eight bits: e4m3 (no infinity, 448 at most) and e5m2 (57344 at most). Conversions are
// those of sm_89 and newer. A half or bfloat goes through single precision.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
#if __CUDA_ARCH__ >= 890
WARPTUNE_FN __nv_fp8x2_storage_t warptune_fp8x2(float low, float high, __nv_fp8_interpretation_t as) {
  unsigned short r;
  if (as == __NV_E4M3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  return r;
}
// Without saturation what rounds to more than the largest is not a number in e4m3, infinite in e5m2.
WARPTUNE_FN __nv_fp8_storage_t warptune_fp8_over(float v, __nv_fp8_storage_t b, __nv_fp8_interpretation_t as) {
  float a = fabsf(v);
  bool over = as == __NV_E4M3 ? a > 464.f : a >= 61440.f;
  return over ? (__nv_fp8_storage_t)((b & 0x80) | (as == __NV_E4M3 ? 0x7f : 0x7c)) : b;
}
WARPTUNE_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  __nv_fp8x2_storage_t r = warptune_fp8x2(v.x, v.y, as);
  if (saturate == __NV_SATFINITE) return r;
  return (__nv_fp8x2_storage_t)(warptune_fp8_over(v.x, (__nv_fp8_storage_t)r, as) | warptune_fp8_over(v.y, (__nv_fp8_storage_t)(r >> 8), as) << 8);
}
WARPTUNE_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  return (__nv_fp8_storage_t)__nv_cvt_float2_to_fp8x2(make_float2(v, 0), saturate, as);
}
WARPTUNE_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) { return __nv_cvt_float_to_fp8((float)v, saturate, as); }
WARPTUNE_FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  return __nv_cvt_float2_to_fp8x2(make_float2((float)v.x, (float)v.y), saturate, as);
}
WARPTUNE_FN __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  if (saturate != __NV_SATFINITE) return __nv_cvt_float2_to_fp8x2(__half22float2(v), saturate, as);
  unsigned short r;
  if (as == __NV_E4M3)
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(r) : "r"(warptune_bits(v)));
  else
    asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(r) : "r"(warptune_bits(v)));
  return r;
}
WARPTUNE_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  return (__nv_fp8_storage_t)__nv_cvt_halfraw2_to_fp8x2(__half2(v, warptune_half(0)), saturate, as);
}
WARPTUNE_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) { return __nv_cvt_float_to_fp8(float(__nv_bfloat16(v)), saturate, as); }
WARPTUNE_FN __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t as) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(v), saturate, as);
}
WARPTUNE_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t as) {
  unsigned r;
  if (as == __NV_E4M3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(v));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(v));
  return warptune_half2(r);
}
WARPTUNE_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t as) { return __half_raw{__nv_cvt_fp8x2_to_halfraw2(v, as).x}; }
// One, two and four numbers. Converting from a number saturates.
#define WARPTUNE_FP8(NAME, AS)                                                                                                   \
  struct __nv_fp8_##NAME {                                                                                                       \
    __nv_fp8_storage_t __x;                                                                                                      \
    __nv_fp8_##NAME() = default;                                                                                                 \
    __device__ explicit __nv_fp8_##NAME(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, AS)) {}                          \
    __device__ explicit __nv_fp8_##NAME(double v) : __nv_fp8_##NAME((float)v) {}                                                 \
    __device__ explicit __nv_fp8_##NAME(int v) : __nv_fp8_##NAME((float)v) {}                                                    \
    __device__ explicit __nv_fp8_##NAME(unsigned v) : __nv_fp8_##NAME((float)v) {}                                               \
    __device__ explicit __nv_fp8_##NAME(__half v) : __x(__nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, AS)) {}                       \
    __device__ explicit __nv_fp8_##NAME(__nv_bfloat16 v) : __x(__nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, AS)) {}            \
    __device__ explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, AS); }                                     \
    __device__ explicit operator float() const { return float(__half(__nv_cvt_fp8_to_halfraw(__x, AS))); }                      \
    __device__ explicit operator double() const { return float(*this); }                                                        \
    __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); }                                   \
    __device__ explicit operator int() const { return (int)float(*this); }                                                      \
    __device__ explicit operator unsigned() const { return (unsigned)float(*this); }                                            \
    __device__ explicit operator bool() const { return (__x & 0x7f) != 0; }                                                      \
  };                                                                                                                             \
  struct __align__(2) __nv_fp8x2_##NAME {                                                                                        \
    __nv_fp8x2_storage_t __x;                                                                                                    \
    __nv_fp8x2_##NAME() = default;                                                                                               \
    __device__ explicit __nv_fp8x2_##NAME(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, AS)) {}                    \
    __device__ explicit __nv_fp8x2_##NAME(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, AS)) {}                  \
    __device__ explicit __nv_fp8x2_##NAME(__half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, AS)) {}                 \
    __device__ explicit __nv_fp8x2_##NAME(__nv_bfloat162 v) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, AS)) {}      \
    __device__ explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, AS); }                                 \
    __device__ explicit operator float2() const { return __half22float2(__nv_cvt_fp8x2_to_halfraw2(__x, AS)); }                  \
  };                                                                                                                             \
  struct __align__(4) __nv_fp8x4_##NAME {                                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                                    \
    __nv_fp8x4_##NAME() = default;                                                                                               \
    __device__ explicit __nv_fp8x4_##NAME(__nv_fp8x2_storage_t low, __nv_fp8x2_storage_t high, int) : __x(low | (unsigned)high << 16) {} \
    __device__ explicit __nv_fp8x4_##NAME(float4 v)                                                                              \
        : __nv_fp8x4_##NAME(__nv_fp8x2_##NAME(make_float2(v.x, v.y)).__x, __nv_fp8x2_##NAME(make_float2(v.z, v.w)).__x, 0) {}    \
    __device__ explicit __nv_fp8x4_##NAME(__half2 low, __half2 high)                                                             \
        : __nv_fp8x4_##NAME(__nv_fp8x2_##NAME(low).__x, __nv_fp8x2_##NAME(high).__x, 0) {}                                       \
    __device__ explicit __nv_fp8x4_##NAME(__nv_bfloat162 low, __nv_bfloat162 high)                                               \
        : __nv_fp8x4_##NAME(__nv_fp8x2_##NAME(low).__x, __nv_fp8x2_##NAME(high).__x, 0) {}                                       \
    __device__ explicit operator float4() const {                                                                                \
      float2 low = __half22float2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)__x, AS));                                    \
      float2 high = __half22float2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(__x >> 16), AS));                           \
      return make_float4(low.x, low.y, high.x, high.y);                                                                          \
    }                                                                                                                            \
  };
WARPTUNE_FP8(e4m3, __NV_E4M3)
WARPTUNE_FP8(e5m2, __NV_E5M2)
#undef WARPTUNE_FP8
#endif
