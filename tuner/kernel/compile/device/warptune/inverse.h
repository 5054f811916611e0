// Single precision: e^a - 1 and ln(1 + a), the inverse trigonometric and hyperbolic functions. Polynomials
// without a source are minimax ones or interpolations at the Chebyshev nodes of the range, made with 50 and 60 digits.
#pragma once
WARPTUNE_FN float expm1f(float a) {
  float j = rintf(a * 1.44269504f);
  float f = fmaf(j, -0.693359375f, a);
  f = fmaf(j, 2.12194440e-4f, f);
  float p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, fmaf(f, 1.98927301e-4f, 1.3934545e-3f), 8.33330955e-3f), 4.16664556e-2f), 0.166666672f), 0.5f);
  p = fmaf(f * f, p, f);
  // 2^j p + (2^j - 1), in halves, so that 2^128 is not needed.
  float s = warptune_exp2i((int)fminf(fmaxf(j, -30.f), 128.f) - 1);
  float r = fmaf(s, p, s - 0.5f);
  r += r;
  return a > 89.f ? INFINITY : a < -25.f ? -1.f : a == 0.f ? a : r;
}
// 1 + a = 2^k (1 + f), f from -1/4 to 1/2; f is of a and 2^-k, not of the sum, in which a is rounded.
WARPTUNE_FN float log1pf(float a) {
  unsigned u = __float_as_uint(a), e = (__float_as_uint(WARPTUNE_NVVM(add_rz)(a, 1.f)) - 0x3f400000u) & 0xff800000u;
  float f = __uint_as_float(u - e) + fmaf(0.25f, __uint_as_float(0x40800000u - e), -1.f);
  float p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, -0.0444275215f, 0.104047097f), -0.131552726f), 0.144849032f), -0.166485518f);
  p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, p, 0.199906796f), -0.250000656f), 0.333334506f), -0.5f);
  float r = fmaf((float)(int)e * 1.1920929e-7f, 0.693147182f, fmaf(f * p, f, f));
  if (u >= 0x7f800000u) {  // infinite, not a number or negative, or -0
    if ((int)u >= (int)0xbf800000u) r = fmaf(a, INFINITY, INFINITY);
    r = a == -1.f ? -INFINITY : a == 0.f ? a : r;
  }
  return r;
}
// atan on [0, 1].
WARPTUNE_FN float warptune_atan1(float a) {
  float z = a * a;
  float p = fmaf(z, fmaf(z, fmaf(z, 0.00297354488f, -0.0165801086f), 0.0435558967f), -0.0758102685f);
  p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, p, 0.106792159f), -0.142142847f), 0.199941471f), -0.333331674f);
  return fmaf(z * p, a, a);
}
WARPTUNE_FN float atanf(float a) {
  float x = fabsf(a), over = __nvvm_rcp_approx_ftz_f(x), r = warptune_atan1(x > 1.f ? over : x);
  return copysignf(x > 1.f ? 1.57079633f - r : r, a);
}
WARPTUNE_FN float atan2f(float y, float x) {
  float h = fmaxf(fabsf(x), fabsf(y)), l = fminf(fabsf(x), fabsf(y));
  float r = warptune_atan1(h == 0.f ? 0.f : l == INFINITY ? 1.f : l / h);
  r = fabsf(y) > fabsf(x) ? 1.57079633f - r : r;
  r = signbit(x) ? 3.14159265f - r : r;
  return isnan(x) || isnan(y) ? NAN : copysignf(r, y);
}
// asin on [0, 1/2].
WARPTUNE_FN float warptune_asin1(float a) {
  float z = a * a;
  return fmaf(a * z, fmaf(z, fmaf(z, fmaf(z, fmaf(z, 3.80850248e-2f, 2.65545417e-2f), 4.50013801e-2f), 7.49885514e-2f), 0.166666731f), a);
}
// Above 1/2, acos(a) = 2 asin(sqrt((1 - a) / 2)): that root, else a.
WARPTUNE_FN float warptune_asin_part(float x) {
  float z = fmaf(-0.5f, x, 0.5f), over = __nvvm_rsqrt_approx_ftz_f(z), s = z * over;
  s = fmaf(s, fmaf(-s, 0.5f * over, 0.5f), s);
  s = x == 1.f ? 0.f : s;
  return warptune_asin1(x > 0.5f ? s : x);
}
WARPTUNE_FN float asinf(float a) {
  float x = fabsf(a), r = warptune_asin_part(x);
  return copysignf(x > 0.5f ? fmaf(-2.f, r, 1.57079633f) : r, a);
}
WARPTUNE_FN float acosf(float a) {
  float x = fabsf(a), r = warptune_asin_part(x), far = r + r;
  r = 1.57079633f - (copysignf(r, a) + 4.37113883e-8f);
  return x > 0.5f ? a < 0.f ? 3.14159265f - far : far : r;
}
WARPTUNE_FN float asinhf(float a) {
  float x = fabsf(a);
  float r = x > 1e9f ? logf(x) + 0.69314718f : log1pf(x + x * x / (1.f + sqrtf(fmaf(x, x, 1.f))));
  return copysignf(r, a);
}
WARPTUNE_FN float acoshf(float a) {
  float t = a - 1.f;
  return a > 1e9f ? logf(a) + 0.69314718f : log1pf(t + sqrtf(fmaf(t, t, t + t)));
}
WARPTUNE_FN float atanhf(float a) {
  float x = fabsf(a);
  return copysignf(0.5f * log1pf((x + x) / (1.f - x)), a);
}
// sin and cos of pi a: the reduction is exact.
WARPTUNE_FN float warptune_sinpi(float a, int shift) {
  float q = rintf(a + a), r = fmaf(q, -0.5f, a) * 3.14159265f;
  int n = (int)(long long)q + shift;
#ifdef WARPTUNE_FAST_MATH
  float s = n & 1 ? __cosf(r) : __sinf(r);
#else
  float s = warptune_sin_of(r, n & 1);
#endif
  return isfinite(a) ? n & 2 ? -s : s : NAN;
}
WARPTUNE_FN float sinpif(float a) { return warptune_sinpi(a, 0); }
WARPTUNE_FN float cospif(float a) { return warptune_sinpi(a, 1); }
WARPTUNE_FN void sincospif(float a, float *s, float *c) { *s = sinpif(a); *c = cospif(a); }
