// Double precision: roots, norms and the error function. Polynomials are interpolations at the
// Chebyshev nodes of the range, made with 60 digits; erfc's form is that of special.h.
#pragma once
WARPTUNE_FN double cbrt(double a) {
  double x = fabs(a);
  int e = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;
    e = 18;
  }
  int hi = __double2hiint(x), third = __float2int_rn((float)((hi >> 20) - 1022) * 0.333333333f);
  double m = __hiloint2double(hi - (third * 3 << 20), __double2loint(x));  // from 1/4 to 4
  double t = (double)__nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f((float)m) * 0.333333333f), c = t * t;
  t = fma(t, fma(c, -t, m) * warptune_over(fma(c + c, t, m)), t);  // a step of Halley's
  t = __hiloint2double(__double2hiint(t) + (third - e << 20), __double2loint(t));
  return a + a == a || isnan(a) ? a + a : copysign(t, a);
}
WARPTUNE_FN double rcbrt(double a) { return 1.0 / cbrt(a); }
// Both are multiplied by a power of two that brings the larger near 1.
WARPTUNE_FN double hypot(double a, double b) {
  double x = fabs(a), y = fabs(b), h = x > y ? x : y, l = x > y ? y : x;
  int e = __double2hiint(h) & 0x7fc00000;
  double scale = __hiloint2double(0x7fd00000 - e, 0), p = l * scale, q = h * scale;
  double r = sqrt(fma(q, q, p * p)) * __hiloint2double(e | 0x00100000, 0);
  r = l == 0.0 ? h : r;
  return isinf(h) || isinf(l) ? INFINITY : r;
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
// 1 - e^-g, g a polynomial of x by Remez's exchange; what is lost in g is added, and what e^-g - 1 loses is not.
WARPTUNE_FN double erf(double a) {
  double x = fabs(a);
  double p = fma(x, fma(x, fma(x, fma(x, fma(x, 1.1791331739618876e-14, -4.7515270629284375e-13), 8.7151538797761844e-12), -9.541825736261083e-11), 6.8061768645456195e-10), -3.1505327521007496e-09);
  p = fma(x, fma(x, fma(x, fma(x, fma(x, fma(x, p, 7.7718603785268316e-09), 8.4044603718079045e-09), -1.7417386878050532e-07), 8.5386457180522807e-07), -2.4300127506673924e-06), 3.5649238541754886e-06);
  p = fma(x, fma(x, fma(x, fma(x, fma(x, fma(x, p, 2.7956620922640171e-06), -2.9323410759882325e-05), 6.428995132005399e-05), 2.595522645971465e-05), -0.0005901468170072591), 0.0016962105302232829);
  p = fma(x, fma(x, fma(x, fma(x, fma(x, p, -0.00020919523022582017), -0.019128446963085487), 0.1027726033000619), 0.63661977236761147), 0.1283791670955125);
  double g = __fma_rn(x, p, x), low = __fma_rn(x, p, __dsub_rn(x, g));
  float j = rintf((float)g * -1.442695041f);
  double f = __fma_rn((double)j, -0.69314718055994529, -g), s = (double)__nvvm_ex2_approx_ftz_f(j);
  f = __dadd_rn(f, __fma_rn(f * f, warptune_exp1(f), __fma_rn((double)j, -2.3190468138462996e-17, -low)));
  double r = __fma_rn(-f, s, __dsub_rn(1.0, s));
  return copysign(x >= 5.93 ? 1.0 : r, a);
}
WARPTUNE_FN double normcdf(double a) {
  double x = fmin(fmax(a, -60.0), 60.0), z = __dmul_rn(x, -0.70710678118654757), lost = __fma_rn(x, -0.70710678118654757, -z) + x * 4.8336466567264567e-17;
  double r = erfc(z);
  return isnan(a) ? a : 0.5 * (z > 1.0 ? fma(-2.0 * z * lost, r, r) : r);
}
