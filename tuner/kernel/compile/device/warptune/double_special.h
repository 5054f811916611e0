// Double precision: roots, norms and the error function. Polynomials are interpolations at the
// Chebyshev nodes of the range, made with 60 digits; erfc's form is that of special.h.
#pragma once
WARPTUNE_FN double cbrt(double a) {
  if (a == 0.0 || !isfinite(a)) return a;
  int e;
  double m = frexp(fabs(a), &e);
  int third = (e + 3072) / 3 - 1024;  // rounded down
  m = ldexp(m, e - 3 * third);        // in [1/2, 4)
  double t = (double)cbrtf((float)m);
  t = fma(fma(-t * t, t, m), 1.0 / (3.0 * t * t), t);  // steps of Newton's
  t = fma(fma(-t, t, m / t), 0.33333333333333331 / t, t);
  return copysign(ldexp(t, third), a);
}
WARPTUNE_FN double rcbrt(double a) { return 1.0 / cbrt(a); }
WARPTUNE_FN double hypot(double a, double b) {
  double h = fmax(fabs(a), fabs(b)), l = fmin(fabs(a), fabs(b));
  if (h == 0.0 || isinf(h)) return h;
  double r = l / h;
  return h * sqrt(fma(r, r, 1.0));
}
WARPTUNE_FN double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
WARPTUNE_FN double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
WARPTUNE_FN double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
WARPTUNE_FN double warptune_erfc1(double x) {
  double t = (x - 4.0) / (x + 4.0);
  double p = fma(t, fma(t, fma(t, fma(t, -2.7641202337345779e-10, 9.2976252637096592e-10), 3.2323973445082033e-09), -1.2338731403798444e-08), -2.0725802488181963e-08);
  p = fma(t, fma(t, fma(t, fma(t, fma(t, p, 1.0631817593818149e-07), 7.7719432410869122e-08), -8.2106479332973366e-07), 2.9173425573089733e-07), 5.7065782992407402e-06);
  p = fma(t, fma(t, fma(t, fma(t, fma(t, p, -1.1221135665965907e-05), -2.4397731143023292e-05), 0.00015062142608651945), -0.00019925715247265179), -0.00075777324359425761);
  p = fma(t, fma(t, fma(t, fma(t, fma(t, p, 0.0050319700691022562), -0.01619773406293477), 0.037167515526338006), -0.066330365811860581), 0.093732834999112641);
  p = fma(t, fma(t, fma(t, fma(t, fma(t, p, -0.10103906603631811), 0.068097054254668388), 0.015379652102619974), -0.13962111684056228), 1.2329951186255526);
  return p / fma(2.0, x, 1.0);
}
WARPTUNE_FN double erfc(double a) {
  double x = fmin(fabs(a), 40.0), s = __dmul_rn(x, x), r = warptune_exp_of(-s, -__fma_rn(x, x, -s)) * warptune_erfc1(x);
  return isnan(a) ? a : a < 0.0 ? 2.0 - r : r;
}
WARPTUNE_FN double erf(double a) {
  if (fabs(a) > 1.0) return copysign(1.0 - erfc(fabs(a)), a);
  double z = a * a;
  double p = fma(z, fma(z, fma(z, fma(z, 5.9571761477489113e-11, -1.1372848856791674e-09), 1.4659775274047436e-08), -1.6350312701054695e-07), 1.6461000484121368e-06);
  p = fma(z, fma(z, fma(z, fma(z, fma(z, p, -1.4925595266831182e-05), 0.0001205533111164271), -0.000854832698083379), 0.0052239776248180145), -0.026866170645076792);
  p = fma(z, fma(z, fma(z, p, 0.11283791670954879), -0.37612638903183748), 0.12837916709551259);
  return fma(a, p, a);
}
WARPTUNE_FN double normcdf(double a) {
  double x = fmin(fmax(a, -60.0), 60.0), z = __dmul_rn(x, -0.70710678118654757), lost = __fma_rn(x, -0.70710678118654757, -z) + x * 4.8336466567264567e-17;
  double r = erfc(z);
  return isnan(a) ? a : 0.5 * (z > 1.0 ? fma(-2.0 * z * lost, r, r) : r);
}
