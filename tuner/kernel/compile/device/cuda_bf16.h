// bfloats through inline PTX and shifts, so that every clang from 14 compiles them. Arithmetic needs sm_80.
#pragma once
#include "warptune/half.h"
struct __nv_bfloat16_raw { unsigned short x; };
struct __align__(4) __nv_bfloat162_raw { unsigned short x, y; };
struct __nv_bfloat16 {
  unsigned short x;
  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(const __nv_bfloat16_raw &r) : x(r.x) {}
  __host__ __device__ constexpr operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{x}; }
#if __CUDA_ARCH__ >= 800
  __device__ __nv_bfloat16(float f) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(f)); }
#endif
  __device__ operator float() const { return __builtin_bit_cast(float, (unsigned)x << 16); }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ constexpr __nv_bfloat162(const __nv_bfloat162_raw &r) : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
  __host__ __device__ constexpr operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.x, y.x}; }
  __device__ __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
WARPTUNE_FN float __bfloat162float(__nv_bfloat16 b) { return float(b); }
WARPTUNE_FN float __low2float(__nv_bfloat162 v) { return float(v.x); }
WARPTUNE_FN float __high2float(__nv_bfloat162 v) { return float(v.y); }
WARPTUNE_FN float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2(float(v.x), float(v.y)); }
WARPTUNE_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) { return b.x; }
WARPTUNE_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) { __nv_bfloat16 r; r.x = b; return r; }
WARPTUNE_FN short __bfloat16_as_short(__nv_bfloat16 b) { return (short)b.x; }
WARPTUNE_FN __nv_bfloat16 __short_as_bfloat16(short b) { return __ushort_as_bfloat16((unsigned short)b); }
WARPTUNE_FN __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
WARPTUNE_FN __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
WARPTUNE_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
WARPTUNE_FN __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.x & 0x7fff); }
WARPTUNE_FN __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
WARPTUNE_FN __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.x ^ 0x8000); }
WARPTUNE_FN __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __builtin_bit_cast(__nv_bfloat162, __builtin_bit_cast(unsigned, a) ^ 0x80008000u); }
// Through single precision, which holds every bfloat.
#define WARPTUNE_BFLOAT_INTEGER(NAME, T)                                                            \
  WARPTUNE_FN T __bfloat162##NAME##_rn(__nv_bfloat16 b) { return __float2##NAME##_rn(float(b)); }   \
  WARPTUNE_FN T __bfloat162##NAME##_rz(__nv_bfloat16 b) { return __float2##NAME##_rz(float(b)); }   \
  WARPTUNE_FN T __bfloat162##NAME##_rd(__nv_bfloat16 b) { return __float2##NAME##_rd(float(b)); }   \
  WARPTUNE_FN T __bfloat162##NAME##_ru(__nv_bfloat16 b) { return __float2##NAME##_ru(float(b)); }
WARPTUNE_BFLOAT_INTEGER(int, int)
WARPTUNE_BFLOAT_INTEGER(uint, unsigned)
WARPTUNE_BFLOAT_INTEGER(ll, long long)
WARPTUNE_BFLOAT_INTEGER(ull, unsigned long long)
#undef WARPTUNE_BFLOAT_INTEGER
WARPTUNE_HALF_COMMON(__nv_bfloat16, __nv_bfloat162, bfloat162, 0x3f80u)
#if __CUDA_ARCH__ >= 800
WARPTUNE_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
WARPTUNE_FN __nv_bfloat16 __float2bfloat16_rz(float f) { __nv_bfloat16 b; asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(b.x) : "f"(f)); return b; }
WARPTUNE_FN __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
WARPTUNE_FN __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
WARPTUNE_FN __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)); }
WARPTUNE_FN __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
WARPTUNE_FN __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
WARPTUNE_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
WARPTUNE_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
WARPTUNE_FN __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { __nv_bfloat16 r; asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r.x) : "h"(a.x), "h"(b.x), "h"(c.x)); return r; }
WARPTUNE_FN __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  unsigned r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(__builtin_bit_cast(unsigned, c)));
  return __builtin_bit_cast(__nv_bfloat162, r);
}
// Sums and products are multiply-adds, as ptxas makes them before sm_90.
WARPTUNE_FN __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, __ushort_as_bfloat16(0x3f80), b); }
WARPTUNE_FN __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(b, __ushort_as_bfloat16(0xbf80), a); }
WARPTUNE_FN __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, b, __ushort_as_bfloat16(0x8000)); }
WARPTUNE_FN __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(float(a) / float(b)); }
WARPTUNE_FN __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(a, __builtin_bit_cast(__nv_bfloat162, 0x3f803f80u), b); }
WARPTUNE_FN __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(b, __builtin_bit_cast(__nv_bfloat162, 0xbf80bf80u), a); }
WARPTUNE_FN __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(a, b, __builtin_bit_cast(__nv_bfloat162, 0x80008000u)); }
#define WARPTUNE_BFLOAT2(NAME, OP)                                                                                                                \
  WARPTUNE_FN __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) { __nv_bfloat16 r; asm(OP ".bf16 %0, %1, %2;" : "=h"(r.x) : "h"(a.x), "h"(b.x)); return r; } \
  WARPTUNE_FN __nv_bfloat162 NAME##2(__nv_bfloat162 a, __nv_bfloat162 b) {                                                                        \
    unsigned r;                                                                                                                                   \
    asm(OP ".bf16x2 %0, %1, %2;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)));                         \
    return __builtin_bit_cast(__nv_bfloat162, r);                                                                                                 \
  }
WARPTUNE_BFLOAT2(__hmin, "min")
WARPTUNE_BFLOAT2(__hmax, "max")
WARPTUNE_FN __nv_bfloat16 __hmin_nan(__nv_bfloat16 a, __nv_bfloat16 b) { __nv_bfloat16 r; asm("min.NaN.bf16 %0, %1, %2;" : "=h"(r.x) : "h"(a.x), "h"(b.x)); return r; }
WARPTUNE_FN __nv_bfloat16 __hmax_nan(__nv_bfloat16 a, __nv_bfloat16 b) { __nv_bfloat16 r; asm("max.NaN.bf16 %0, %1, %2;" : "=h"(r.x) : "h"(a.x), "h"(b.x)); return r; }
WARPTUNE_FN __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  __nv_bfloat16 r;
  asm("fma.rn.relu.bf16 %0, %1, %2, %3;" : "=h"(r.x) : "h"(a.x), "h"(b.x), "h"(c.x));
  return r;
}
WARPTUNE_FN __nv_bfloat162 __hfma2_relu(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  unsigned r;
  asm("fma.rn.relu.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(__builtin_bit_cast(unsigned, c)));
  return __builtin_bit_cast(__nv_bfloat162, r);
}
WARPTUNE_FN __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16((float)v); }
WARPTUNE_FN __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16((float)v); }
WARPTUNE_FN __nv_bfloat16 __uint2bfloat16_rn(unsigned v) { return __nv_bfloat16((float)v); }
#undef WARPTUNE_BFLOAT2
WARPTUNE_HALF_OPERATORS(__nv_bfloat16, __nv_bfloat162)
#if __CUDA_ARCH__ >= 900
WARPTUNE_HALF_ATOMIC(__nv_bfloat16, unsigned short, "bf16", "h")
WARPTUNE_HALF_ATOMIC(__nv_bfloat162, unsigned, "bf16x2", "r")
#else
WARPTUNE_HALF_ATOMIC_LOOP(__nv_bfloat16, unsigned short, "b16", "h", __hadd)
WARPTUNE_HALF_ATOMIC_LOOP(__nv_bfloat162, unsigned, "b32", "r", __hadd2)
#endif
#endif
