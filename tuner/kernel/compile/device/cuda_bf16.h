// bfloats through inline PTX and shifts, so that every clang from 14 compiles them. Arithmetic needs sm_80.
#pragma once
struct __nv_bfloat16 {
  unsigned short x;
  __nv_bfloat16() = default;
#if __CUDA_ARCH__ >= 800
  __device__ __nv_bfloat16(float f) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(f)); }
#endif
  __device__ operator float() const { return __builtin_bit_cast(float, (unsigned)x << 16); }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
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
#if __CUDA_ARCH__ >= 800
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
WARPTUNE_FN __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
WARPTUNE_FN __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
#endif
