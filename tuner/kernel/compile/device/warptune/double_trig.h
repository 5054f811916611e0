// Double precision: trigonometric functions and their inverses. The kernels of sine, cosine and
// arcsine are fdlibm's; the arctangent's is an interpolation at the Chebyshev nodes of [0, 1].
#pragma once
// The bits of 2/pi.
static __device__ const unsigned long long warptune_two_over_pi_bits[] = {
    0ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull,
    0x6bfb5fb11f8d5d08ull};
// Payne and Hanek's reduction of arguments beyond 2^31: the 192 bits of 2/pi that say where in the circle a lies, times a's, are
// quadrants, to 2 bits before the point and 126 behind it.
static __device__ __noinline__ double warptune_reduce_large(double a, int *quadrant) {
  unsigned long long u = (unsigned long long)__double_as_longlong(a), m = u << 11 | 0x8000000000000000ull;
  int skip = (int)(u >> 52 & 2047) - 1024, s = skip & 63;
  const unsigned long long *w = warptune_two_over_pi_bits + (skip >> 6);
  unsigned long long w0 = w[0], w1 = w[1], w2 = w[2];
  if (s) {
    w0 = w0 << s | w1 >> (64 - s);
    w1 = w1 << s | w2 >> (64 - s);
    w2 = w2 << s | w[3] >> (64 - s);
  }
  unsigned long long low = w1 * m, carried = __umul64hi(w2, m), high = w0 * m + __umul64hi(w1, m);
  low += carried;
  high += low < carried;
  int n = (int)(high >> 62);
  high = high << 2 | low >> 62;
  low <<= 2;
  bool past = high >> 63;  // the half: from the next quadrant back
  n += past;
  if (past) {
    low = 0ull - low;
    high = ~high + (low == 0);
  }
  int zeros = __clzll((long long)high);
  if (zeros) high = high << zeros | low >> (64 - zeros);
  double r = (double)__umul64hi(high, 0xc90fdaa22168c235ull) * warptune_exp2di(-63 - zeros);
  *quadrant = a < 0.0 ? -n : n;
  return past != (a < 0.0) ? -r : r;
}
// a - q pi/2 in [-pi/4, pi/4], in three fused steps.
WARPTUNE_FN double warptune_reduce(double a, int *quadrant) {
  double x = fabs(a);
  if (x == INFINITY) {
    *quadrant = 0;
    return NAN;
  }
  int n = __double2int_rn(a * 0.63661977236758138);
  double q = (double)n;
  double r = fma(q, -8.843720566135701e-29, fma(q, -6.123233995727922e-17, fma(q, -1.5707963267948966, a)));
  if (x >= 2147483648.0) r = warptune_reduce_large(a, &n);
  *quadrant = n;
  return r;
}
WARPTUNE_FN double warptune_sin1(double r) {
  double z = r * r;
  double p = fma(z, fma(z, fma(z, fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08), 2.75573137070700676789e-06), -1.98412698298579493134e-04), 8.33333333332248946124e-03);
  return fma(fma(r, z, 0.0), fma(z, p, -1.66666666666666324348e-01), r);  // (a sum: a zero keeps its sign)
}
WARPTUNE_FN double warptune_cos1(double r) {
  double z = r * r;
  double p = fma(z, fma(z, fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09), -2.75573143513906633035e-07), 2.48015872894767294178e-05);
  return fma(z, fma(z, fma(z, fma(z, p, -1.38888888888741095749e-03), 4.16666666666666019037e-02), -0.5), 1.0);
}
// The coefficients of both, but for the first: the sine's polynomial, over r, begins with 0, the cosine's with -1/2.
static __device__ const double2 warptune_sine_cosine[] = {
    {-2.50507602534068634195e-08, 2.75573137070700676789e-06}, {-1.98412698298579493134e-04, 8.33333333332248946124e-03}, {-1.66666666666666324348e-01, 0.0}, {0.0, 0.0},
    {2.08757232129817482790e-09, -2.75573143513906633035e-07}, {2.48015872894767294178e-05, -1.38888888888741095749e-03}, {4.16666666666666019037e-02, -0.5}};
// The sine of r + q pi/2.
WARPTUNE_FN double warptune_sin_of(double r, int q) {
  const double2 *t = warptune_sine_cosine + (q & 1) * 4;
  double z = r * r, p = fma(z, q & 1 ? -1.13596475577881948265e-11 : 1.58969099521155010221e-10, t[0].x);
  p = fma(z, fma(z, fma(z, fma(z, fma(z, p, t[0].y), t[1].x), t[1].y), t[2].x), t[2].y);
  p = q & 1 ? fma(p, z, 1.0) : fma(p, r, r);
  return q & 2 ? -p : p;
}
WARPTUNE_FN double sin(double a) { int q; double r = warptune_reduce(a, &q); return warptune_sin_of(r, q); }
WARPTUNE_FN double cos(double a) { int q; double r = warptune_reduce(a, &q); return warptune_sin_of(r, q + 1); }
WARPTUNE_FN void sincos(double a, double *s, double *c) {
  int q;
  double r = warptune_reduce(a, &q), y = warptune_sin1(r), x = warptune_cos1(r), u = q & 1 ? x : y, v = q & 1 ? y : x;
  *s = q & 2 ? -u : u;
  *c = q + 1 & 2 ? -v : v;
}
WARPTUNE_FN double tan(double a) {
  int q;
  double r = warptune_reduce(a, &q), y = warptune_sin1(r), x = warptune_cos1(r);
  return (q & 1 ? -x : y) / (q & 1 ? y : x);
}
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
  return z * (p * warptune_over(q));
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
