// What the two kinds of halves, H in pairs H2, have in common beside arithmetic: comparisons, memory and shuffles;
// and the operators, for where there is arithmetic. TWO is how CUDA names a pair, ONE are the bits of 1.
#pragma once
#define WARPTUNE_HALF_COMPARE(H, H2, NAME, OP, ONE) \
  WARPTUNE_FN bool __h##NAME(H a, H b) { return float(a) OP float(b); } \
  WARPTUNE_FN bool __h##NAME##u(H a, H b) { return __h##NAME(a, b) || __hisnan(a) || __hisnan(b); } \
  WARPTUNE_FN H2 __h##NAME##2(H2 a, H2 b) { return __builtin_bit_cast(H2, (__h##NAME(a.x, b.x) ? ONE : 0u) | (__h##NAME(a.y, b.y) ? ONE << 16 : 0u)); } \
  WARPTUNE_FN bool __hb##NAME##2(H2 a, H2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }
#define WARPTUNE_HALF_MEMORY(H, H2, NAME) \
  WARPTUNE_FN H NAME(const H *p) { return __builtin_bit_cast(H, NAME((const unsigned short *)p)); } \
  WARPTUNE_FN H2 NAME(const H2 *p) { return __builtin_bit_cast(H2, NAME((const unsigned *)p)); }
#define WARPTUNE_HALF_STORE(H, H2, NAME) \
  WARPTUNE_FN void NAME(H *p, H v) { NAME((unsigned short *)p, __builtin_bit_cast(unsigned short, v)); } \
  WARPTUNE_FN void NAME(H2 *p, H2 v) { NAME((unsigned *)p, __builtin_bit_cast(unsigned, v)); }
#define WARPTUNE_HALF_SHFL(H, H2, NAME) \
  WARPTUNE_FN H2 NAME(unsigned m, H2 v, int l, int w = 32) { return __builtin_bit_cast(H2, NAME(m, __builtin_bit_cast(unsigned, v), l, w)); } \
  WARPTUNE_FN H NAME(unsigned m, H v, int l, int w = 32) { return __builtin_bit_cast(H, (unsigned short)NAME(m, (unsigned)__builtin_bit_cast(unsigned short, v), l, w)); }
#define WARPTUNE_HALF_COMMON(H, H2, TWO, ONE) \
  WARPTUNE_FN bool __hisnan(H a) { return isnan(float(a)); } \
  WARPTUNE_FN int __hisinf(H a) { float v = float(a); return isinf(v) ? (v > 0 ? 1 : -1) : 0; } \
  WARPTUNE_HALF_COMPARE(H, H2, eq, ==, ONE) \
  WARPTUNE_HALF_COMPARE(H, H2, lt, <, ONE) \
  WARPTUNE_HALF_COMPARE(H, H2, le, <=, ONE) \
  WARPTUNE_HALF_COMPARE(H, H2, gt, >, ONE) \
  WARPTUNE_HALF_COMPARE(H, H2, ge, >=, ONE) \
  WARPTUNE_FN bool __hne(H a, H b) { return float(a) < float(b) || float(a) > float(b); } \
  WARPTUNE_FN bool __hneu(H a, H b) { return float(a) != float(b); } \
  WARPTUNE_FN H2 __hne2(H2 a, H2 b) { return __builtin_bit_cast(H2, (__hne(a.x, b.x) ? ONE : 0u) | (__hne(a.y, b.y) ? ONE << 16 : 0u)); } \
  WARPTUNE_FN bool __hbne2(H2 a, H2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); } \
  WARPTUNE_HALF_MEMORY(H, H2, __ldg) \
  WARPTUNE_HALF_MEMORY(H, H2, __ldca) \
  WARPTUNE_HALF_MEMORY(H, H2, __ldcg) \
  WARPTUNE_HALF_MEMORY(H, H2, __ldcs) \
  WARPTUNE_HALF_MEMORY(H, H2, __ldlu) \
  WARPTUNE_HALF_MEMORY(H, H2, __ldcv) \
  WARPTUNE_HALF_STORE(H, H2, __stwb) \
  WARPTUNE_HALF_STORE(H, H2, __stcg) \
  WARPTUNE_HALF_STORE(H, H2, __stcs) \
  WARPTUNE_HALF_STORE(H, H2, __stwt) \
  WARPTUNE_HALF_SHFL(H, H2, __shfl_sync) \
  WARPTUNE_HALF_SHFL(H, H2, __shfl_xor_sync) \
  WARPTUNE_HALF_SHFL(H, H2, __shfl_down_sync) \
  WARPTUNE_HALF_SHFL(H, H2, __shfl_up_sync) \
  WARPTUNE_FN H2 __lows2##TWO(H2 a, H2 b) { return H2(a.x, b.x); } \
  WARPTUNE_FN H2 __highs2##TWO(H2 a, H2 b) { return H2(a.y, b.y); } \
  WARPTUNE_FN H2 __low2##TWO(H2 a) { return H2(a.x, a.x); } \
  WARPTUNE_FN H2 __high2##TWO(H2 a) { return H2(a.y, a.y); } \
  WARPTUNE_FN H2 __lowhigh2highlow(H2 a) { return H2(a.y, a.x); }
#define WARPTUNE_HALF_OPERATORS(H, H2) \
  WARPTUNE_FN H operator+(H a, H b) { return __hadd(a, b); } \
  WARPTUNE_FN H operator-(H a, H b) { return __hsub(a, b); } \
  WARPTUNE_FN H operator*(H a, H b) { return __hmul(a, b); } \
  WARPTUNE_FN H operator/(H a, H b) { return __hdiv(a, b); } \
  WARPTUNE_FN H operator-(H a) { return __hneg(a); } \
  WARPTUNE_FN H operator+(H a) { return a; } \
  WARPTUNE_FN H &operator+=(H &a, H b) { return a = __hadd(a, b); } \
  WARPTUNE_FN H &operator-=(H &a, H b) { return a = __hsub(a, b); } \
  WARPTUNE_FN H &operator*=(H &a, H b) { return a = __hmul(a, b); } \
  WARPTUNE_FN H &operator/=(H &a, H b) { return a = __hdiv(a, b); } \
  WARPTUNE_FN H2 __h2div(H2 a, H2 b) { return H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); } \
  WARPTUNE_FN H2 operator+(H2 a, H2 b) { return __hadd2(a, b); } \
  WARPTUNE_FN H2 operator-(H2 a, H2 b) { return __hsub2(a, b); } \
  WARPTUNE_FN H2 operator*(H2 a, H2 b) { return __hmul2(a, b); } \
  WARPTUNE_FN H2 operator/(H2 a, H2 b) { return __h2div(a, b); } \
  WARPTUNE_FN H2 operator-(H2 a) { return __hneg2(a); } \
  WARPTUNE_FN H2 &operator+=(H2 &a, H2 b) { return a = __hadd2(a, b); } \
  WARPTUNE_FN H2 &operator-=(H2 &a, H2 b) { return a = __hsub2(a, b); } \
  WARPTUNE_FN H2 &operator*=(H2 &a, H2 b) { return a = __hmul2(a, b); } \
  WARPTUNE_FN H2 &operator/=(H2 &a, H2 b) { return a = __h2div(a, b); } \
  WARPTUNE_FN bool operator==(H2 a, H2 b) { return __hbeq2(a, b); } \
  WARPTUNE_FN bool operator!=(H2 a, H2 b) { return !__hbeq2(a, b); }
// Functions through those of single precision, of a value and of a pair.
#define WARPTUNE_HALF_OF(H, H2, NAME, CALL) \
  WARPTUNE_FN H h##NAME(H h) { float a = float(h); return H(CALL); } \
  WARPTUNE_FN H2 h2##NAME(H2 v) { return H2(h##NAME(v.x), h##NAME(v.y)); }
#define WARPTUNE_HALF_FUNCTIONS(H, H2) \
  WARPTUNE_HALF_OF(H, H2, exp, __expf(a)) \
  WARPTUNE_HALF_OF(H, H2, exp2, exp2f(a)) \
  WARPTUNE_HALF_OF(H, H2, exp10, exp10f(a)) \
  WARPTUNE_HALF_OF(H, H2, log, __logf(a)) \
  WARPTUNE_HALF_OF(H, H2, log2, __log2f(a)) \
  WARPTUNE_HALF_OF(H, H2, log10, __log10f(a)) \
  WARPTUNE_HALF_OF(H, H2, sqrt, sqrtf(a)) \
  WARPTUNE_HALF_OF(H, H2, rsqrt, rsqrtf(a)) \
  WARPTUNE_HALF_OF(H, H2, rcp, __fdividef(1.f, a)) \
  WARPTUNE_HALF_OF(H, H2, sin, sinf(a)) \
  WARPTUNE_HALF_OF(H, H2, cos, cosf(a)) \
  WARPTUNE_HALF_OF(H, H2, floor, floorf(a)) \
  WARPTUNE_HALF_OF(H, H2, ceil, ceilf(a)) \
  WARPTUNE_HALF_OF(H, H2, trunc, truncf(a)) \
  WARPTUNE_HALF_OF(H, H2, rint, rintf(a))
// atomicAdd where there is no instruction: a loop, as in CUDA.
#define WARPTUNE_HALF_ATOMIC_LOOP(T, BITS, PTX, REG, SUM)                                                                          \
  WARPTUNE_FN T atomicAdd(T *p, T v) {                                                                                             \
    BITS old = *(volatile BITS *)p, seen;                                                                                          \
    do {                                                                                                                           \
      seen = old;                                                                                                                  \
      BITS next = __builtin_bit_cast(BITS, SUM(__builtin_bit_cast(T, seen), v));                                                   \
      asm volatile("atom.cas." PTX " %0, [%1], %2, %3;" : "=" REG(old) : "l"(p), REG(seen), REG(next) : "memory");                 \
    } while (old != seen);                                                                                                         \
    return __builtin_bit_cast(T, old);                                                                                             \
  }
#define WARPTUNE_HALF_ATOMIC(T, BITS, PTX, REG)                                                                                    \
  WARPTUNE_FN T atomicAdd(T *p, T v) {                                                                                             \
    BITS r;                                                                                                                        \
    asm volatile("atom.add.noftz." PTX " %0, [%1], %2;" : "=" REG(r) : "l"(p), REG(__builtin_bit_cast(BITS, v)) : "memory");       \
    return __builtin_bit_cast(T, r);                                                                                               \
  }
