// Two or four parts of a word at once: what the intrinsics of simd.h are. H is the topmost bit of each part, L the
// others.
// Sources: Warren, Hacker's Delight, 2nd ed.: chapter 2 (absolute values, averages, comparison
// predicates, overflow, sums and differences of parts) and 6-1 (a part that is zero). What each has to be is the
// CUDA Math API's "SIMD Intrinsics". Of several ways it is mostly the one nearest in sm_90
// instructions to nvcc 13.0's.
#pragma once
template <unsigned H>
struct warptune_parts {
  static constexpr unsigned L = ~H, four = H == 0x80808080u, down = four ? 7 : 15, one = H >> down;

  // spread makes every part all of its topmost bit.
  WARPTUNE_FN unsigned spread(unsigned x) {
    unsigned r;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(r) : "r"(x), "n"(four ? 0xba98 : 0xbb99));
    return r;
  }
  WARPTUNE_FN unsigned choose(unsigned m, unsigned x, unsigned y) { return (x & m) | (y & ~m); }

  // Sums without their topmost carries, and differences with a topmost bit that says that nothing was borrowed.
  WARPTUNE_FN unsigned low_sum(unsigned x, unsigned y) { return (x & L) + (y & L); }
  WARPTUNE_FN unsigned low_difference(unsigned x, unsigned y) { return (x | H) - (y & L); }

#if __CUDA_ARCH__ >= 900
#define WARPTUNE_PAIR(NAME, OP) \
  WARPTUNE_FN unsigned NAME(unsigned x, unsigned y) { unsigned r; asm(OP " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); return r; }
  WARPTUNE_PAIR(pair_sum, "add.u16x2")
  WARPTUNE_PAIR(pair_maxs, "max.s16x2")
  WARPTUNE_PAIR(pair_maxu, "max.u16x2")
  WARPTUNE_PAIR(pair_mins, "min.s16x2")
  WARPTUNE_PAIR(pair_minu, "min.u16x2")
#undef WARPTUNE_PAIR
  WARPTUNE_FN unsigned pair_difference(unsigned x, unsigned y) {
    unsigned r;
    asm("{\n.reg .b16 l, h, m, g;\n.reg .b32 n;\nmov.b32 {l, h}, %2;\nneg.s16 m, l;\nneg.s16 g, h;\nmov.b32 n, {m, g};\nadd.s16x2 %0, %1, n;\n}" : "=r"(r) : "r"(x), "r"(y));
    return r;
  }
  static constexpr bool pairs = !four;
#else
  WARPTUNE_FN unsigned pair_sum(unsigned, unsigned) { return 0; }
  WARPTUNE_FN unsigned pair_difference(unsigned, unsigned) { return 0; }
  WARPTUNE_FN unsigned pair_maxs(unsigned, unsigned) { return 0; }
  WARPTUNE_FN unsigned pair_maxu(unsigned, unsigned) { return 0; }
  WARPTUNE_FN unsigned pair_mins(unsigned, unsigned) { return 0; }
  WARPTUNE_FN unsigned pair_minu(unsigned, unsigned) { return 0; }
  static constexpr bool pairs = false;
#endif
  WARPTUNE_FN unsigned add(unsigned x, unsigned y) { return pairs ? pair_sum(x, y) : low_sum(x, y) ^ ((x ^ y) & H); }
  WARPTUNE_FN unsigned sub(unsigned x, unsigned y) { return pairs ? pair_difference(x, y) : low_difference(x, y) ^ (~(x ^ y) & H); }
  WARPTUNE_FN unsigned neg(unsigned x) { return pairs ? pair_sum(~x, one) : (H - (x & L)) ^ (~x & H); }

  // Comparisons, in the topmost bits; the others hold anything.
  WARPTUNE_FN unsigned ne(unsigned x, unsigned y) { unsigned z = x ^ y; return ((z & L) + L) | z; }
  WARPTUNE_FN unsigned eq(unsigned x, unsigned y) { return ~ne(x, y); }
  WARPTUNE_FN unsigned geu(unsigned x, unsigned y) { unsigned d = low_difference(x, y); return d ^ ((x ^ y) & (d ^ x)); }
  WARPTUNE_FN unsigned ges(unsigned x, unsigned y) { unsigned d = low_difference(x, y); return d ^ ((x ^ y) & (d ^ y)); }
  WARPTUNE_FN unsigned gtu(unsigned x, unsigned y) { return four ? ~geu(y, x) : half_sum(x, ~y); }
  WARPTUNE_FN unsigned gts(unsigned x, unsigned y) { return ~ges(y, x); }
  WARPTUNE_FN unsigned leu(unsigned x, unsigned y) { return geu(y, x); }
  WARPTUNE_FN unsigned les(unsigned x, unsigned y) { return ges(y, x); }
  WARPTUNE_FN unsigned ltu(unsigned x, unsigned y) { return gtu(y, x); }
  WARPTUNE_FN unsigned lts(unsigned x, unsigned y) { return gts(y, x); }
  WARPTUNE_FN unsigned cmp(unsigned bits) { return spread(bits); }
  WARPTUNE_FN unsigned set(unsigned bits) { return (bits & H) >> down; }

  WARPTUNE_FN unsigned maxs(unsigned x, unsigned y) { return pairs ? pair_maxs(x, y) : choose(spread(ges(x, y)), x, y); }
  WARPTUNE_FN unsigned maxu(unsigned x, unsigned y) { return pairs ? pair_maxu(x, y) : choose(spread(geu(x, y)), x, y); }
  WARPTUNE_FN unsigned mins(unsigned x, unsigned y) { return pairs ? pair_mins(x, y) : choose(spread(ges(x, y)), y, x); }
  WARPTUNE_FN unsigned minu(unsigned x, unsigned y) { return pairs ? pair_minu(x, y) : choose(spread(geu(x, y)), y, x); }

  // Halves of what two parts differ in, as a number that the compiler takes apart no further.
  WARPTUNE_FN unsigned half_apart(unsigned x, unsigned y) {
    unsigned r = (x ^ y) & ~one;
    if (!__builtin_constant_p(r)) asm("" : "+r"(r));
    return r >> 1;
  }
  WARPTUNE_FN unsigned half_sum(unsigned x, unsigned y) { return (x & y) + half_apart(x, y); }      // rounded down
  WARPTUNE_FN unsigned half_sum_up(unsigned x, unsigned y) { return (x | y) - half_apart(x, y); }
  // Of signed numbers, half a number away from zero.
  WARPTUNE_FN unsigned half_sum_away(unsigned x, unsigned y) {
    unsigned t = half_sum(x, y) ^ ((x ^ y) & H);
    return t + ((x ^ y) & one & ~(t >> down));
  }

  // Sums and differences that stay at the greatest or least number.
  WARPTUNE_FN unsigned addus(unsigned x, unsigned y) {
    unsigned s = pairs ? pair_sum(x, y) : low_sum(x, y), carry = pairs ? (x & y) | ((x | y) & ~s) : (x & y) | ((x | y) & s);
    return (pairs ? s : s ^ ((x ^ y) & H)) | spread(carry);
  }
  WARPTUNE_FN unsigned subus(unsigned x, unsigned y) {
    if (pairs) {
      unsigned d = pair_difference(x, y);
      return d & ~spread(d ^ ((x ^ y) & (d ^ y)));
    }
    unsigned d = low_difference(x, y);
    return (d ^ (~(x ^ y) & H)) & spread(d ^ ((x ^ y) & (d ^ x)));
  }
  WARPTUNE_FN unsigned saturate(unsigned x, unsigned r, unsigned over) { unsigned m = spread(over); return ((spread(x) ^ L) & m) | (r & ~m); }
  WARPTUNE_FN unsigned addss(unsigned x, unsigned y) { unsigned s = add(x, y); return saturate(x, s, ~(x ^ y) & (x ^ s)); }
  WARPTUNE_FN unsigned subss(unsigned x, unsigned y) { unsigned d = sub(x, y); return saturate(x, d, (x ^ y) & (x ^ d)); }
  WARPTUNE_FN unsigned negss(unsigned x) { unsigned n = neg(x); return n - ((x & n & H) >> down); }

  // Absolute values and differences: r where m is 0, -r where it is all ones.
  WARPTUNE_FN unsigned negated(unsigned r, unsigned m) { return (r ^ m) + (m & one); }
  // Of parts of 8 bits it is one instruction (machine code of sm_80 and sm_90).
  WARPTUNE_FN unsigned quad_apart(unsigned x, unsigned y) {
    unsigned r;
    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(0));
    return r;
  }
  WARPTUNE_FN unsigned abs(unsigned x) { return four ? quad_apart(x ^ H, H) : negated(x, spread(x)); }
  WARPTUNE_FN unsigned absss(unsigned x) { unsigned r = abs(x); return r ^ spread(r); }
  WARPTUNE_FN unsigned absdiffu(unsigned x, unsigned y) {
    if (four) return quad_apart(x, y);
    unsigned d = low_difference(x, y), m = spread(~(d ^ ((x ^ y) & (d ^ x))));
    return negated(d ^ (~(x ^ y) & H), m);
  }
  WARPTUNE_FN unsigned absdiffs(unsigned x, unsigned y) {
    if (four) return quad_apart(x ^ H, y ^ H);
    unsigned d = sub(x, y);
    return negated(d, spread(d ^ ((x ^ y) & (d ^ x))));
  }
  // Sums of the parts.
  WARPTUNE_FN unsigned sum(unsigned r) {
    if (four) {
      unsigned odd = r & 0xff00ff00u;
      asm("" : "+r"(odd));
      r = (r & 0x00ff00ffu) + (odd >> 8);
    }
    return (r & 0xffffu) + (r >> 16);
  }
  WARPTUNE_FN unsigned sads(unsigned x, unsigned y) { return sum(absdiffs(x, y)); }
  WARPTUNE_FN unsigned sadu(unsigned x, unsigned y) {
    if (four) {
      unsigned r;
      asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(0));
      return r;
    }
    int low = (int)(x & 0xffff) - (int)(y & 0xffff), high = (int)(x >> 16) - (int)(y >> 16);
    return (unsigned)((low < 0 ? -low : low) + (high < 0 ? -high : high));
  }
};
