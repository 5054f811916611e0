// Double precision: exponentials, logarithms, powers and hyperbolic functions. Polynomials without a
// source are interpolations at the Chebyshev nodes of the range, made with 60 digits.
#pragma once
// The nearest integer to a * over, by a sum of which the low end is the integer.
WARPTUNE_FN double warptune_nearest(double a, double over, int *n) {
  double t = __fma_rn(a, over, 6755399441055744.0);
  *n = __double2loint(t);
  return __dadd_rn(t, -6755399441055744.0);
}
// a - n ln 2, between +-ln 2 / 2.
WARPTUNE_FN double warptune_exp_reduce(double a, int *n) {
  double j = warptune_nearest(a, 1.4426950408889634, n);
  return fma(j, -2.3190468138462996e-17, fma(j, -0.69314718055994529, a));
}
// (e^f - 1 - f) / f^2.
WARPTUNE_FN double warptune_exp1(double f) {
  double p = fma(f, fma(f, fma(f, fma(f, fma(f, 2.0914796654576988e-09, 2.5105246725855422e-08), 2.7557273352844928e-07), 2.7557255328775363e-06), 2.4801587325811654e-05), 0.00019841269874876956);
  return fma(f, fma(f, fma(f, fma(f, fma(f, p, 0.0013888888888883653), 0.0083333333333261185), 0.041666666666666671), 0.16666666666666671), 0.5);
}
// 2^n e^f of n and f that are those of a: by n added to the exponent; near the ends of the range, in two factors.
WARPTUNE_FN double warptune_exp_scale(double f, int n, double a) {
  double v = fma(f, fma(f, warptune_exp1(f), 1.0), 1.0);
  int hi = __double2hiint(v), lo = __double2loint(v);
  float size = fabsf(__int_as_float(__double2hiint(a)));  // not a number for infinity, either
  double r = __hiloint2double(hi + (n << 20), lo);
  if (!(size < __int_as_float(0x4086232b))) {  // 708.4
    r = a < 0.0 ? 0.0 : a + INFINITY;
    if (size < __int_as_float(0x40874911)) r = __hiloint2double(hi + (n >> 1 << 20), lo) * warptune_exp2di(n - (n >> 1));  // 745.14
  }
  return r;
}
WARPTUNE_FN double warptune_exp_of(double a, double low) {
  int n;
  double f = warptune_exp_reduce(a, &n) + low;
  return warptune_exp_scale(f, n, a);
}
WARPTUNE_FN double exp(double a) {
  int n;
  double f = warptune_exp_reduce(a, &n);
  return warptune_exp_scale(f, n, a);
}
WARPTUNE_FN double exp2(double a) {
  int n;
  double f = a - warptune_nearest(a, 1.0, &n);
  return warptune_exp_scale(fma(f, 0.69314718055994529, f * 2.3190468138462996e-17), n, a * 0.69314718055994529);
}
WARPTUNE_FN double exp10(double a) {
  int n;
  double j = warptune_nearest(a, 3.3219280948873622, &n);
  double f = fma(j, 2.8037281277851704e-18, fma(j, -0.30102999566398120, a));
  return warptune_exp_scale(fma(f, 2.3025850929940459, f * -2.1707562233822494e-16), n, a * 2.3025850929940459);
}
WARPTUNE_FN double expm1(double a) {
  int n;
  double f = warptune_exp_reduce(fmin(fmax(a, -60.0), 800.0), &n), p = fma(f * f, warptune_exp1(f), f);
  double s = warptune_exp2di(min(n, 1024) - 1);
  double r = fma(s, p, s - 0.5);
  return isnan(a) ? a : a > 709.8 ? (double)INFINITY : a < -60.0 ? -1.0 : a == 0.0 ? a : r + r;
}
// fdlibm's e_log: a = 2^k (1+f), sqrt(1/2) <= 1+f < sqrt(2); returns ln(1+f), less than lost * (1+f).
WARPTUNE_FN double warptune_log1p_of(double f) {
  double s = f * warptune_over(2.0 + f), z = s * s, w = z * z, h = 0.5 * f * f;
  double r = z * fma(w, fma(w, fma(w, 1.479819860511658591e-01, 1.818357216161805012e-01), 2.857142874366239149e-01), 6.666666666666735130e-01) +
             w * fma(w, fma(w, 1.531383769920937332e-01, 2.222219843214978396e-01), 3.999999999940941908e-01);
  return f - (h - s * (h + r));
}
// 1+f, between sqrt(1/2) and sqrt(2), and k of a positive a = 2^k (1+f).
WARPTUNE_FN double warptune_split(double a, double *k) {
  bool small = a < 2.2250738585072014e-308;
  a = small ? a * 18014398509481984.0 : a;
  int hi = __double2hiint(a) + (0x3ff00000 - 0x3fe6a09e);
  *k = (hi >> 20) - 1023 - (small ? 54 : 0);
  return __hiloint2double((hi & 0x000fffff) + 0x3fe6a09e, __double2loint(a));
}
WARPTUNE_FN double warptune_log_special(double a, double r) {
  if (a == 0.0) return -INFINITY;
  if (!(a >= 0.0)) return NAN;
  return a == (double)INFINITY ? a : r;
}
WARPTUNE_FN double log(double a) {
  double k, l = warptune_log1p_of(warptune_split(a, &k) - 1.0);
  return warptune_log_special(a, fma(k, 0.69314718055994529, fma(k, 2.3190468138462996e-17, l)));
}
// k unit + l factor, the factor in two parts.
WARPTUNE_FN double warptune_log_base(double a, double unit, double high, double low) {
  double k, l = warptune_log1p_of(warptune_split(a, &k) - 1.0), p = __dmul_rn(l, high);
  return warptune_log_special(a, fma(k, unit, p) + (__fma_rn(l, high, -p) + l * low));
}
WARPTUNE_FN double log2(double a) { return warptune_log_base(a, 1.0, 1.4426950408889634, 2.0355273740931033e-17); }
WARPTUNE_FN double log10(double a) { return warptune_log_base(a, 0.30102999566398120, 0.43429448190325182, 1.0983196502167651e-17); }
// What the sum 1 + a loses is added to f, at f's scale.
WARPTUNE_FN double log1p(double a) {
  double u = __dadd_rn(1.0, a), k, f = warptune_split(u, &k) - 1.0;
  f = fma(__dsub_rn(a, __dsub_rn(u, 1.0)), warptune_exp2di(max(-(int)k, -1023)), f);
  double r = warptune_log_special(u, fma(k, 0.69314718055994529, fma(k, 2.3190468138462996e-17, warptune_log1p_of(f))));
  return a == 0.0 ? a : r;
}
// (__dadd_rn and its like: no option of the compilation joins it with others.) The logarithm in two doubles, ln(1+f) = 2 atanh(f/(2+f)), so that the product with b keeps its fraction.
WARPTUNE_FN double pow(double a, double b) {
  if (b == 0.0 || a == 1.0) return 1.0;
  if (isnan(a) || isnan(b)) return NAN;
  double x = fabs(a);
  bool whole = trunc(b) == b, odd = whole && fabs(b) < 9007199254740992.0 && ((long long)b & 1);
  double r;
  if (x == 0.0 || isinf(x)) {
    r = (x == 0.0) == (b < 0.0) ? (double)INFINITY : 0.0;
  } else if (isinf(b)) {
    return x == 1.0 ? 1.0 : (x > 1.0) == (b > 0.0) ? (double)INFINITY : 0.0;
  } else {
    double k, m = warptune_split(x, &k), f = m - 1.0, d = 2.0 + f, dl = __dsub_rn(f, __dsub_rn(d, 2.0));
    double over = warptune_over(d), s = __dmul_rn(f, over), sl = __fma_rn(-s, dl, __fma_rn(-s, d, f)) * over;  // s + sl = f / (2 + f)
    double z = __dmul_rn(s, s), zl = __fma_rn(s, s, -z) + 2.0 * s * sl;                        // its square
    double c = __dmul_rn(z, s), cl = __fma_rn(z, s, -c) + z * sl + zl * s;                     // its cube
    double t = __dmul_rn(c, 0.66666666666666663), tl = __fma_rn(c, 0.66666666666666663, -t) + c * 3.7007434154171883e-17 + cl * 0.66666666666666663;
    double q = fma(z, fma(z, fma(z, 0.11730108289745471, 0.11705571848207288), 0.13334829576013077), 0.15384594503762289);
    q = fma(z, fma(z, fma(z, fma(z, q, 0.18181818339698208), 0.22222222221636839), 0.28571428571429397), 0.40000000000000002);
    double h = __dadd_rn(2.0 * s, t), l = __dadd_rn(__dsub_rn(2.0 * s, h), t) + (tl + fma(c * z, q, 2.0 * sl));
    double kh = __dmul_rn(k, 0.69314718055994529), kl = __fma_rn(k, 0.69314718055994529, -kh) + k * 2.3190468138462996e-17;
    double sum = __dadd_rn(kh, h), part = __dsub_rn(sum, kh);
    double sl2 = __dadd_rn(__dsub_rn(kh, __dsub_rn(sum, part)), __dsub_rn(h, part)) + (kl + l);
    double e = __dmul_rn(b, sum);
    e = isinf(e) ? copysign(1e4, e) : e;
    double el = fabs(e) < 1e4 ? __fma_rn(b, sum, -e) + b * sl2 : 0.0;
    r = warptune_exp_of(e, el);
    if (a < 0.0 && !whole) return NAN;
  }
  return signbit(a) && odd ? -r : r;
}
WARPTUNE_FN double sinh(double a) {
  double x = fabs(a), e = expm1(fmin(x, 709.0)), r = 0.5 * (e + e / (e + 1.0));
  if (x > 709.0) { e = exp(0.5 * x); r = 0.5 * e * e; }
  return isnan(a) ? a : copysign(r, a);
}
WARPTUNE_FN double cosh(double a) {
  double x = fabs(a), e = exp(fmin(x, 709.0)), r = 0.5 * (e + 1.0 / e);
  if (x > 709.0) { e = exp(0.5 * x); r = 0.5 * e * e; }
  return isnan(a) ? a : r;
}
WARPTUNE_FN double tanh(double a) {
  double x = fabs(a), e = expm1(2.0 * fmin(x, 20.0)), over = warptune_over(e + 2.0), r = x < 0.5 ? e * over : fma(-2.0, over, 1.0);
  return isnan(a) ? a : copysign(r, a);
}
WARPTUNE_FN double asinh(double a) {
  double x = fabs(a), r = x > 1e18 ? log(x) + 0.69314718055994529 : log1p(x + x * x / (1.0 + sqrt(fma(x, x, 1.0))));
  return copysign(r, a);
}
WARPTUNE_FN double acosh(double a) {
  double t = a - 1.0;
  return a > 1e18 ? log(a) + 0.69314718055994529 : log1p(t + sqrt(fma(t, t, t + t)));
}
WARPTUNE_FN double atanh(double a) {
  double x = fabs(a);
  return copysign(0.5 * log1p((x + x) / (1.0 - x)), a);
}
