// The names without f for every arithmetic type, as C++ has them: of floats the float function, of
// integers the double one, of two types that of the larger; min and max of unlike types; namespace std.
#pragma once
template <class A> struct warptune_real {};
template <> struct warptune_real<float> { typedef float type; };
template <> struct warptune_real<double> { typedef double type; };
#define WARPTUNE_INTEGER(A) \
  template <> struct warptune_real<A> { typedef double type; typedef double integer; };
WARPTUNE_INTEGER(bool)
WARPTUNE_INTEGER(char)
WARPTUNE_INTEGER(signed char)
WARPTUNE_INTEGER(unsigned char)
WARPTUNE_INTEGER(short)
WARPTUNE_INTEGER(unsigned short)
WARPTUNE_INTEGER(int)
WARPTUNE_INTEGER(unsigned)
WARPTUNE_INTEGER(long)
WARPTUNE_INTEGER(unsigned long)
WARPTUNE_INTEGER(long long)
WARPTUNE_INTEGER(unsigned long long)
#undef WARPTUNE_INTEGER
// What a function of an A and a B gives, for unlike types only.
template <class A, class B> struct warptune_unlike { typedef decltype(typename warptune_real<A>::type() + typename warptune_real<B>::type()) real; typedef decltype(A() + B()) common; };
template <class A> struct warptune_unlike<A, A> {};
template <> struct warptune_unlike<float, float> {};

#define WARPTUNE_OF_INTEGER(NAME) \
  template <class A> WARPTUNE_FN typename warptune_real<A>::integer NAME(A a) { return NAME((double)a); }
#define WARPTUNE_UNARY(NAME) \
  WARPTUNE_FN float NAME(float a) { return NAME##f(a); } \
  WARPTUNE_OF_INTEGER(NAME)
#define WARPTUNE_BINARY(NAME)                                              \
  WARPTUNE_FN float NAME(float a, float b) { return NAME##f(a, b); }      \
  template <class A> WARPTUNE_FN typename warptune_real<A>::integer NAME(A a, A b) { return NAME((double)a, (double)b); } \
  template <class A, class B> WARPTUNE_FN typename warptune_unlike<A, B>::real NAME(A a, B b) { return NAME((double)a, (double)b); }
#define WARPTUNE_EACH_UNARY(F)                                                                                  \
  F(sqrt) F(rsqrt) F(cbrt) F(rcbrt) F(exp) F(exp2) F(exp10) F(expm1) F(log) F(log2) F(log10) F(log1p)           \
  F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh)               \
  F(sinpi) F(cospi) F(erf) F(erfc) F(normcdf) F(floor) F(ceil) F(trunc) F(round) F(rint) F(nearbyint) F(logb)
#define WARPTUNE_EACH_BINARY(F) F(pow) F(atan2) F(fmod) F(remainder) F(hypot) F(fdim) F(fmin) F(fmax) F(copysign) F(nextafter)
WARPTUNE_EACH_UNARY(WARPTUNE_UNARY)
WARPTUNE_EACH_BINARY(WARPTUNE_BINARY)
WARPTUNE_UNARY(fabs)
WARPTUNE_FN float abs(float a) { return fabsf(a); }
WARPTUNE_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
WARPTUNE_FN float tgamma(float a) { return tgammaf(a); }
WARPTUNE_FN float lgamma(float a) { return lgammaf(a); }
WARPTUNE_FN float erfinv(float a) { return erfinvf(a); }
// Not to be float's in silence.
double tgamma(double) = delete;
double lgamma(double) = delete;
double erfinv(double) = delete;
WARPTUNE_FN float ldexp(float a, int e) { return ldexpf(a, e); }
WARPTUNE_FN float scalbn(float a, int e) { return ldexpf(a, e); }
WARPTUNE_FN float frexp(float a, int *e) { return frexpf(a, e); }
WARPTUNE_FN float modf(float a, float *whole) { return modff(a, whole); }
WARPTUNE_FN int ilogb(float a) { return ilogbf(a); }
WARPTUNE_FN long lrint(float a) { return lrintf(a); }
WARPTUNE_FN long lround(float a) { return lroundf(a); }
WARPTUNE_FN long long llrint(float a) { return llrintf(a); }
WARPTUNE_FN long long llround(float a) { return llroundf(a); }
WARPTUNE_FN void sincos(float a, float *s, float *c) { sincosf(a, s, c); }
WARPTUNE_FN void sincospi(float a, float *s, float *c) { sincospif(a, s, c); }
#undef WARPTUNE_BINARY
#undef WARPTUNE_UNARY
#undef WARPTUNE_OF_INTEGER
WARPTUNE_FN float min(float a, float b) { return fminf(a, b); }
WARPTUNE_FN float max(float a, float b) { return fmaxf(a, b); }
template <class A, class B> WARPTUNE_FN typename warptune_unlike<A, B>::common min(A a, B b) {
  typedef typename warptune_unlike<A, B>::common common;
  return min((common)a, (common)b);
}
template <class A, class B> WARPTUNE_FN typename warptune_unlike<A, B>::common max(A a, B b) {
  typedef typename warptune_unlike<A, B>::common common;
  return max((common)a, (common)b);
}

namespace std {
typedef ::size_t size_t;
typedef ::ptrdiff_t ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;
#define WARPTUNE_USING(NAME) using ::NAME;
WARPTUNE_EACH_UNARY(WARPTUNE_USING)
WARPTUNE_EACH_BINARY(WARPTUNE_USING)
#undef WARPTUNE_USING
using ::abs; using ::fabs; using ::fma; using ::tgamma; using ::lgamma; using ::ldexp; using ::scalbn; using ::frexp; using ::modf; using ::ilogb;
using ::lrint; using ::lround; using ::llrint; using ::llround; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
using ::memcpy; using ::memset;
}  // namespace std
#undef WARPTUNE_EACH_UNARY
#undef WARPTUNE_EACH_BINARY
