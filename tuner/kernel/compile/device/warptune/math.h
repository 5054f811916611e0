// Single-precision mathematics: what is one instruction is that instruction; sine, cosine,
// exponential, logarithm and power are good to a unit or two in the last place and execute about
// as many instructions as under nvcc, because libdevice is not here. Polynomials are minimax ones
// of the range by Remez's exchange, made with 50 digits and rounded.
// With -use_fast_math they are the special-function unit's approximations, as under nvcc.
#pragma once

// The instruction in the form that the compilation's treatment of subnormals asks for.
#ifdef WARPTUNE_FTZ
#define WARPTUNE_NVVM(NAME) __nvvm_##NAME##_ftz_f
#else
#define WARPTUNE_NVVM(NAME) __nvvm_##NAME##_f
#endif

#if !__has_builtin(__nvvm_rcp_approx_ftz_f)  // clang 14
WARPTUNE_FN float __nvvm_rcp_approx_ftz_f(float a) { float r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
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
WARPTUNE_FN float copysignf(float a, float b) { float r; asm("copysign.f32 %0, %1, %2;" : "=f"(r) : "f"(b), "f"(a)); return r; }
// The sum is not rounded up: of 0.49999997 it is less than 1.
WARPTUNE_FN float roundf(float a) { return truncf(WARPTUNE_NVVM(add_rz)(a, copysignf(0.5f, a))); }
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
// Divisions, roots and fused products rounded to zero, down and up.
#define WARPTUNE_ROUNDED(INTRINSIC, NVVM)                                                                        \
  WARPTUNE_FN float __fdiv_##INTRINSIC(float a, float b) { return WARPTUNE_NVVM(div_##NVVM)(a, b); }             \
  WARPTUNE_FN float __frcp_##INTRINSIC(float a) { return WARPTUNE_NVVM(rcp_##NVVM)(a); }                         \
  WARPTUNE_FN float __fsqrt_##INTRINSIC(float a) { return WARPTUNE_NVVM(sqrt_##NVVM)(a); }                       \
  WARPTUNE_FN float __fsub_##INTRINSIC(float a, float b) { return WARPTUNE_NVVM(add_##NVVM)(a, -b); }            \
  WARPTUNE_FN float __fmaf_##INTRINSIC(float a, float b, float c) { return WARPTUNE_NVVM(fma_##NVVM)(a, b, c); }
WARPTUNE_ROUNDED(rz, rz)
WARPTUNE_ROUNDED(rd, rm)
WARPTUNE_ROUNDED(ru, rp)
#undef WARPTUNE_ROUNDED
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

// e to the power a, or another base: steps is its log2 / 252, high + low its log2. The product with the log2, rounded to an
// integer from -126 to 126, lies at the low end of t's bits, where the factor's exponent is.
WARPTUNE_FN float warptune_exp(float a, float steps, float high, float low) {
  float t = WARPTUNE_NVVM(fma_rn)(WARPTUNE_NVVM(saturate)(WARPTUNE_NVVM(fma_rn)(a, steps, 0.5f)), 252.f, 12582913.f);
  float f = fmaf(a, low, fmaf(a, high, -WARPTUNE_NVVM(add_rn)(t, -12583039.f)));
  return __nvvm_ex2_approx_ftz_f(f) * __uint_as_float(__float_as_uint(t) << 23);
}
// (Whatever the options.)
WARPTUNE_FN float warptune_expf(float a) { return warptune_exp(a, 0.00572498003f, 1.44269502f, 1.92596299e-8f); }
// a = 2^k (1 + f), f from that of the bits of least on; a subnormal is multiplied first.
WARPTUNE_FN float warptune_split(float *a, unsigned least, float *k) {
  bool sub = *a < 1.17549435e-38f;
  *a = sub ? *a * 8388608.f : *a;
  unsigned u = __float_as_uint(*a), e = (u - least) & 0xff800000u;
  *k = fmaf((float)(int)e, 1.1920929e-7f, sub ? -23.f : 0.f);
  return __uint_as_float(u - e) - 1.f;
}
// The logarithm r of a, unless a is not positive or is not finite.
WARPTUNE_FN float warptune_log_special(float a, float r) {
  if (__float_as_uint(a) >= 0x7f800000u) r = fmaf(a, INFINITY, INFINITY);
  return a == 0.f ? -INFINITY : r;
}
// ln(1 + f) on [-1/3, 1/3].
WARPTUNE_FN float warptune_log1(float f) {
  float p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, -0.128919676f, 0.13984555f), -0.121842042f), 0.140058443f), -0.16680491f);
  p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, p, 0.200104073f), -0.249997973f), 0.333332151f), -0.5f);
  return fmaf(f * p, f, f);
}
// The bits of 2/pi.
static __device__ const unsigned warptune_two_over_pi[] = {0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u};
// a - q pi/2 in [-pi/4, pi/4] by Cody and Waite's three steps, fused, up to 105615. Beyond, by Payne and Hanek's: the 96 bits
// of 2/pi that say where in the circle a lies, times a's, are quadrants, to 2 bits before the point and 62 behind it.
WARPTUNE_FN float warptune_reduce(float a, int *quadrant) {
  int n = __float2int_rn(a * 0.636619747f);
  float q = (float)n;
  float r = fmaf(q, -5.39030295e-15f, fmaf(q, -7.54978942e-8f, fmaf(q, -1.57079625f, a)));
  if (fabsf(a) >= 105615.f) {
    if (fabsf(a) == INFINITY) {
      n = 0;
      r = NAN;
    } else {
      unsigned u = __float_as_uint(a), skip = (u >> 23 & 255) - 128, m = u << 8 | 0x80000000u;
      const unsigned *w = warptune_two_over_pi + (skip >> 5);
      unsigned w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
      w0 = __funnelshift_l(w1, w0, skip);
      w1 = __funnelshift_l(w2, w1, skip);
      w2 = __funnelshift_l(w3, w2, skip);
      unsigned long long middle = (unsigned long long)w1 * m + ((unsigned long long)w2 * m >> 32);
      unsigned long long p = ((unsigned long long)(w0 * m) << 32) + middle;
      n = (int)((p >> 62) + (p >> 61 & 1));
      r = (float)((double)(long long)(p << 2) * 8.5153039502163873e-20);
      n = a < 0.f ? -n : n;
      r = a < 0.f ? -r : r;
    }
  }
  *quadrant = n;
  return r;
}
// The sine of r + q pi/2: an odd q asks for the cosine's polynomial.
WARPTUNE_FN float warptune_sin_of(float r, int q) {
  bool odd = q & 1;
  float z = r * r, x = odd ? 1.f : r, p = -0.000195170083f;
  if (odd) p = fmaf(z, 2.44306702e-5f, -0.00138873013f);
  p = fmaf(z, p, odd ? 0.0416666456f : 0.00833218917f);
  p = fmaf(z, p, odd ? -0.5f : -0.166666552f);
  p = fmaf(p, fmaf(z, x, 0.f), x);  // (a sum: a zero keeps its sign)
  return q & 2 ? -p : p;
}

#ifdef WARPTUNE_FAST_MATH
WARPTUNE_FN float expf(float a) { return __expf(a); }
WARPTUNE_FN float exp10f(float a) { return __exp10f(a); }
WARPTUNE_FN float logf(float a) { return __logf(a); }
WARPTUNE_FN float log2f(float a) { return __log2f(a); }
WARPTUNE_FN float log10f(float a) { return __log10f(a); }
WARPTUNE_FN float powf(float a, float b) { return __powf(a, b); }
WARPTUNE_FN float sinf(float a) { return __sinf(a); }
WARPTUNE_FN float cosf(float a) { return __cosf(a); }
WARPTUNE_FN float tanf(float a) { return __tanf(a); }
WARPTUNE_FN void sincosf(float a, float *s, float *c) { __sincosf(a, s, c); }
#else
WARPTUNE_FN float expf(float a) { return warptune_expf(a); }
WARPTUNE_FN float exp10f(float a) { return warptune_exp(a, 0.0131822545f, 3.32192802f, 7.05953696e-8f); }
WARPTUNE_FN float logf(float a) { float k, f = warptune_split(&a, 0x3f2aaaabu, &k); return warptune_log_special(a, fmaf(k, 0.693147182f, warptune_log1(f))); }
WARPTUNE_FN float log10f(float a) {
  float k, f = warptune_split(&a, 0x3f2aaaabu, &k);
  return warptune_log_special(a, fmaf(k, 0.301029996f, 0.434294482f * warptune_log1(f)));
}
// Of 1 + f from sqrt(1/2) to sqrt(2).
WARPTUNE_FN float log2f(float a) {
  float k, f = warptune_split(&a, 0x3f3504f3u, &k);
  float p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, -0.130705118f, -0.0248104371f), 0.197090581f), -0.205737934f), 0.205405533f);
  p = fmaf(f, fmaf(f, fmaf(f, fmaf(f, fmaf(f, p, -0.238887355f), 0.288473576f), -0.360702813f), 0.480900705f), -0.721347511f);
  return warptune_log_special(a, k + fmaf(f, 1.44269502f, f * (f * p)));
}
// 2^(b log2 |a|), the logarithm of 1 + f, 2 atanh(f / (2 + f)), in two floats, so that the product with b keeps its fraction.
WARPTUNE_FN float warptune_power(float x, float b) {
  float k, f = warptune_split(&x, 0x3f3504f3u, &k), over = __nvvm_rcp_approx_ftz_f(f + 2.f);
  float s = WARPTUNE_NVVM(mul_rn)(f + f, over), z = s * s;
  float lost = over * fmaf(-s, f, 2.f * (f - s));
  float p = z * fmaf(z, fmaf(z, fmaf(z, 0.000657208671f, 0.00321818166f), 0.0180337131f), 0.120224588f);
  float h = fmaf(s, 1.44269502f, k), l = fmaf(s, 1.44269502f, k - h);
  l = fmaf(s, 1.92596299e-8f, fmaf(lost, 1.44269502f, l));
  l = fmaf(p, s, fmaf(3.f * p, lost, l));
  float sum = WARPTUNE_NVVM(add_rn)(h, l), rest = WARPTUNE_NVVM(add_rn)(l, -WARPTUNE_NVVM(add_rn)(sum, -h));
  float y = WARPTUNE_NVVM(mul_rn)(sum, b), j = rintf(y);
  float g = (y - j) + fmaf(rest, b, fmaf(sum, b, -y));
  float e = fmaf(g, fmaf(g, fmaf(g, 0.000154715992f, 0.0013391237f), 0.00961802341f), 0.0555035882f);
  e = fmaf(g, fmaf(g, fmaf(g, e, 0.240226507f), 0.693147182f), 1.f);
  int n = (int)j, half = n >> 1;  // in two factors, so that neither 2^128 nor a subnormal 2^n is needed
  e = e * __int_as_float((half << 23) + 0x3f800000) * __int_as_float((n - half << 23) + 0x3f800000);
  return fabsf(y) > 152.f ? y < 0.f ? 0.f : INFINITY : e;
}
WARPTUNE_FN float powf(float a, float b) {
  bool odd = fabsf(b - 2.f * truncf(0.5f * b)) == 1.f;
  float r = warptune_power(fabsf(a), b);
  if (a == 1.f || b == 0.f) return 1.f;
  if (isnan(a) || isnan(b)) return a + b;
  if (a == 0.f || isinf(a)) {
    unsigned u = __float_as_uint(a + a) ^ (b < 0.f ? 0x7f800000u : 0u);
    return __uint_as_float(odd ? u : u & 0x7fffffffu);
  }
  if (a == -1.f && isinf(b)) return 1.f;
  if (a >= 0.f) return r;
  return floorf(b) != b ? NAN : odd ? -r : r;
}
WARPTUNE_FN float sinf(float a) { int q; float r = warptune_reduce(a, &q); return warptune_sin_of(r, q); }
WARPTUNE_FN float cosf(float a) { int q; float r = warptune_reduce(a, &q); return warptune_sin_of(r, q + 1); }
WARPTUNE_FN float tanf(float a) {
  int q;
  float r = warptune_reduce(a, &q), z = r * r;
  float p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, fmaf(z, 0.00950093288f, 0.00291471905f), 0.0245654974f), 0.0533708297f), 0.133393258f), 0.333331347f);
  p = fmaf(p, z * r, r);
  return q & 1 ? __nvvm_rcp_approx_ftz_f(-p) : p;
}
WARPTUNE_FN void sincosf(float a, float *s, float *c) {
  int q;
  float r = warptune_reduce(a, &q), z = r * r;
  float y = fmaf(fmaf(z, fmaf(z, -0.000195170083f, 0.00833218917f), -0.166666552f), fmaf(z, r, 0.f), r);
  float x = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 2.44306702e-5f, -0.00138873013f), 0.0416666456f), -0.5f), 1.f);
  float u = q & 1 ? x : y, v = q & 1 ? y : x;
  *s = q & 2 ? -u : u;
  *c = q + 1 & 2 ? -v : v;
}
#endif
#if defined(WARPTUNE_FAST_MATH) && __CUDA_ARCH__ >= 750
WARPTUNE_FN float tanhf(float a) { float r; asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
#else
// Below 0.6 a polynomial, then 1 - 2 / (e^2a + 1).
WARPTUNE_FN float tanhf(float a) {
  float x = fabsf(a), z = a * a;
  float r = fmaf(__nvvm_rcp_approx_ftz_f(__nvvm_ex2_approx_ftz_f(x * 2.88539004f) + 1.f), -2.f, 1.f);
  r = copysignf(x >= 9.02f ? 1.f : r, a);
  float p = fmaf(z, fmaf(z, fmaf(z, 0.0156124169f, -0.0522118434f), 0.133131221f), -0.333325982f);
  return x >= 0.6f ? r : fmaf(fmaf(p, z, 0.f), a, a);
}
#endif
// e^x / 4 of x >= 0: its double is finite where the hyperbolic cosine is.
WARPTUNE_FN float warptune_exp_fourth(float x) {
  float t = WARPTUNE_NVVM(fma_rn)(WARPTUNE_NVVM(saturate)(WARPTUNE_NVVM(fma_rn)(x, 0.00572498003f, 0.5f)), 252.f, 12582911.f);
  float f = fmaf(x, 1.92596299e-8f, fmaf(x, 1.44269502f, -WARPTUNE_NVVM(add_rn)(t, -12583037.f)));
  return __nvvm_ex2_approx_ftz_f(f) * __uint_as_float(__float_as_uint(t) << 23);
}
WARPTUNE_FN float coshf(float a) {
  float e = warptune_exp_fourth(fabsf(a));
  return fmaf(2.f, e, __fdividef(0.125f, e));
}
WARPTUNE_FN float sinhf(float a) {
  float x = fabsf(a), z = a * a, e = warptune_exp_fourth(x);
  float p = z * fmaf(z, fmaf(z, fmaf(z, 2.78399693e-6f, 0.000198426351f), 0.00833331142f), 0.166666672f);
  return x >= 1.f ? copysignf(fmaf(2.f, e, -__fdividef(0.125f, e)), a) : fmaf(p, a, a);
}
// Both are multiplied by a power of two that brings the larger near 1.
WARPTUNE_FN float hypotf(float a, float b) {
  int x = __float_as_int(fabsf(a)), y = __float_as_int(fabsf(b)), h = max(x, y), l = min(x, y), e = h & (int)0xfe000000;
  float scale = __int_as_float(0x7e800000 - e), p = __int_as_float(l) * scale, q = __int_as_float(h) * scale;
  float r = sqrtf(fmaf(q, q, p * p)) * __int_as_float(e | 0x00800000);
  r = l == 0 ? __int_as_float(h) : r;
  return l == 0x7f800000 || h == 0x7f800000 ? INFINITY : r;
}
