// Half precision through inline PTX, so that every clang from 14 compiles it (its own
// _Float16 arithmetic needs 19). Arithmetic needs sm_53.
#pragma once
struct __half {
  unsigned short x;
  __half() = default;
  __device__ __half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(f)); }
  __device__ operator float() const { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x)); return f; }
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
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
#endif
#undef WARPTUNE_HALF2
WARPTUNE_FN __half __hfma(__half a, __half b, __half c) { unsigned short r; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.x), "h"(b.x), "h"(c.x)); return warptune_half(r); }
WARPTUNE_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c) { unsigned r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(warptune_bits(a)), "r"(warptune_bits(b)), "r"(warptune_bits(c))); return warptune_half2(r); }
WARPTUNE_FN __half __hneg(__half a) { return warptune_half(a.x ^ 0x8000); }
WARPTUNE_FN __half2 __hneg2(__half2 a) { return warptune_half2(warptune_bits(a) ^ 0x80008000u); }
WARPTUNE_FN __half __hdiv(__half a, __half b) { return __half(float(a) / float(b)); }
WARPTUNE_FN bool __hlt(__half a, __half b) { return float(a) < float(b); }
WARPTUNE_FN bool __hgt(__half a, __half b) { return float(a) > float(b); }
WARPTUNE_FN bool __heq(__half a, __half b) { return float(a) == float(b); }
WARPTUNE_FN __half operator+(__half a, __half b) { return __hadd(a, b); }
WARPTUNE_FN __half operator-(__half a, __half b) { return __hsub(a, b); }
WARPTUNE_FN __half operator*(__half a, __half b) { return __hmul(a, b); }
WARPTUNE_FN __half operator/(__half a, __half b) { return __hdiv(a, b); }
WARPTUNE_FN __half &operator+=(__half &a, __half b) { return a = __hadd(a, b); }
WARPTUNE_FN __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
WARPTUNE_FN __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
WARPTUNE_FN __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
WARPTUNE_FN __half2 &operator+=(__half2 &a, __half2 b) { return a = __hadd2(a, b); }
#endif
