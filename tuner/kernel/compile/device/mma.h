// Products of matrices on tensor cores, as <mma.h> has them: nvcuda::wmma for halves, bfloats,
// bytes, tf32 and doubles, through inline PTX. Halves and bytes need sm_75 here, the others sm_80.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
namespace nvcuda {
namespace wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

// A fragment is the elements of a matrix that a lane has; which they are PTX leaves open.
template <class _E, int _N> struct warptune_elements {
  typedef _E element_type;
  enum { num_elements = _N };
  _E x[_N];
};
template <class _Use, int m, int n, int k, class _T, class _Layout = void> struct fragment;
template <class _F, class _V> WARPTUNE_FN void fill_fragment(_F &f, _V v) {
  for (int i = 0; i < _F::num_elements; i++) f.x[i] = (typename _F::element_type)v;
}
#if __CUDA_ARCH__ >= 800
WARPTUNE_FN float __float_to_tf32(float f) { unsigned u; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(f)); return __builtin_bit_cast(float, u); }
#endif

// Whether an address is known to be one of shared memory. Before 20 clang does not tell: loads and
// stores are generic then.
#if __clang_major__ >= 20
WARPTUNE_FN bool warptune_shared(const void *p) { return __nvvm_isspacep_shared(p); }
#else
WARPTUNE_FN bool warptune_shared(const void *) { return false; }
#endif

// Registers x[0], x[1], ... as PTX names them and as operands of inline PTX.
#define WARPTUNE_N1(x) "%[" #x "0]"
#define WARPTUNE_N2(x) WARPTUNE_N1(x) ",%[" #x "1]"
#define WARPTUNE_N4(x) WARPTUNE_N2(x) ",%[" #x "2],%[" #x "3]"
#define WARPTUNE_N8(x) WARPTUNE_N4(x) ",%[" #x "4],%[" #x "5],%[" #x "6],%[" #x "7]"
#define WARPTUNE_O1(x, c) [x##0] c(x[0])
#define WARPTUNE_O2(x, c) WARPTUNE_O1(x, c), [x##1] c(x[1])
#define WARPTUNE_O4(x, c) WARPTUNE_O2(x, c), [x##2] c(x[2]), [x##3] c(x[3])
#define WARPTUNE_O8(x, c) WARPTUNE_O4(x, c), [x##4] c(x[4]), [x##5] c(x[5]), [x##6] c(x[6]), [x##7] c(x[7])

#define WARPTUNE_WMMA_LOAD(OP, PTX, N, C)                                                                                                                                       \
  if (warptune_shared(p))                                                                                                                                                  \
    asm volatile("wmma.load." OP ".shared." PTX " {" WARPTUNE_N##N(r) "}, [%[p]], %[ldm];" : WARPTUNE_O##N(r, "=" C) : [p] "r"((unsigned)__cvta_generic_to_shared(p)), [ldm] "r"(ldm) : "memory"); \
  else                                                                                                                                                                     \
    asm volatile("wmma.load." OP "." PTX " {" WARPTUNE_N##N(r) "}, [%[p]], %[ldm];" : WARPTUNE_O##N(r, "=" C) : [p] "l"(p), [ldm] "r"(ldm) : "memory")
#define WARPTUNE_WMMA_STORE(OP, PTX, N, C)                                                                                                                                      \
  if (warptune_shared(p))                                                                                                                                                  \
    asm volatile("wmma.store." OP ".shared." PTX " [%[p]], {" WARPTUNE_N##N(r) "}, %[ldm];" ::[p] "r"((unsigned)__cvta_generic_to_shared(p)), [ldm] "r"(ldm), WARPTUNE_O##N(r, C) : "memory"); \
  else                                                                                                                                                                     \
    asm volatile("wmma.store." OP "." PTX " [%[p]], {" WARPTUNE_N##N(r) "}, %[ldm];" ::[p] "l"(p), [ldm] "r"(ldm), WARPTUNE_O##N(r, C) : "memory")

// A factor is matrix_a or matrix_b of elements T, in memory E, in N registers R of constraint C.
#define WARPTUNE_FACTOR(U, m, n, k, T, E, PTX, N, R, C)                                                                        \
  template <class _L> struct fragment<matrix_##U, m, n, k, T, _L> : warptune_elements<E, N * sizeof(R) / sizeof(E)> {};          \
  WARPTUNE_FACTOR_OF(U, m, n, k, T, E, PTX, N, R, C, row)                                                                      \
  WARPTUNE_FACTOR_OF(U, m, n, k, T, E, PTX, N, R, C, col)
#define WARPTUNE_FACTOR_OF(U, m, n, k, T, E, PTX, N, R, C, LAYOUT)                                                             \
  WARPTUNE_FN void load_matrix_sync(fragment<matrix_##U, m, n, k, T, LAYOUT##_major> &f, const E *p, unsigned ldm) {           \
    R r[N];                                                                                                                    \
    WARPTUNE_WMMA_LOAD(#U ".sync.aligned." #LAYOUT ".m" #m "n" #n "k" #k, PTX, N, C);                                               \
    __builtin_memcpy(f.x, r, sizeof r);                                                                                        \
  }
#define WARPTUNE_SUM(m, n, k, E, PTX, N, R, C)                                                                                 \
  template <> struct fragment<accumulator, m, n, k, E> : warptune_elements<E, N * sizeof(R) / sizeof(E)> {};                   \
  WARPTUNE_FN void load_matrix_sync(fragment<accumulator, m, n, k, E> &f, const E *p, unsigned ldm, layout_t layout) {         \
    R r[N];                                                                                                                    \
    if (layout == mem_row_major) { WARPTUNE_WMMA_LOAD("c.sync.aligned.row.m" #m "n" #n "k" #k, PTX, N, C); }                        \
    else { WARPTUNE_WMMA_LOAD("c.sync.aligned.col.m" #m "n" #n "k" #k, PTX, N, C); }                                                \
    __builtin_memcpy(f.x, r, sizeof r);                                                                                        \
  }                                                                                                                            \
  WARPTUNE_FN void store_matrix_sync(E *p, const fragment<accumulator, m, n, k, E> &f, unsigned ldm, layout_t layout) {        \
    R r[N];                                                                                                                    \
    __builtin_memcpy(r, f.x, sizeof r);                                                                                        \
    if (layout == mem_row_major) { WARPTUNE_WMMA_STORE("d.sync.aligned.row.m" #m "n" #n "k" #k, PTX, N, C); }                       \
    else { WARPTUNE_WMMA_STORE("d.sync.aligned.col.m" #m "n" #n "k" #k, PTX, N, C); }                                               \
  }

// The product of factors in NA and NB registers, with sums of elements E in ND registers.
#define WARPTUNE_PRODUCT(m, n, k, T, E, PTX, NA, NB, RA, CA, ND, RD, CD)                                                       \
  WARPTUNE_PRODUCT_OF(m, n, k, T, E, PTX, NA, NB, RA, CA, ND, RD, CD, row, row)                                                \
  WARPTUNE_PRODUCT_OF(m, n, k, T, E, PTX, NA, NB, RA, CA, ND, RD, CD, row, col)                                                \
  WARPTUNE_PRODUCT_OF(m, n, k, T, E, PTX, NA, NB, RA, CA, ND, RD, CD, col, row)                                                \
  WARPTUNE_PRODUCT_OF(m, n, k, T, E, PTX, NA, NB, RA, CA, ND, RD, CD, col, col)
#define WARPTUNE_PRODUCT_OF(m, n, k, T, E, PTX, NA, NB, RA, CA, ND, RD, CD, LA, LB)                                            \
  WARPTUNE_FN void mma_sync(fragment<accumulator, m, n, k, E> &fd, const fragment<matrix_a, m, n, k, T, LA##_major> &fa,       \
                            const fragment<matrix_b, m, n, k, T, LB##_major> &fb, const fragment<accumulator, m, n, k, E> &fc) { \
    RA a[NA], b[NB];                                                                                                           \
    RD c[ND], d[ND];                                                                                                           \
    __builtin_memcpy(a, fa.x, sizeof a);                                                                                       \
    __builtin_memcpy(b, fb.x, sizeof b);                                                                                       \
    __builtin_memcpy(c, fc.x, sizeof c);                                                                                       \
    asm volatile("wmma.mma.sync.aligned." #LA "." #LB ".m" #m "n" #n "k" #k "." PTX " {" WARPTUNE_N##ND(d) "}, {" WARPTUNE_N##NA(a) "}, {" WARPTUNE_N##NB(b) "}, {" WARPTUNE_N##ND(c) "};" \
                 : WARPTUNE_O##ND(d, "=" CD)                                                                                   \
                 : WARPTUNE_O##NA(a, CA), WARPTUNE_O##NB(b, CA), WARPTUNE_O##ND(c, CD));                                       \
    __builtin_memcpy(fd.x, d, sizeof d);                                                                                       \
  }

#define WARPTUNE_SHAPE(m, n)                                                                                                   \
  WARPTUNE_FACTOR(a, m, n, 16, __half, __half, "f16", 8, unsigned, "r")                                                        \
  WARPTUNE_FACTOR(b, m, n, 16, __half, __half, "f16", 8, unsigned, "r")                                                        \
  WARPTUNE_SUM(m, n, 16, float, "f32", 8, float, "f")                                                                          \
  WARPTUNE_SUM(m, n, 16, __half, "f16", 4, unsigned, "r")                                                                      \
  WARPTUNE_SUM(m, n, 16, int, "s32", 8, int, "r")                                                                              \
  WARPTUNE_PRODUCT(m, n, 16, __half, float, "f32.f32", 8, 8, unsigned, "r", 8, float, "f")                                     \
  WARPTUNE_PRODUCT(m, n, 16, __half, __half, "f16.f16", 8, 8, unsigned, "r", 4, unsigned, "r")
#define WARPTUNE_BYTES(m, n, T, PTX, A, B)                                                                                     \
  WARPTUNE_FACTOR(a, m, n, 16, T, T, PTX, A, unsigned, "r")                                                                    \
  WARPTUNE_FACTOR(b, m, n, 16, T, T, PTX, B, unsigned, "r")                                                                    \
  WARPTUNE_PRODUCT(m, n, 16, T, int, "s32." PTX "." PTX ".s32", A, B, unsigned, "r", 8, int, "r")
#define WARPTUNE_BFLOATS(m, n, A, B)                                                                                           \
  WARPTUNE_FACTOR(a, m, n, 16, __nv_bfloat16, __nv_bfloat16, "bf16", A, unsigned, "r")                                         \
  WARPTUNE_FACTOR(b, m, n, 16, __nv_bfloat16, __nv_bfloat16, "bf16", B, unsigned, "r")                                         \
  WARPTUNE_PRODUCT(m, n, 16, __nv_bfloat16, float, "f32.bf16.bf16.f32", A, B, unsigned, "r", 8, float, "f")

WARPTUNE_SHAPE(16, 16)
WARPTUNE_SHAPE(32, 8)
WARPTUNE_SHAPE(8, 32)
WARPTUNE_BYTES(16, 16, signed char, "s8", 2, 2)
WARPTUNE_BYTES(32, 8, signed char, "s8", 4, 1)
WARPTUNE_BYTES(8, 32, signed char, "s8", 1, 4)
WARPTUNE_BYTES(16, 16, unsigned char, "u8", 2, 2)
WARPTUNE_BYTES(32, 8, unsigned char, "u8", 4, 1)
WARPTUNE_BYTES(8, 32, unsigned char, "u8", 1, 4)
#if __CUDA_ARCH__ >= 800
WARPTUNE_BFLOATS(16, 16, 4, 4)
WARPTUNE_BFLOATS(32, 8, 8, 2)
WARPTUNE_BFLOATS(8, 32, 2, 8)
WARPTUNE_FACTOR(a, 16, 16, 8, precision::tf32, float, "tf32", 4, unsigned, "r")
WARPTUNE_FACTOR(b, 16, 16, 8, precision::tf32, float, "tf32", 4, unsigned, "r")
WARPTUNE_SUM(16, 16, 8, float, "f32", 8, float, "f")
WARPTUNE_PRODUCT(16, 16, 8, precision::tf32, float, "f32.tf32.tf32.f32", 4, 4, unsigned, "r", 8, float, "f")
WARPTUNE_FACTOR(a, 8, 8, 4, double, double, "f64", 1, double, "d")
WARPTUNE_FACTOR(b, 8, 8, 4, double, double, "f64", 1, double, "d")
WARPTUNE_SUM(8, 8, 4, double, "f64", 2, double, "d")
WARPTUNE_PRODUCT(8, 8, 4, double, double, "f64.f64.f64.f64", 1, 1, double, "d", 2, double, "d")
#endif
#undef WARPTUNE_N1
#undef WARPTUNE_N2
#undef WARPTUNE_N4
#undef WARPTUNE_N8
#undef WARPTUNE_O1
#undef WARPTUNE_O2
#undef WARPTUNE_O4
#undef WARPTUNE_O8
#undef WARPTUNE_WMMA_LOAD
#undef WARPTUNE_WMMA_STORE
#undef WARPTUNE_FACTOR
#undef WARPTUNE_FACTOR_OF
#undef WARPTUNE_SUM
#undef WARPTUNE_PRODUCT
#undef WARPTUNE_PRODUCT_OF
#undef WARPTUNE_SHAPE
#undef WARPTUNE_BYTES
#undef WARPTUNE_BFLOATS
}  // namespace wmma
}  // namespace nvcuda
