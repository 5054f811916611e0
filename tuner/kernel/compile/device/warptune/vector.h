// Vector types. ext_vector_type, not structs: a struct float4 is split into scalars
// and the load/store vectoriser does not always rejoin it (seen: 128 ld.shared.f32
// instead of 32 ld.shared.v4.f32). Three-element types stay structs, because
// ext_vector_type(3) would be padded to four elements.
#pragma once
#define WARPTUNE_VECTOR(T, N)                                                       \
  struct N##1 { T x; };                                                             \
  typedef T N##2 __attribute__((ext_vector_type(2)));                               \
  struct N##3 { T x, y, z; };                                                       \
  typedef T N##4 __attribute__((ext_vector_type(4)));                               \
  WARPTUNE_FN N##1 make_##N##1(T x) { return N##1{x}; }                             \
  WARPTUNE_FN N##2 make_##N##2(T x, T y) { return (N##2){x, y}; }                   \
  WARPTUNE_FN N##3 make_##N##3(T x, T y, T z) { return N##3{x, y, z}; }             \
  WARPTUNE_FN N##4 make_##N##4(T x, T y, T z, T w) { return (N##4){x, y, z, w}; }
WARPTUNE_VECTOR(signed char, char)
WARPTUNE_VECTOR(unsigned char, uchar)
WARPTUNE_VECTOR(short, short)
WARPTUNE_VECTOR(unsigned short, ushort)
WARPTUNE_VECTOR(int, int)
WARPTUNE_VECTOR(unsigned, uint)
WARPTUNE_VECTOR(long long, longlong)
WARPTUNE_VECTOR(unsigned long long, ulonglong)
WARPTUNE_VECTOR(float, float)
WARPTUNE_VECTOR(double, double)
#undef WARPTUNE_VECTOR

struct dim3 {
  unsigned x, y, z;
  __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Vector access to an array of scalars. In "*(float4 *)&tile[k][i]" clang keeps the
// alignment it can prove from the declaration (4), not float4's (16), and splits the
// access into four scalar ones; a pointer parameter carries float4's own alignment.
WARPTUNE_FN float2 ld2(const float *p) { return *(const float2 *)p; }
WARPTUNE_FN float4 ld4(const float *p) { return *(const float4 *)p; }
WARPTUNE_FN void st2(float *p, float2 v) { *(float2 *)p = v; }
WARPTUNE_FN void st4(float *p, float4 v) { *(float4 *)p = v; }
