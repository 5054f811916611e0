// The parts of floating-point numbers, neighbours, remainders and roundings to integers.
#pragma once
WARPTUNE_FN bool isnan(double a) { return a != a; }
WARPTUNE_FN bool isinf(double a) { return __builtin_fabs(a) == __builtin_huge_val(); }
WARPTUNE_FN bool isfinite(double a) { return __builtin_fabs(a) < __builtin_huge_val(); }
WARPTUNE_FN bool signbit(float a) { return __float_as_int(a) < 0; }
WARPTUNE_FN bool signbit(double a) { return __double_as_longlong(a) < 0; }
WARPTUNE_FN float nanf(const char *) { return NAN; }
WARPTUNE_FN double nan(const char *) { return __builtin_nan(""); }
WARPTUNE_FN double copysign(double a, double b) { double r; asm("copysign.f64 %0, %1, %2;" : "=d"(r) : "d"(b), "d"(a)); return r; }
WARPTUNE_FN double round(double a) { return trunc(__nvvm_add_rz_d(a, copysign(0.5, a))); }
WARPTUNE_FN double nearbyint(double a) { return rint(a); }
WARPTUNE_FN long long llrintf(float a) { return __float2ll_rn(a); }
WARPTUNE_FN long long llrint(double a) { return __double2ll_rn(a); }
WARPTUNE_FN long lrintf(float a) { return (long)__float2ll_rn(a); }
WARPTUNE_FN long lrint(double a) { return (long)__double2ll_rn(a); }
// Of the bits, as under nvcc: m has the leading one at bit 62, and is shifted to its place.
WARPTUNE_FN long long llroundf(float a) {
  if (isnan(a) || a <= -9.22337204e18f) return (long long)0x8000000000000000ull;
  if (a >= 9.22337204e18f) return 0x7fffffffffffffffll;
  unsigned u = __float_as_uint(a);
  int shift = 189 - (int)(u >> 23 & 255);
  unsigned long long m = (unsigned long long)(u << 8 >> 1) << 32 | 0x4000000000000000ull, whole = 0, rest = m;
  if (shift <= 63) {
    whole = m >> shift;
    rest = shift ? m << (64 - shift) : 0;
  }
  long long n = (long long)(whole + (rest >> 63));
  return (int)u < 0 ? -n : n;
}
WARPTUNE_FN long long llround(double a) { return (long long)round(a); }
WARPTUNE_FN long lroundf(float a) { return (long)llroundf(a); }
WARPTUNE_FN long lround(double a) { return (long)round(a); }
WARPTUNE_FN float fdimf(float a, float b) { return a <= b ? 0.f : a - b; }
WARPTUNE_FN double fdim(double a, double b) { return a <= b ? 0.0 : a - b; }
WARPTUNE_FN float fdividef(float a, float b) { return a / b; }

WARPTUNE_FN float warptune_exp2i(int e) { return __int_as_float((e + 127) << 23); }
WARPTUNE_FN double warptune_exp2di(int e) { return __hiloint2double((e + 1023) << 20, 0); }
// In three factors, each of which is a normal number.
WARPTUNE_FN float ldexpf(float a, int e) {
  e = min(max(e, -300), 300);
  float third = warptune_exp2i(e / 3);
  return a * third * third * warptune_exp2i(e - e / 3 * 2);
}
WARPTUNE_FN double ldexp(double a, int e) {
  e = min(max(e, -2200), 2200);
  double third = warptune_exp2di(e / 3);
  return a * third * third * warptune_exp2di(e - e / 3 * 2);
}
WARPTUNE_FN float scalbnf(float a, int e) { return ldexpf(a, e); }
WARPTUNE_FN double scalbn(double a, int e) { return ldexp(a, e); }
WARPTUNE_FN float frexpf(float a, int *e) {
  bool small = fabsf(a) < 1.17549435e-38f;
  float b = small ? a * 16777216.f : a;
  int bits = __float_as_int(b), x = bits >> 23 & 255;
  bool special = b == 0.f || x == 255;
  *e = special ? 0 : x - 126 - (small ? 24 : 0);
  return special ? a : __int_as_float((bits & (int)0x807fffff) | 0x3f000000);
}
WARPTUNE_FN double frexp(double a, int *e) {
  bool small = fabs(a) < 2.2250738585072014e-308;
  double b = small ? a * 18014398509481984.0 : a;
  int hi = __double2hiint(b), x = hi >> 20 & 2047;
  bool special = b == 0.0 || x == 2047;
  *e = special ? 0 : x - 1022 - (small ? 54 : 0);
  return special ? a : __hiloint2double((hi & (int)0x800fffff) | 0x3fe00000, __double2loint(b));
}
WARPTUNE_FN int ilogbf(float a) {
  int e;
  frexpf(a, &e);
  return a == 0.f || isnan(a) ? -2147483647 - 1 : isinf(a) ? 2147483647 : e - 1;
}
WARPTUNE_FN int ilogb(double a) {
  int e;
  frexp(a, &e);
  return a == 0.0 || isnan(a) ? -2147483647 - 1 : isinf(a) ? 2147483647 : e - 1;
}
WARPTUNE_FN float logbf(float a) { return a == 0.f ? -INFINITY : isfinite(a) ? (float)ilogbf(a) : a * a; }
WARPTUNE_FN double logb(double a) { return a == 0.0 ? -INFINITY : isfinite(a) ? (double)ilogb(a) : a * a; }
WARPTUNE_FN float modff(float a, float *whole) { *whole = truncf(a); return copysignf(isinf(a) ? 0.f : a - *whole, a); }
WARPTUNE_FN double modf(double a, double *whole) { *whole = trunc(a); return copysign(isinf(a) ? 0.0 : a - *whole, a); }
WARPTUNE_FN float nextafterf(float a, float b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == b) return b;
  if (a == 0.f) return copysignf(__int_as_float(1), b);
  int v = __float_as_int(a);
  return __int_as_float((a < b) == (a > 0.f) ? v + 1 : v - 1);
}
WARPTUNE_FN double nextafter(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == b) return b;
  if (a == 0.0) return copysign(__longlong_as_double(1), b);
  long long v = __double_as_longlong(a);
  return __longlong_as_double((a < b) == (a > 0.0) ? v + 1 : v - 1);
}
// The remainder of positive numbers, exact: y is doubled to below x and subtracted on the way back.
WARPTUNE_FN double warptune_mod(double x, double y) {
  if (!(y > 0.0) || !isfinite(x)) return NAN;
  if (x < y) return x;
  double s = ldexp(y, max(ilogb(x) - ilogb(y), 0));
  for (; s >= y; s *= 0.5)
    if (x >= s) x -= s;
  return x;
}
// A quotient of up to 23 bits is right but for 3 after one division.
WARPTUNE_FN float fmodf(float a, float b) {
  float x = fabsf(a), y = fabsf(b);
  if (!(x < y)) {
    if (x <= y * 8388608.f) {
      float q = truncf(__fdividef(x, y)), r = fmaf(-y, q, x);
      if (__float_as_uint(r) >= __float_as_uint(y)) {
        if (r < 0.f) q -= r < -y ? 2.f : 1.f;
        else if (r >= y) q += r < y + y ? 1.f : fmaf(-3.f, y, r) >= 0.f ? 3.f : 2.f;
      }
      x = fmaf(-y, q, x);
    } else {
      x = (float)warptune_mod((double)x, (double)y);
    }
  }
  return isnan(x) ? x : copysignf(x, a);
}
WARPTUNE_FN double fmod(double a, double b) { return isnan(b) ? b : copysign(warptune_mod(fabs(a), fabs(b)), a); }
WARPTUNE_FN double remainder(double a, double b) {
  double x = fabs(a), y = fabs(b);
  if (isnan(b)) return b;
  if (isinf(b) && isfinite(a)) return a;
  x = y <= 8.9e307 ? warptune_mod(x, y + y) : x;
  if (y < 1e-300) {
    if (x + x > y) { x -= y; if (x + x >= y) x -= y; }
  } else {
    double h = 0.5 * y;
    if (x > h) { x -= y; if (x >= h) x -= y; }
  }
  return signbit(a) ? -x : x;
}
WARPTUNE_FN float remainderf(float a, float b) {
  float x = fabsf(a), y = fabsf(b);
  if (isnan(b)) return b;
  x = y < 1.7e38f ? fmodf(x, y + y) : isinf(x) ? NAN : x;
  if (x + x > y) { x -= y; if (x + x >= y) x -= y; }
  return signbit(a) ? -x : x;
}
