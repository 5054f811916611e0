// SIMD in a word: the CUDA Math API's "SIMD Intrinsics" of two and four parts, and those of the least and greatest
// of three, of sums and with a lower bound of 0 ("Integer Intrinsics", __vi*). What they do is in simdparts.h.
#pragma once
#define WARPTUNE_SIMD1(NAME)                                                                  \
  WARPTUNE_FN unsigned __v##NAME##2(unsigned x) { return warptune_parts<0x80008000u>::NAME(x); } \
  WARPTUNE_FN unsigned __v##NAME##4(unsigned x) { return warptune_parts<0x80808080u>::NAME(x); }
WARPTUNE_SIMD1(abs)
WARPTUNE_SIMD1(absss)
WARPTUNE_SIMD1(neg)
WARPTUNE_SIMD1(negss)
#undef WARPTUNE_SIMD1

#define WARPTUNE_SIMD2(NAME, DOES)                                                                           \
  WARPTUNE_FN unsigned __v##NAME##2(unsigned x, unsigned y) { return warptune_parts<0x80008000u>::DOES(x, y); } \
  WARPTUNE_FN unsigned __v##NAME##4(unsigned x, unsigned y) { return warptune_parts<0x80808080u>::DOES(x, y); }
WARPTUNE_SIMD2(add, add)
WARPTUNE_SIMD2(addss, addss)
WARPTUNE_SIMD2(addus, addus)
WARPTUNE_SIMD2(sub, sub)
WARPTUNE_SIMD2(subss, subss)
WARPTUNE_SIMD2(subus, subus)
WARPTUNE_SIMD2(absdiffs, absdiffs)
WARPTUNE_SIMD2(absdiffu, absdiffu)
WARPTUNE_SIMD2(avgs, half_sum_away)
WARPTUNE_SIMD2(avgu, half_sum_up)
WARPTUNE_SIMD2(haddu, half_sum)
WARPTUNE_SIMD2(maxs, maxs)
WARPTUNE_SIMD2(maxu, maxu)
WARPTUNE_SIMD2(mins, mins)
WARPTUNE_SIMD2(minu, minu)
WARPTUNE_SIMD2(sads, sads)
WARPTUNE_SIMD2(sadu, sadu)
#undef WARPTUNE_SIMD2

#define WARPTUNE_SIMD_COMPARISON(NAME)                                                                                                                                  \
  WARPTUNE_FN unsigned __vcmp##NAME##2(unsigned x, unsigned y) { using parts = warptune_parts<0x80008000u>; return parts::cmp(parts::NAME(x, y)); } \
  WARPTUNE_FN unsigned __vcmp##NAME##4(unsigned x, unsigned y) { using parts = warptune_parts<0x80808080u>; return parts::cmp(parts::NAME(x, y)); } \
  WARPTUNE_FN unsigned __vset##NAME##2(unsigned x, unsigned y) { using parts = warptune_parts<0x80008000u>; return parts::set(parts::NAME(x, y)); } \
  WARPTUNE_FN unsigned __vset##NAME##4(unsigned x, unsigned y) { using parts = warptune_parts<0x80808080u>; return parts::set(parts::NAME(x, y)); }
WARPTUNE_SIMD_COMPARISON(eq)
WARPTUNE_SIMD_COMPARISON(ne)
WARPTUNE_SIMD_COMPARISON(ges)
WARPTUNE_SIMD_COMPARISON(geu)
WARPTUNE_SIMD_COMPARISON(gts)
WARPTUNE_SIMD_COMPARISON(gtu)
WARPTUNE_SIMD_COMPARISON(les)
WARPTUNE_SIMD_COMPARISON(leu)
WARPTUNE_SIMD_COMPARISON(lts)
WARPTUNE_SIMD_COMPARISON(ltu)
#undef WARPTUNE_SIMD_COMPARISON

// The greater or lesser, or 0 if that is more: one instruction from Hopper on.
#if __CUDA_ARCH__ >= 900
#define WARPTUNE_RELU(NAME, T, OP, OTHERWISE) \
  WARPTUNE_FN T NAME(T x, T y) { T r; asm(OP " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); return r; }
#else
#define WARPTUNE_RELU(NAME, T, OP, OTHERWISE) \
  WARPTUNE_FN T NAME(T x, T y) { return OTHERWISE; }
#endif
WARPTUNE_RELU(__vimax_s32_relu, int, "max.s32.relu", max(max(x, y), 0))
WARPTUNE_RELU(__vimin_s32_relu, int, "min.s32.relu", max(min(x, y), 0))
WARPTUNE_RELU(__vimax_s16x2_relu, unsigned, "max.s16x2.relu", __vmaxs2(__vmaxs2(x, y), 0))
WARPTUNE_RELU(__vimin_s16x2_relu, unsigned, "min.s16x2.relu", __vmaxs2(__vmins2(x, y), 0))
#undef WARPTUNE_RELU

// Of three, and of a sum and another. A sum wraps.
WARPTUNE_FN int warptune_sum(int x, int y) { return (int)((unsigned)x + (unsigned)y); }
WARPTUNE_FN unsigned warptune_sum(unsigned x, unsigned y) { return x + y; }
#define WARPTUNE_OF3(EXTREME, SUFFIX, T, ADD, TWO)                                                        \
  WARPTUNE_FN T __vi##EXTREME##3_##SUFFIX(T x, T y, T z) { return TWO(TWO(x, y), z); }              \
  WARPTUNE_FN T __viadd##EXTREME##_##SUFFIX(T x, T y, T z) { return TWO(ADD(x, y), z); }
WARPTUNE_OF3(max, s32, int, warptune_sum, max)
WARPTUNE_OF3(min, s32, int, warptune_sum, min)
WARPTUNE_OF3(max, u32, unsigned, warptune_sum, max)
WARPTUNE_OF3(min, u32, unsigned, warptune_sum, min)
WARPTUNE_OF3(max, s16x2, unsigned, __vadd2, __vmaxs2)
WARPTUNE_OF3(min, s16x2, unsigned, __vadd2, __vmins2)
WARPTUNE_OF3(max, u16x2, unsigned, __vadd2, __vmaxu2)
WARPTUNE_OF3(min, u16x2, unsigned, __vadd2, __vminu2)
WARPTUNE_OF3(max, s32_relu, int, warptune_sum, __vimax_s32_relu)
WARPTUNE_OF3(min, s32_relu, int, warptune_sum, __vimin_s32_relu)
WARPTUNE_OF3(max, s16x2_relu, unsigned, __vadd2, __vimax_s16x2_relu)
WARPTUNE_OF3(min, s16x2_relu, unsigned, __vadd2, __vimin_s16x2_relu)
#undef WARPTUNE_OF3

// Which of the two it was: true of the first, and where they are alike.
#define WARPTUNE_WHICH(EXTREME, SUFFIX, T, IS) \
  WARPTUNE_FN T __vib##EXTREME##_##SUFFIX(T x, T y, bool *first) { *first = x IS y; return *first ? x : y; }
WARPTUNE_WHICH(max, s32, int, >=)
WARPTUNE_WHICH(max, u32, unsigned, >=)
WARPTUNE_WHICH(min, s32, int, <=)
WARPTUNE_WHICH(min, u32, unsigned, <=)
#undef WARPTUNE_WHICH
#define WARPTUNE_WHICH2(NAME, TWO)                                              \
  WARPTUNE_FN unsigned NAME(unsigned x, unsigned y, bool *high, bool *low) {    \
    unsigned r = TWO(x, y), other = r ^ x;                                      \
    *high = other < 0x10000u;                                                   \
    *low = !(other & 0xffffu);                                                  \
    return r;                                                                   \
  }
WARPTUNE_WHICH2(__vibmax_s16x2, __vmaxs2)
WARPTUNE_WHICH2(__vibmax_u16x2, __vmaxu2)
WARPTUNE_WHICH2(__vibmin_s16x2, __vmins2)
WARPTUNE_WHICH2(__vibmin_u16x2, __vminu2)
#undef WARPTUNE_WHICH2
