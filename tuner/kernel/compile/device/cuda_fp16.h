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
WARPTUNE_FN __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WARPTUNE_FN __half __habs(__half a) { return warptune_half(a.x & 0x7fff); }
WARPTUNE_FN __half2 __habs2(__half2 a) { return warptune_half2(warptune_bits(a) & 0x7fff7fffu); }
WARPTUNE_FN int __half2int_rn(__half h) { return __float2int_rn(float(h)); }
WARPTUNE_FN int __half2int_rz(__half h) { return __float2int_rz(float(h)); }
WARPTUNE_FN __half __int2half_rn(int v) { __half h; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h.x) : "r"(v)); return h; }
WARPTUNE_FN __half __uint2half_rn(unsigned v) { __half h; asm("cvt.rn.f16.u32 %0, %1;" : "=h"(h.x) : "r"(v)); return h; }
WARPTUNE_FN short __half_as_short(__half h) { return (short)h.x; }
WARPTUNE_FN __half __short_as_half(short b) { return warptune_half((unsigned short)b); }
WARPTUNE_FN bool __hisnan(__half h) { return isnan(float(h)); }
// Functions of halves, through the approximations of single precision.
#define WARPTUNE_HALF_OF(NAME, CALL)                                      \
  WARPTUNE_FN __half h##NAME(__half h) { float a = float(h); return __half(CALL); } \
  WARPTUNE_FN __half2 h2##NAME(__half2 v) { return __half2(h##NAME(v.x), h##NAME(v.y)); }
WARPTUNE_HALF_OF(exp, __expf(a))
WARPTUNE_HALF_OF(exp2, exp2f(a))
WARPTUNE_HALF_OF(log, __logf(a))
WARPTUNE_HALF_OF(log2, __log2f(a))
WARPTUNE_HALF_OF(sqrt, sqrtf(a))
WARPTUNE_HALF_OF(rsqrt, rsqrtf(a))
WARPTUNE_HALF_OF(rcp, __fdividef(1.f, a))
WARPTUNE_HALF_OF(sin, sinf(a))
WARPTUNE_HALF_OF(cos, cosf(a))
WARPTUNE_HALF_OF(floor, floorf(a))
WARPTUNE_HALF_OF(ceil, ceilf(a))
WARPTUNE_HALF_OF(trunc, truncf(a))
WARPTUNE_HALF_OF(rint, rintf(a))
#undef WARPTUNE_HALF_OF
#define WARPTUNE_HALF_SHFL(NAME)                                                                                                          \
  WARPTUNE_FN __half2 NAME(unsigned m, __half2 v, int l, int w = 32) { return warptune_half2(NAME(m, warptune_bits(v), l, w)); }          \
  WARPTUNE_FN __half NAME(unsigned m, __half v, int l, int w = 32) { return warptune_half((unsigned short)NAME(m, (unsigned)v.x, l, w)); }
WARPTUNE_HALF_SHFL(__shfl_sync)
WARPTUNE_HALF_SHFL(__shfl_xor_sync)
WARPTUNE_HALF_SHFL(__shfl_down_sync)
WARPTUNE_HALF_SHFL(__shfl_up_sync)
#undef WARPTUNE_HALF_SHFL
WARPTUNE_FN __half __ldg(const __half *p) { return warptune_half(__ldg((const unsigned short *)p)); }
WARPTUNE_FN __half2 __ldg(const __half2 *p) { return warptune_half2(__ldg((const unsigned *)p)); }
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
#endif
#undef WARPTUNE_HALF2
WARPTUNE_FN __half __hfma(__half a, __half b, __half c) { unsigned short r; asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.x), "h"(b.x), "h"(c.x)); return warptune_half(r); }
WARPTUNE_FN __half2 __hfma2(__half2 a, __half2 b, __half2 c) { unsigned r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(warptune_bits(a)), "r"(warptune_bits(b)), "r"(warptune_bits(c))); return warptune_half2(r); }
WARPTUNE_FN __half __hneg(__half a) { return warptune_half(a.x ^ 0x8000); }
WARPTUNE_FN __half2 __hneg2(__half2 a) { return warptune_half2(warptune_bits(a) ^ 0x80008000u); }
WARPTUNE_FN __half __hdiv(__half a, __half b) { return __half(float(a) / float(b)); }
WARPTUNE_FN bool __hlt(__half a, __half b) { return float(a) < float(b); }
WARPTUNE_FN bool __hgt(__half a, __half b) { return float(a) > float(b); }
WARPTUNE_FN bool __hle(__half a, __half b) { return float(a) <= float(b); }
WARPTUNE_FN bool __hge(__half a, __half b) { return float(a) >= float(b); }
WARPTUNE_FN bool __hne(__half a, __half b) { return float(a) != float(b); }
WARPTUNE_FN bool __heq(__half a, __half b) { return float(a) == float(b); }
WARPTUNE_FN __half operator+(__half a, __half b) { return __hadd(a, b); }
WARPTUNE_FN __half operator-(__half a, __half b) { return __hsub(a, b); }
WARPTUNE_FN __half operator*(__half a, __half b) { return __hmul(a, b); }
WARPTUNE_FN __half operator/(__half a, __half b) { return __hdiv(a, b); }
WARPTUNE_FN __half &operator+=(__half &a, __half b) { return a = __hadd(a, b); }
WARPTUNE_FN __half &operator-=(__half &a, __half b) { return a = __hsub(a, b); }
WARPTUNE_FN __half &operator*=(__half &a, __half b) { return a = __hmul(a, b); }
WARPTUNE_FN __half &operator/=(__half &a, __half b) { return a = __hdiv(a, b); }
WARPTUNE_FN __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
WARPTUNE_FN __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
WARPTUNE_FN __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
WARPTUNE_FN __half2 &operator+=(__half2 &a, __half2 b) { return a = __hadd2(a, b); }
#endif
