// Double precision: trigonometric functions and their inverses. The kernels of sine, cosine and
// arcsine are fdlibm's; the arctangent's is an interpolation at the Chebyshev nodes of [0, 1].
#pragma once
// a - q pi/2 in [-pi/4, pi/4], in three fused steps: an argument beyond 2^30 loses accuracy.
WARPTUNE_FN double warptune_reduce(double a, int *quadrant) {
  double q = rint(a * 0.63661977236758138);
  *quadrant = (int)(long long)q;
  double r = fma(q, -1.5707963267948966, a);
  r = fma(q, -6.1232339957367660e-17, r);
  r = fma(q, 1.4973849048591833e-33, r);
  return isfinite(a) ? r : NAN;
}
WARPTUNE_FN double warptune_sin1(double r) {
  double z = r * r;
  double p = fma(z, fma(z, fma(z, fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08), 2.75573137070700676789e-06), -1.98412698298579493134e-04), 8.33333333332248946124e-03);
  return fma(r * z, fma(z, p, -1.66666666666666324348e-01), r);
}
WARPTUNE_FN double warptune_cos1(double r) {
  double z = r * r, h = 0.5 * z, w = 1.0 - h;
  double p = fma(z, fma(z, fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09), -2.75573143513906633035e-07), 2.48015872894767294178e-05);
  p = z * fma(z, fma(z, p, -1.38888888888741095749e-03), 4.16666666666666019037e-02);
  return w + ((1.0 - w) - h + z * p);
}
WARPTUNE_FN double warptune_sin_of(double r, int q) {
  double s = q & 1 ? warptune_cos1(r) : warptune_sin1(r);
  return q & 2 ? -s : s;
}
WARPTUNE_FN double sin(double a) { int q; double r = warptune_reduce(a, &q); return warptune_sin_of(r, q); }
WARPTUNE_FN double cos(double a) { int q; double r = warptune_reduce(a, &q); return warptune_sin_of(r, q + 1); }
WARPTUNE_FN void sincos(double a, double *s, double *c) {
  int q;
  double r = warptune_reduce(a, &q);
  *s = warptune_sin_of(r, q);
  *c = warptune_sin_of(r, q + 1);
}
WARPTUNE_FN double tan(double a) { double s, c; sincos(a, &s, &c); return s / c; }
WARPTUNE_FN double warptune_sinpi(double a, int shift) {
  double q = rint(a + a), r = fma(q, -0.5, a);
  return isfinite(a) ? warptune_sin_of(fma(r, 3.1415926535897931, r * 1.2246467991473532e-16), (int)(long long)q + shift) : NAN;
}
WARPTUNE_FN double sinpi(double a) { return warptune_sinpi(a, 0); }
WARPTUNE_FN double cospi(double a) { return warptune_sinpi(a, 1); }
WARPTUNE_FN void sincospi(double a, double *s, double *c) { *s = sinpi(a); *c = cospi(a); }
WARPTUNE_FN double warptune_atan1(double a) {
  double z = a * a;
  double p = fma(z, fma(z, fma(z, fma(z, 1.8061954618612151e-05, -0.00019996189377901382), 0.0010496035084968515), -0.0034958859739163094), 0.0083689311784501622);
  p = fma(z, fma(z, fma(z, fma(z, fma(z, p, -0.015535152475414177), 0.023696731580048622), -0.031277189066996385), 0.037494868125352472), -0.042603566326016522);
  p = fma(z, fma(z, fma(z, fma(z, fma(z, p, 0.047377495795277787), -0.052579733342841106), 0.058815068777936561), -0.066665646992891042), 0.076922989710332165);
  p = fma(z, fma(z, fma(z, fma(z, fma(z, p, -0.090909085908919343), 0.11111111093490827), -0.14285714285384132), 0.19999999999997531), -0.33333333333333331);
  return fma(a * z, p, a);
}
WARPTUNE_FN double atan(double a) {
  double x = fabs(a), r = warptune_atan1(x > 1.0 ? 1.0 / x : x);
  return copysign(x > 1.0 ? 1.5707963267948966 - (r - 6.1232339957367660e-17) : r, a);
}
WARPTUNE_FN double atan2(double y, double x) {
  double h = fmax(fabs(x), fabs(y)), l = fmin(fabs(x), fabs(y));
  double r = warptune_atan1(h == 0.0 ? 0.0 : isinf(l) ? 1.0 : l / h);
  r = fabs(y) > fabs(x) ? 1.5707963267948966 - (r - 6.1232339957367660e-17) : r;
  r = signbit(x) ? 3.1415926535897931 - (r - 1.2246467991473532e-16) : r;
  return isnan(x) || isnan(y) ? NAN : copysign(r, y);
}
// asin(a) - a on [0, 1/2], of z = a^2, over a.
WARPTUNE_FN double warptune_asin1(double z) {
  double p = fma(z, fma(z, fma(z, fma(z, fma(z, 3.47933107596021167570e-05, 7.91534994289814532176e-04), -4.00555345006794114027e-02), 2.01212532134862925881e-01), -3.25565818622400915405e-01), 1.66666666666666657415e-01);
  double q = fma(z, fma(z, fma(z, fma(z, 7.70381505559019352791e-02, -6.88283971605453293030e-01), 2.02094576023350569471e+00), -2.40339491173441421878e+00), 1.0);
  return z * (p / q);
}
WARPTUNE_FN double asin(double a) {
  double x = fabs(a), z = 0.5 * (1.0 - x), s = sqrt(z), r;
  if (x > 0.5) r = 1.5707963267948966 - (2.0 * fma(s, warptune_asin1(z), s) - 6.1232339957367660e-17);
  else r = fma(x, warptune_asin1(x * x), x);
  return copysign(r, a);
}
WARPTUNE_FN double acos(double a) {
  double x = fabs(a), z = 0.5 * (1.0 - x), s = sqrt(z);
  if (x <= 0.5) return 1.5707963267948966 - (a - (6.1232339957367660e-17 - a * warptune_asin1(a * a)));
  double r = 2.0 * fma(s, warptune_asin1(z), s);
  return a < 0.0 ? 3.1415926535897931 - (r - 1.2246467991473532e-16) : r;
}
