// Single-precision mathematics: what is one instruction is that instruction; sine, cosine,
// exponential, logarithm and power are short polynomials good to a few units in the last
// place (the coefficients are those of fdlibm and Cephes), because libdevice is not here.
// With -use_fast_math they are the special-function unit's approximations, as under nvcc.
#pragma once

// The instruction in the form that the compilation's treatment of subnormals asks for.
#ifdef WARPTUNE_FTZ
#define WARPTUNE_NVVM(NAME) __nvvm_##NAME##_ftz_f
#else
#define WARPTUNE_NVVM(NAME) __nvvm_##NAME##_f
#endif

WARPTUNE_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPTUNE_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
WARPTUNE_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
WARPTUNE_FN float fabsf(float a) { return __builtin_fabsf(a); }
WARPTUNE_FN float floorf(float a) { return __builtin_floorf(a); }
WARPTUNE_FN float ceilf(float a) { return __builtin_ceilf(a); }
WARPTUNE_FN float truncf(float a) { return __builtin_truncf(a); }
WARPTUNE_FN float rintf(float a) { float r; asm("cvt.rni.f32.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
WARPTUNE_FN float nearbyintf(float a) { return rintf(a); }
WARPTUNE_FN float copysignf(float a, float b) { return __uint_as_float((__float_as_uint(a) & 0x7fffffffu) | (__float_as_uint(b) & 0x80000000u)); }
WARPTUNE_FN float roundf(float a) { float t = truncf(a); return fabsf(a - t) >= 0.5f ? t + copysignf(1.f, a) : t; }
WARPTUNE_FN bool isnan(float a) { return a != a; }
WARPTUNE_FN bool isinf(float a) { return fabsf(a) == INFINITY; }
WARPTUNE_FN bool isfinite(float a) { return fabsf(a) < INFINITY; }
#if defined(WARPTUNE_FAST_MATH) || defined(WARPTUNE_APPROX_SQRT)
WARPTUNE_FN float sqrtf(float a) { return WARPTUNE_NVVM(sqrt_approx)(a); }
#else
WARPTUNE_FN float sqrtf(float a) { return WARPTUNE_NVVM(sqrt_rn)(a); }
#endif
WARPTUNE_FN float rsqrtf(float a) { return WARPTUNE_NVVM(rsqrt_approx)(a); }
WARPTUNE_FN float __fsqrt_rn(float a) { return WARPTUNE_NVVM(sqrt_rn)(a); }
WARPTUNE_FN float __frsqrt_rn(float a) { return WARPTUNE_NVVM(rsqrt_approx)(a); }
WARPTUNE_FN float __frcp_rn(float a) { return WARPTUNE_NVVM(rcp_rn)(a); }
WARPTUNE_FN float __fmaf_rn(float a, float b, float c) { return WARPTUNE_NVVM(fma_rn)(a, b, c); }
WARPTUNE_FN float __fadd_rn(float a, float b) { return WARPTUNE_NVVM(add_rn)(a, b); }
WARPTUNE_FN float __fmul_rn(float a, float b) { return WARPTUNE_NVVM(mul_rn)(a, b); }
WARPTUNE_FN float __fsub_rn(float a, float b) { return WARPTUNE_NVVM(add_rn)(a, -b); }
WARPTUNE_FN float __fadd_rz(float a, float b) { return WARPTUNE_NVVM(add_rz)(a, b); }
WARPTUNE_FN float __fadd_ru(float a, float b) { return WARPTUNE_NVVM(add_rp)(a, b); }
WARPTUNE_FN float __fadd_rd(float a, float b) { return WARPTUNE_NVVM(add_rm)(a, b); }
WARPTUNE_FN float __fmul_rz(float a, float b) { return WARPTUNE_NVVM(mul_rz)(a, b); }
WARPTUNE_FN float __fmul_ru(float a, float b) { return WARPTUNE_NVVM(mul_rp)(a, b); }
WARPTUNE_FN float __fmul_rd(float a, float b) { return WARPTUNE_NVVM(mul_rm)(a, b); }
WARPTUNE_FN float __fmaf_rz(float a, float b, float c) { return WARPTUNE_NVVM(fma_rz)(a, b, c); }
WARPTUNE_FN float __fdiv_rn(float a, float b) { return WARPTUNE_NVVM(div_rn)(a, b); }
WARPTUNE_FN float __fdividef(float a, float b) { return WARPTUNE_NVVM(div_approx)(a, b); }
WARPTUNE_FN float __saturatef(float a) { return WARPTUNE_NVVM(saturate)(a); }
WARPTUNE_FN float exp2f(float a) { return WARPTUNE_NVVM(ex2_approx)(a); }
WARPTUNE_FN float __exp2f(float a) { return WARPTUNE_NVVM(ex2_approx)(a); }
WARPTUNE_FN float __log2f(float a) { return WARPTUNE_NVVM(lg2_approx)(a); }
WARPTUNE_FN float __expf(float a) { return WARPTUNE_NVVM(ex2_approx)(a * 1.4426950408889634f); }
WARPTUNE_FN float __exp10f(float a) { return WARPTUNE_NVVM(ex2_approx)(a * 3.3219280948873622f); }
WARPTUNE_FN float __logf(float a) { return WARPTUNE_NVVM(lg2_approx)(a) * 0.6931471805599453f; }
WARPTUNE_FN float __log10f(float a) { return WARPTUNE_NVVM(lg2_approx)(a) * 0.3010299956639812f; }
WARPTUNE_FN float __powf(float a, float b) { return WARPTUNE_NVVM(ex2_approx)(b * WARPTUNE_NVVM(lg2_approx)(a)); }
WARPTUNE_FN float __sinf(float a) { return WARPTUNE_NVVM(sin_approx)(a); }
WARPTUNE_FN float __cosf(float a) { return WARPTUNE_NVVM(cos_approx)(a); }
WARPTUNE_FN float __tanf(float a) { return __fdividef(__sinf(a), __cosf(a)); }
WARPTUNE_FN void __sincosf(float a, float *s, float *c) { *s = __sinf(a); *c = __cosf(a); }

// fdlibm's e_logf: a = 2^k (1+f), sqrt(1/2) <= 1+f < sqrt(2); returns ln(1+f) and k.
WARPTUNE_FN float warptune_log1(float a, float *k) {
  int sub = a < 1.17549435e-38f;
  unsigned u = __float_as_uint(sub ? a * 33554432.f : a) + (0x3f800000 - 0x3f3504f3);
  *k = (float)((int)(u >> 23) - 127 - (sub ? 25 : 0));
  float f = __uint_as_float((u & 0x007fffff) + 0x3f3504f3) - 1.f;
  float s = f / (2.f + f), z = s * s, w = z * z;
  float r = z * fmaf(w, 0.28498786688f, 0.66666662693f) + w * fmaf(w, 0.24279078841f, 0.40000972152f);
  float h = 0.5f * f * f;
  return f - (h - s * (h + r));
}
WARPTUNE_FN float warptune_log_special(float a, float r) {
  if (a == 0.f) return -INFINITY;
  if (!(a >= 0.f)) return NAN;
  return a == INFINITY ? a : r;
}
// a - q pi/2 in [-pi/4, pi/4]: three fused steps up to 105615, in double beyond (as good as
// double's 53 bits allow: an argument beyond 2^30 loses accuracy).
WARPTUNE_FN float warptune_reduce(float a, int *quadrant) {
  if (fabsf(a) > 105615.f) {
    double q = __builtin_rint((double)a * 0.63661977236758134);
    *quadrant = (int)(long long)q;
    return (float)__builtin_fma(q, -6.123233995736766e-17, __builtin_fma(q, -1.5707963267948966, (double)a));
  }
  float q = rintf(a * 0.63661977f);
  *quadrant = (int)q;
  float r = fmaf(q, -1.57079601e+00f, a);
  r = fmaf(q, -3.13916473e-07f, r);
  return fmaf(q, -5.39030253e-15f, r);
}
WARPTUNE_FN float warptune_sin1(float r) {
  float z = r * r;
  return fmaf(r * z, fmaf(z, fmaf(z, -1.9515295891e-4f, 8.3321608736e-3f), -1.6666654611e-1f), r);
}
WARPTUNE_FN float warptune_cos1(float r) {
  float z = r * r;
  return fmaf(z * z, fmaf(z, fmaf(z, 2.443315711809948e-5f, -1.388731625493765e-3f), 4.166664568298827e-2f), fmaf(z, -0.5f, 1.f));
}

#ifdef WARPTUNE_FAST_MATH
WARPTUNE_FN float expf(float a) { return __expf(a); }
WARPTUNE_FN float logf(float a) { return __logf(a); }
WARPTUNE_FN float log2f(float a) { return __log2f(a); }
WARPTUNE_FN float powf(float a, float b) { return __powf(a, b); }
WARPTUNE_FN float sinf(float a) { return __sinf(a); }
WARPTUNE_FN float cosf(float a) { return __cosf(a); }
#else
// e^a = 2^j 2^f, j the nearest integer to a/ln 2: ex2.approx is accurate on |f| <= 1/2.
WARPTUNE_FN float expf(float a) {
  float j = rintf(a * 1.44269504f);
  float f = fmaf(a, 1.44269502f, -j);
  f = fmaf(a, 1.92596299e-8f, f);
  // Two factors, so that neither 2^128 nor a subnormal 2^j is needed.
  float h = truncf(fminf(fmaxf(j, -252.f), 252.f) * 0.5f);
  float r = WARPTUNE_NVVM(ex2_approx)(f) * WARPTUNE_NVVM(ex2_approx)(h) * WARPTUNE_NVVM(ex2_approx)(fminf(fmaxf(j, -252.f), 252.f) - h);
  return a < -104.f ? 0.f : a > 89.f ? INFINITY : r;
}
WARPTUNE_FN float logf(float a) { float k, l = warptune_log1(a, &k); return warptune_log_special(a, fmaf(k, 0.69314718f, l)); }
WARPTUNE_FN float log2f(float a) { float k, l = warptune_log1(a, &k); return warptune_log_special(a, fmaf(l, 1.44269504f, k)); }
// The logarithm in double, so that the product with b keeps its fraction.
WARPTUNE_FN float powf(float a, float b) {
  if (b == 0.f || a == 1.f) return 1.f;
  if (isnan(a) || isnan(b)) return NAN;
  float x = fabsf(a);
  bool whole = truncf(b) == b, odd = whole && fabsf(b) < 16777216.f && ((int)b & 1);
  float r;
  if (x == 0.f || x == INFINITY) {
    r = (x == 0.f) == (b < 0.f) ? INFINITY : 0.f;
  } else if (fabsf(b) == INFINITY) {
    return x == 1.f ? 1.f : (x > 1.f) == (b > 0.f) ? INFINITY : 0.f;
  } else {
    int sub = x < 1.17549435e-38f;
    unsigned u = __float_as_uint(sub ? x * 33554432.f : x) + (0x3f800000 - 0x3f3504f3);
    double k = (int)(u >> 23) - 127 - (sub ? 25 : 0);
    double m = __uint_as_float((u & 0x007fffff) + 0x3f3504f3);
    double s = (m - 1.0) / (m + 1.0), z = s * s;  // ln m = 2 atanh s, |s| < 0.172
    double p = 1.0 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11)))));
    double e = b * (k + 2.8853900817779268 * s * p);
    e = e < -200.0 ? -200.0 : e > 200.0 ? 200.0 : e;
    float j = rintf((float)e), f = (float)(e - j), h = truncf(j * 0.5f);
    r = WARPTUNE_NVVM(ex2_approx)(f) * WARPTUNE_NVVM(ex2_approx)(h) * WARPTUNE_NVVM(ex2_approx)(j - h);
    if (a < 0.f && !whole) return NAN;
  }
  return a < 0.f && odd || (a == 0.f && odd && __float_as_int(a) < 0) ? -r : r;
}
WARPTUNE_FN float sinf(float a) {
  int q;
  float r = warptune_reduce(a, &q), s = q & 1 ? warptune_cos1(r) : warptune_sin1(r);
  return q & 2 ? -s : s;
}
WARPTUNE_FN float cosf(float a) {
  int q;
  float r = warptune_reduce(a, &q), s = q & 1 ? warptune_sin1(r) : warptune_cos1(r);
  return q + 1 & 2 ? -s : s;
}
#endif
WARPTUNE_FN float log10f(float a) { return log2f(a) * 0.3010299956639812f; }
WARPTUNE_FN float exp10f(float a) { return powf(10.f, a); }
WARPTUNE_FN float tanf(float a) { return sinf(a) / cosf(a); }
WARPTUNE_FN void sincosf(float a, float *s, float *c) { *s = sinf(a); *c = cosf(a); }
WARPTUNE_FN float tanhf(float a) {
  float x = fabsf(a);
  if (x < 0.0625f) return a * fmaf(a * a, fmaf(a * a, 0.13333334f, -0.33333334f), 1.f);
  return copysignf(1.f - 2.f / (expf(2.f * fminf(x, 20.f)) + 1.f), a);
}
WARPTUNE_FN float sinhf(float a) { return 0.5f * (expf(a) - expf(-a)); }
WARPTUNE_FN float coshf(float a) { return 0.5f * (expf(a) + expf(-a)); }
WARPTUNE_FN float hypotf(float a, float b) {
  float h = fmaxf(fabsf(a), fabsf(b)), l = fminf(fabsf(a), fabsf(b));
  return h == 0.f || h == INFINITY ? h : h * sqrtf(fmaf(l / h, l / h, 1.f));
}
