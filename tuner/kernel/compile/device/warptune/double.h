// Double precision: what is an instruction.
#pragma once
WARPTUNE_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WARPTUNE_FN double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
WARPTUNE_FN double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
WARPTUNE_FN double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
WARPTUNE_FN double __ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }
WARPTUNE_FN double __dsub_rn(double a, double b) { return __nvvm_add_rn_d(a, -b); }
WARPTUNE_FN double __dsqrt_rn(double a) { return __nvvm_sqrt_rn_d(a); }
WARPTUNE_FN double __drcp_rn(double a) { return __nvvm_rcp_rn_d(a); }
#define WARPTUNE_ROUNDED(INTRINSIC, NVVM)                                                                  \
  WARPTUNE_FN double __dadd_##INTRINSIC(double a, double b) { return __nvvm_add_##NVVM##_d(a, b); }        \
  WARPTUNE_FN double __dsub_##INTRINSIC(double a, double b) { return __nvvm_add_##NVVM##_d(a, -b); }       \
  WARPTUNE_FN double __dmul_##INTRINSIC(double a, double b) { return __nvvm_mul_##NVVM##_d(a, b); }        \
  WARPTUNE_FN double __ddiv_##INTRINSIC(double a, double b) { return __nvvm_div_##NVVM##_d(a, b); }        \
  WARPTUNE_FN double __drcp_##INTRINSIC(double a) { return __nvvm_rcp_##NVVM##_d(a); }                     \
  WARPTUNE_FN double __dsqrt_##INTRINSIC(double a) { return __nvvm_sqrt_##NVVM##_d(a); }                   \
  WARPTUNE_FN double __fma_##INTRINSIC(double a, double b, double c) { return __nvvm_fma_##NVVM##_d(a, b, c); }
WARPTUNE_ROUNDED(rz, rz)
WARPTUNE_ROUNDED(rd, rm)
WARPTUNE_ROUNDED(ru, rp)
#undef WARPTUNE_ROUNDED
WARPTUNE_FN double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
WARPTUNE_FN double rsqrt(double a) { return __nvvm_rsqrt_approx_d(a); }
WARPTUNE_FN double fabs(double a) { return __builtin_fabs(a); }
WARPTUNE_FN double abs(double a) { return __builtin_fabs(a); }
WARPTUNE_FN double fmin(double a, double b) { return __builtin_fmin(a, b); }
WARPTUNE_FN double fmax(double a, double b) { return __builtin_fmax(a, b); }
WARPTUNE_FN double min(double a, double b) { return __builtin_fmin(a, b); }
WARPTUNE_FN double max(double a, double b) { return __builtin_fmax(a, b); }
WARPTUNE_FN double floor(double a) { return __builtin_floor(a); }
WARPTUNE_FN double ceil(double a) { return __builtin_ceil(a); }
WARPTUNE_FN double trunc(double a) { return __builtin_trunc(a); }
WARPTUNE_FN double rint(double a) { double r; asm("cvt.rni.f64.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
// The reciprocal but for a unit in the last place, of what is far from the ends of the range: two steps of Newton's.
WARPTUNE_FN double warptune_over(double a) {
  double r = __nvvm_rcp_approx_ftz_d(a), e = __nvvm_fma_rn_d(-a, r, 1.0);
  return __nvvm_fma_rn_d(__nvvm_fma_rn_d(e, e, e), r, r);
}
