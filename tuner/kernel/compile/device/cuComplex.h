// Complex numbers as cuComplex.h has them: pairs of floats and of doubles, and functions of them.
#pragma once
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define WARPTUNE_COMPLEX(C, R, MAKE, F, FABS, HYPOT)                                                                             \
  WARPTUNE_FN C MAKE(R x, R y) { C c; c.x = x; c.y = y; return c; }                                                              \
  WARPTUNE_FN R cuCreal##F(C a) { return a.x; }                                                                                  \
  WARPTUNE_FN R cuCimag##F(C a) { return a.y; }                                                                                  \
  WARPTUNE_FN C cuConj##F(C a) { return MAKE(a.x, -a.y); }                                                                       \
  WARPTUNE_FN C cuCadd##F(C a, C b) { return MAKE(a.x + b.x, a.y + b.y); }                                                       \
  WARPTUNE_FN C cuCsub##F(C a, C b) { return MAKE(a.x - b.x, a.y - b.y); }                                                       \
  WARPTUNE_FN C cuCmul##F(C a, C b) { return MAKE(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }                               \
  WARPTUNE_FN C cuCfma##F(C a, C b, C c) { return MAKE(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x); }              \
  /* Scaled, so that no square overflows. */                                                                                     \
  WARPTUNE_FN C cuCdiv##F(C a, C b) {                                                                                            \
    R s = (R)1 / (FABS(b.x) + FABS(b.y)), p = b.x * s, q = b.y * s, r = (R)1 / (p * p + q * q);                                  \
    return MAKE((a.x * s * p + a.y * s * q) * r, (a.y * s * p - a.x * s * q) * r);                                               \
  }                                                                                                                              \
  WARPTUNE_FN R cuCabs##F(C a) { return HYPOT(a.x, a.y); }
WARPTUNE_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, f, fabsf, hypotf)
WARPTUNE_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, , fabs, hypot)
#undef WARPTUNE_COMPLEX
WARPTUNE_FN cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
WARPTUNE_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_cuDoubleComplex(a.x, a.y); }
WARPTUNE_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return make_cuFloatComplex((float)a.x, (float)a.y); }
