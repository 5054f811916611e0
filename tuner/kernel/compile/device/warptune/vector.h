// Vector types: plain structs, as in CUDA, so that their members have addresses and operators
// can be defined for them. That they are copied by vector instructions is vectorcopy.go's work.
// A type N has the elements T; pairs and fours of it are aligned to A2 and A4 bytes.
#pragma once
#define WARPTUNE_VECTOR(T, N, A2, A4)                                                 \
  struct N##1 { T x; };                                                               \
  struct __align__(A2) N##2 { T x, y; };                                              \
  struct N##3 { T x, y, z; };                                                         \
  struct __align__(A4) N##4 { T x, y, z, w; };                                        \
  WARPTUNE_FN N##1 make_##N##1(T x) { return N##1{x}; }                               \
  WARPTUNE_FN N##2 make_##N##2(T x, T y) { return N##2{x, y}; }                       \
  WARPTUNE_FN N##3 make_##N##3(T x, T y, T z) { return N##3{x, y, z}; }               \
  WARPTUNE_FN N##4 make_##N##4(T x, T y, T z, T w) { return N##4{x, y, z, w}; }
WARPTUNE_VECTOR(signed char, char, 2, 4)
WARPTUNE_VECTOR(unsigned char, uchar, 2, 4)
WARPTUNE_VECTOR(short, short, 4, 8)
WARPTUNE_VECTOR(unsigned short, ushort, 4, 8)
WARPTUNE_VECTOR(int, int, 8, 16)
WARPTUNE_VECTOR(unsigned, uint, 8, 16)
WARPTUNE_VECTOR(long, long, 16, 16)
WARPTUNE_VECTOR(unsigned long, ulong, 16, 16)
WARPTUNE_VECTOR(long long, longlong, 16, 16)
WARPTUNE_VECTOR(unsigned long long, ulonglong, 16, 16)
WARPTUNE_VECTOR(float, float, 8, 16)
WARPTUNE_VECTOR(double, double, 16, 16)
#undef WARPTUNE_VECTOR

template <class A, class B> struct warptune_same {};
template <class A> struct warptune_same<A, A> { typedef A yes; };
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  // A template, so that nothing is converted to uint3 for it: dim3(threadIdx) is to be a copy.
  template <class V, class = typename warptune_same<V, uint3>::yes> __host__ __device__ constexpr dim3(V v) : x(v.x), y(v.y), z(v.z) {}
  __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

// Vector access to an array of scalars. In "*(float4 *)&tile[k][i]" clang keeps the
// alignment it can prove from the declaration (4), not float4's (16), and splits the
// access into four scalar ones; a pointer parameter carries float4's own alignment.
WARPTUNE_FN float2 ld2(const float *p) { return *(const float2 *)p; }
WARPTUNE_FN float4 ld4(const float *p) { return *(const float4 *)p; }
WARPTUNE_FN void st2(float *p, float2 v) { *(float2 *)p = v; }
WARPTUNE_FN void st4(float *p, float4 v) { *(float4 *)p = v; }
