// Integer intrinsics and the overloads of min, max and abs.
#pragma once
WARPTUNE_FN int __popc(unsigned v) { return __builtin_popcount(v); }
WARPTUNE_FN int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
WARPTUNE_FN int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
WARPTUNE_FN int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
WARPTUNE_FN int __ffs(int v) { return __builtin_ffs(v); }
WARPTUNE_FN int __ffsll(long long v) { return __builtin_ffsll(v); }
WARPTUNE_FN unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
WARPTUNE_FN unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
WARPTUNE_FN int __mul24(int a, int b) { int r; asm("mul24.lo.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
WARPTUNE_FN unsigned __umul24(unsigned a, unsigned b) { unsigned r; asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
WARPTUNE_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
WARPTUNE_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
WARPTUNE_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
WARPTUNE_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { unsigned r; asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(s)); return r; }
WARPTUNE_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { unsigned r; asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(s)); return r; }
WARPTUNE_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { unsigned r; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s)); return r; }
WARPTUNE_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { unsigned r; asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
WARPTUNE_FN unsigned __sad(int a, int b, unsigned c) { unsigned r; asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
WARPTUNE_FN long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
// Means without overflow, rounded down and up.
WARPTUNE_FN int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
WARPTUNE_FN int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
WARPTUNE_FN unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
WARPTUNE_FN unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
#if __CUDA_ARCH__ >= 610
WARPTUNE_FN int __dp4a(int a, int b, int c) { int r; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
WARPTUNE_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
#define WARPTUNE_DP2A(NAME, HALF)                                                                                                                                        \
  WARPTUNE_FN int NAME(int a, int b, int c) { int r; asm("dp2a." HALF ".s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }                        \
  WARPTUNE_FN unsigned NAME(unsigned a, unsigned b, unsigned c) { unsigned r; asm("dp2a." HALF ".u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
WARPTUNE_DP2A(__dp2a_lo, "lo")
WARPTUNE_DP2A(__dp2a_hi, "hi")
#undef WARPTUNE_DP2A
#endif

#define WARPTUNE_MINMAX(T)                                  \
  WARPTUNE_FN T min(T a, T b) { return a < b ? a : b; }     \
  WARPTUNE_FN T max(T a, T b) { return a > b ? a : b; }
WARPTUNE_MINMAX(int)
WARPTUNE_MINMAX(unsigned)
WARPTUNE_MINMAX(long)
WARPTUNE_MINMAX(unsigned long)
WARPTUNE_MINMAX(long long)
WARPTUNE_MINMAX(unsigned long long)
#undef WARPTUNE_MINMAX
// Mixed signs convert to unsigned, as the CUDA headers' overloads do.
WARPTUNE_FN unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
WARPTUNE_FN unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
WARPTUNE_FN unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
WARPTUNE_FN unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
WARPTUNE_FN unsigned umin(unsigned a, unsigned b) { return min(a, b); }
WARPTUNE_FN unsigned umax(unsigned a, unsigned b) { return max(a, b); }
WARPTUNE_FN long long llmin(long long a, long long b) { return min(a, b); }
WARPTUNE_FN long long llmax(long long a, long long b) { return max(a, b); }
WARPTUNE_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
WARPTUNE_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
WARPTUNE_FN int abs(int v) { return v < 0 ? -v : v; }
WARPTUNE_FN long abs(long v) { return v < 0 ? -v : v; }
WARPTUNE_FN long long abs(long long v) { return v < 0 ? -v : v; }
