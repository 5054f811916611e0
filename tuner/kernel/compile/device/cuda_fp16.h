// Half precision through inline PTX, so that every clang from 14 compiles it (its own
// _Float16 arithmetic needs 19). Arithmetic needs sm_53.
#pragma once
#include "warptune/half.h"
struct __half_raw { unsigned short x; };
struct __align__(4) __half2_raw { unsigned short x, y; };
struct __half {
  unsigned short x;
  __half() = default;
  __host__ __device__ constexpr __half(const __half_raw &r) : x(r.x) {}
  __host__ __device__ constexpr operator __half_raw() const { return __half_raw{x}; }
  __device__ __half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(f)); }
  __device__ operator float() const { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x)); return f; }
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(const __half2_raw &r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
  __host__ __device__ constexpr operator __half2_raw() const { return __half2_raw{x.x, y.x}; }
  __device__ __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half half;
typedef __half2 half2;
WARPTUNE_FN __half warptune_half(unsigned short b) { __half h; h.x = b; return h; }
WARPTUNE_FN unsigned warptune_bits(__half2 v) { return __builtin_bit_cast(unsigned, v); }
WARPTUNE_FN __half2 warptune_half2(unsigned b) { return __builtin_bit_cast(__half2, b); }
WARPTUNE_FN __half __float2half(float f) { return __half(f); }
WARPTUNE_FN __half __float2half_rn(float f) { return __half(f); }
WARPTUNE_FN float __half2float(__half h) { return float(h); }
WARPTUNE_FN __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
WARPTUNE_FN __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
WARPTUNE_FN __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WARPTUNE_FN __half2 __half2half2(__half a) { return __half2(a, a); }
WARPTUNE_FN __half __low2half(__half2 v) { return v.x; }
WARPTUNE_FN __half __high2half(__half2 v) { return v.y; }
WARPTUNE_FN float __low2float(__half2 v) { return float(v.x); }
WARPTUNE_FN float __high2float(__half2 v) { return float(v.y); }
WARPTUNE_FN float2 __half22float2(__half2 v) { return make_float2(float(v.x), float(v.y)); }
WARPTUNE_FN __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
WARPTUNE_FN unsigned short __half_as_ushort(__half h) { return h.x; }
WARPTUNE_FN __half __ushort_as_half(unsigned short b) { return warptune_half(b); }
WARPTUNE_FN __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WARPTUNE_FN __half __habs(__half a) { return warptune_half(a.x & 0x7fff); }
WARPTUNE_FN __half2 __habs2(__half2 a) { return warptune_half2(warptune_bits(a) & 0x7fff7fffu); }
WARPTUNE_FN __half __double2half(double v) { __half h; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.x) : "d"(v)); return h; }
#define WARPTUNE_HALF_CVT(ROUNDING, PTX)                                                                                                              \
  WARPTUNE_FN __half __float2half_##ROUNDING(float v) { __half h; asm("cvt." PTX ".f16.f32 %0, %1;" : "=h"(h.x) : "f"(v)); return h; }
WARPTUNE_HALF_CVT(rz, "rz")
WARPTUNE_HALF_CVT(rd, "rm")
WARPTUNE_HALF_CVT(ru, "rp")
#undef WARPTUNE_HALF_CVT
#define WARPTUNE_HALF_INTEGER(NAME, T, PTX, REG)                                                                                                      \
  WARPTUNE_FN T __half2##NAME##_rd(__half h) { T r; asm("cvt.rmi." PTX ".f16 %0, %1;" : "=" REG(r) : "h"(h.x)); return r; }                          \
  WARPTUNE_FN T __half2##NAME##_ru(__half h) { T r; asm("cvt.rpi." PTX ".f16 %0, %1;" : "=" REG(r) : "h"(h.x)); return r; }                          \
  WARPTUNE_FN T __half2##NAME##_rn(__half h) { T r; asm("cvt.rni." PTX ".f16 %0, %1;" : "=" REG(r) : "h"(h.x)); return r; }                          \
  WARPTUNE_FN T __half2##NAME##_rz(__half h) { T r; asm("cvt.rzi." PTX ".f16 %0, %1;" : "=" REG(r) : "h"(h.x)); return r; }                          \
  WARPTUNE_FN __half __##NAME##2half_rn(T v) { __half h; asm("cvt.rn.f16." PTX " %0, %1;" : "=h"(h.x) : REG(v)); return h; }
WARPTUNE_HALF_INTEGER(int, int, "s32", "r")
WARPTUNE_HALF_INTEGER(uint, unsigned, "u32", "r")
WARPTUNE_HALF_INTEGER(short, short, "s16", "h")
WARPTUNE_HALF_INTEGER(ushort, unsigned short, "u16", "h")
WARPTUNE_HALF_INTEGER(ll, long long, "s64", "l")
WARPTUNE_HALF_INTEGER(ull, unsigned long long, "u64", "l")
#undef WARPTUNE_HALF_INTEGER
WARPTUNE_FN short __half_as_short(__half h) { return (short)h.x; }
WARPTUNE_FN __half __short_as_half(short b) { return warptune_half((unsigned short)b); }
WARPTUNE_HALF_COMMON(__half, __half2, half2, 0x3c00u)
WARPTUNE_HALF_FUNCTIONS(__half, __half2)
#if __CUDA_ARCH__ >= 530
#define WARPTUNE_HALF2(NAME, OP)                                                                                                  \
  WARPTUNE_FN __half NAME(__half a, __half b) { unsigned short r; asm(OP ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.x), "h"(b.x)); return warptune_half(r); } \
  WARPTUNE_FN __half2 NAME##2(__half2 a, __half2 b) { unsigned r; asm(OP ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(warptune_bits(a)), "r"(warptune_bits(b))); return warptune_half2(r); }
WARPTUNE_HALF2(__hadd, "add.rn")
WARPTUNE_HALF2(__hsub, "sub.rn")
WARPTUNE_HALF2(__hmul, "mul.rn")
#if __CUDA_ARCH__ >= 800
WARPTUNE_HALF2(__hmin, "min")
WARPTUNE_HALF2(__hmax, "max")
#else
WARPTUNE_FN __half __hmin(__half a, __half b) { return __half(fminf(float(a), float(b))); }
WARPTUNE_FN __half __hmax(__half a, __half b) { return __half(fmaxf(float(a), float(b))); }
WARPTUNE_FN __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
WARPTUNE_FN __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
#endif
#undef WARPTUNE_HALF2
WARPTUNE_FN __half __hfma(__half a, __half b, __half c) { unsigned short r; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.x), "h"(b.x), "h"(c.x)); return warptune_half(r); }
WARPTUNE_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c) { unsigned r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(warptune_bits(a)), "r"(warptune_bits(b)), "r"(warptune_bits(c))); return warptune_half2(r); }
WARPTUNE_FN __half __hneg(__half a) { return warptune_half(a.x ^ 0x8000); }
WARPTUNE_FN __half2 __hneg2(__half2 a) { return warptune_half2(warptune_bits(a) ^ 0x80008000u); }
WARPTUNE_FN __half __hdiv(__half a, __half b) { return __half(float(a) / float(b)); }
WARPTUNE_HALF_OPERATORS(__half, __half2)
#if __CUDA_ARCH__ >= 600
WARPTUNE_HALF_ATOMIC(__half2, unsigned, "f16x2", "r")
#endif
#if __CUDA_ARCH__ >= 700
WARPTUNE_HALF_ATOMIC(__half, unsigned short, "f16", "h")
#endif
#endif
