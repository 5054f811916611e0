// Single precision: roots, norms, the error function and the gamma function. Polynomials without a
// source are interpolations at the Chebyshev nodes of the range, made with 60 digits.
#pragma once
WARPTUNE_FN float cbrtf(float a) {
  float x = fabsf(a), c = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_f(x) * -0.666666667f);  // x^(-2/3)
  float t = WARPTUNE_NVVM(mul_rn)(x, c);
  t = fmaf(t, fmaf(t, -WARPTUNE_NVVM(mul_rn)(c, t), 1.f) * 0.333333333f, t);  // a step of Newton's
  t = a < 0.f ? -t : t;
  return a + a == a ? a + a : t;
}
WARPTUNE_FN float rcbrtf(float a) { return __nvvm_rcp_approx_ftz_f(cbrtf(a)); }
WARPTUNE_FN float rhypotf(float a, float b) { return 1.f / hypotf(a, b); }
WARPTUNE_FN float norm3df(float a, float b, float c) { return hypotf(hypotf(a, b), c); }
WARPTUNE_FN float norm4df(float a, float b, float c, float d) { return hypotf(hypotf(a, b), hypotf(c, d)); }
WARPTUNE_FN float rnorm3df(float a, float b, float c) { return 1.f / norm3df(a, b, c); }
WARPTUNE_FN float rnorm4df(float a, float b, float c, float d) { return 1.f / norm4df(a, b, c, d); }

// One polynomial of two sets of coefficients: of erf below 1.003, beyond of log2 erfc.
WARPTUNE_FN float erff(float a) {
  float x = fabsf(a);
  bool far = x >= 1.003f;
  float t = far ? x : a * a, s = far ? -x : a;
  float p = fmaf(t, far ? 2.02787232e-5f : 7.80535775e-5f, far ? -0.000507182558f : -0.000799748523f);
  p = fmaf(t, p, far ? 0.00542668672f : 0.00518713333f);
  p = fmaf(t, p, far ? -0.0346518718f : -0.0268533397f);
  p = fmaf(t, p, far ? 0.153706819f : 0.112835787f);
  p = fmaf(t, p, far ? 0.916057765f : -0.37612626f);
  p = fmaf(t, p, far ? 0.628364205f : 0.128379166f);
  float r = fmaf(p, s, s);
  if (far) r = copysignf(1.f - __nvvm_ex2_approx_ftz_f(r), a);
  return r;
}
// (1 + 2x) e^(x^2) erfc(x) for x >= 0, as a polynomial of (x - 2) / (x + 2): M. M. Shepherd and
// J. G. Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Math. Comp. 36 (1981).
WARPTUNE_FN float warptune_erfc1(float x) {
  float over = __nvvm_rcp_approx_ftz_f(x + 2.f), t = WARPTUNE_NVVM(mul_rn)(x - 2.f, over);
  t = fmaf(over, fmaf(-t, x, fmaf(-2.f, t + 1.f, x)), t);  // what the reciprocal lost
  float p = fmaf(t, fmaf(t, fmaf(t, fmaf(t, 6.80751473e-5f, 1.6084034e-4f), -3.70928406e-4f), -1.39580504e-3f), 1.2305032e-3f);
  p = fmaf(t, fmaf(t, fmaf(t, fmaf(t, p, 8.68925266e-3f), -8.0247391e-3f), -5.42119965e-2f), 0.164050505f);
  p = fmaf(t, fmaf(t, fmaf(t, p, -0.166031092f), -9.27638188e-2f), 1.27697837f);
  over = __nvvm_rcp_approx_ftz_f(fmaf(2.f, x, 1.f));
  float r = WARPTUNE_NVVM(mul_rn)(p, over);
  return fmaf(over, fmaf(x, -2.f * r, p) - r, r);
}
WARPTUNE_FN float erfcxf(float a) {
  if (a >= 0.f) return a > 1e19f ? 0.564189584f / a : warptune_erfc1(a);
  float s = a * a, e = expf(s);
  return fmaf(2.f, fmaf(e, fmaf(a, a, -s), e), -warptune_erfc1(-a));
}
WARPTUNE_FN float erfcf(float a) {
  float x = fminf(fabsf(a), 20.f), s = WARPTUNE_NVVM(mul_rn)(x, x), e = warptune_expf(-s);
  e = fmaf(-e, WARPTUNE_NVVM(fma_rn)(x, x, -s), e);  // what is lost in the square
  float r = e * warptune_erfc1(x);
  return isnan(a) ? a : a < 0.f ? 2.f - r : r;
}
WARPTUNE_FN float normcdff(float a) {
  float x = fminf(fmaxf(a, -40.f), 40.f);
  float z = x * -0.707106769f, lost = fmaf(x, -0.707106769f, -z) + x * -1.21016175e-8f;
  float r = erfcf(z);
  r = z > 1.f ? fmaf(-2.f * z * lost, r, r) : r;
  return 0.5f * r;
}
// M. Giles, Approximating the erfinv function, GPU Computing Gems (2011): single precision.
WARPTUNE_FN float erfinvf(float a) {
  float w = __nvvm_lg2_approx_ftz_f((1.f - a) * (1.f + a)) * -0.693147182f, p;
  if (w < 5.f) {
    w -= 2.5f;
    p = fmaf(fmaf(fmaf(fmaf(2.81022636e-08f, w, 3.43273939e-07f), w, -3.5233877e-06f), w, -4.39150654e-06f), w, 0.00021858087f);
    p = fmaf(fmaf(fmaf(fmaf(p, w, -0.00125372503f), w, -0.00417768164f), w, 0.246640727f), w, 1.50140941f);
  } else {
    w = fmaf(w, __nvvm_rsqrt_approx_ftz_f(w), -3.f);
    p = fmaf(fmaf(fmaf(fmaf(-0.000200214257f, w, 0.000100950558f), w, 0.00134934322f), w, -0.00367342844f), w, 0.00573950773f);
    p = fmaf(fmaf(fmaf(fmaf(p, w, -0.0076224613f), w, 0.00943887047f), w, 1.00167406f), w, 2.83297682f);
  }
  return fabsf(a) == 1.f ? a * INFINITY : p * a;
}
WARPTUNE_FN float normcdfinvf(float a) { return 1.41421356f * erfinvf(fmaf(2.f, a, -1.f)); }

// ln gamma(1 + z) on [-0.3, 0.5] and ln gamma(2 + z) on [-0.5, 1].
WARPTUNE_FN float warptune_lgamma1(float z) {
  float p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 0.0562228113f, -0.118979275f), 0.136651233f), -0.14509809f), 0.168754622f);
  p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, fmaf(z, p, -0.207272157f), 0.270602167f), -0.400688261f), 0.82246685f), -0.577215672f);
  return z * p;
}
WARPTUNE_FN float warptune_lgamma2(float z) {
  float p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 4.35776892e-5f, -2.0758812e-4f), 5.35865314e-4f), -1.21009559e-3f), 2.88787903e-3f);
  p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, fmaf(z, p, -7.38207484e-3f), 2.05807555e-2f), -6.7352511e-2f), 0.322467029f), 0.422784328f);
  return z * p;
}
WARPTUNE_FN float warptune_lgamma(float x) {
  if (x < 0.7f) return (x <= 0.5f ? warptune_lgamma1(x) : warptune_lgamma2(x - 1.f)) - logf(x);
  if (x <= 1.5f) return warptune_lgamma1(x - 1.f);
  if (x <= 3.f) return warptune_lgamma2(x - 2.f);
  float r = 1.f / x, z = r * r;  // Stirling's series
  float p = fmaf(z, fmaf(z, fmaf(z, -5.95238095e-4f, 7.93650794e-4f), -2.77777778e-3f), 8.33333333e-2f);
  return fmaf(x - 0.5f, logf(x), -x) + fmaf(p, r, 0.918938533f);
}
WARPTUNE_FN float lgammaf(float a) {
  float x = fabsf(a);
  if (isinf(a)) return INFINITY;
  if (a > 0.f || isnan(a)) return x > 1e30f ? x * (logf(x) - 1.f) : warptune_lgamma(x);
  if (truncf(a) == a) return INFINITY;
  return logf(3.14159265f / fabsf(x * sinpif(x))) - warptune_lgamma(x);
}
WARPTUNE_FN float warptune_tgamma(float x) {
  if (x < 3.f) {
    float z = x - truncf(x);
    float p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, fmaf(z, 1.58638656e-2f, -0.103048466f), 0.309931219f), -0.586516023f), 0.815823555f), -0.928919613f);
    p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, fmaf(z, p, 0.971358597f), -0.906260133f), 0.98898083f), -0.577213824f), 1.f);
    return x < 1.f ? p / x : x < 2.f ? p : p * (x - 1.f);
  }
  float r = 1.f / x, z = r * r;  // Stirling's series; x^(x-1/2) in two factors
  float p = r * fmaf(z, fmaf(z, fmaf(z, -5.95238095e-4f, 7.93650794e-4f), -2.77777778e-3f), 8.33333333e-2f);
  float h = powf(x, fmaf(0.5f, x, -0.25f));
  p = fmaf(p * p, fmaf(p, 0.166666667f, 0.5f), p);
  h = x > 36.f ? INFINITY : 2.50662827f * h * expf(-x) * h;
  return fmaf(h, p, h);
}
WARPTUNE_FN float tgammaf(float a) {
  if (a == 0.f) return copysignf(INFINITY, a);
  if (a > 0.f || isnan(a)) return warptune_tgamma(a);
  if (truncf(a) == a) return NAN;
  return a < -42.f ? 0.f : 3.14159265f / (a * sinpif(-a) * warptune_tgamma(-a));
}
