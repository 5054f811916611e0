// warptune/texture.h - texture and surface objects (CUDA C++ Programming Guide, texture and surface functions), by the
// instructions of the PTX ISA. What is alike is in macros.
#ifndef WARPTUNE_TEXTURE_H
#define WARPTUNE_TEXTURE_H

typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };

// What a type of texels is made of: four channels of Channel, of which it takes the first.
template <class _T> struct __warptune_texel;
#define WARPTUNE_TEXEL(T, CHANNEL) \
  template <> struct __warptune_texel<T> { \
    typedef CHANNEL channel; \
    static __device__ __forceinline__ T make(const CHANNEL *c) { return (T)c[0]; } \
  };
#define WARPTUNE_TEXELS(T, V, CHANNEL) \
  WARPTUNE_TEXEL(T, CHANNEL) \
  template <> struct __warptune_texel<V##1> { \
    typedef CHANNEL channel; \
    static __device__ __forceinline__ V##1 make(const CHANNEL *c) { return V##1{(T)c[0]}; } \
  }; \
  template <> struct __warptune_texel<V##2> { \
    typedef CHANNEL channel; \
    static __device__ __forceinline__ V##2 make(const CHANNEL *c) { return V##2{(T)c[0], (T)c[1]}; } \
  }; \
  template <> struct __warptune_texel<V##4> { \
    typedef CHANNEL channel; \
    static __device__ __forceinline__ V##4 make(const CHANNEL *c) { return V##4{(T)c[0], (T)c[1], (T)c[2], (T)c[3]}; } \
  };
WARPTUNE_TEXEL(char, int)
WARPTUNE_TEXELS(signed char, char, int)
WARPTUNE_TEXELS(unsigned char, uchar, unsigned)
WARPTUNE_TEXELS(short, short, int)
WARPTUNE_TEXELS(unsigned short, ushort, unsigned)
WARPTUNE_TEXELS(int, int, int)
WARPTUNE_TEXELS(unsigned, uint, unsigned)
WARPTUNE_TEXELS(float, float, float)

// A function that fetches, by value and through a pointer: its instruction, the operands between the braces, what it
// takes, and what of it the instruction is given.
#define WARPTUNE_FETCH_OF(NAME, OP, AT, CHANNEL, TYPE, C, KIND, TAKES, GIVEN) \
  static __device__ __forceinline__ void __warptune_##NAME(CHANNEL *c, cudaTextureObject_t t, TAKES) { \
    asm(OP "." TYPE "." KIND " {%0, %1, %2, %3}, [%4, " AT ";" : "=" C(c[0]), "=" C(c[1]), "=" C(c[2]), "=" C(c[3]) : "l"(t), GIVEN); \
  }
#define WARPTUNE_PACK(...) __VA_ARGS__
#define WARPTUNE_FETCH(NAME, OP, AT, KIND, TAKES, GIVEN, PASSED) \
  WARPTUNE_FETCH_OF(NAME, OP, AT, float, "f32", "f", KIND, WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  WARPTUNE_FETCH_OF(NAME, OP, AT, int, "s32", "r", KIND, WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  WARPTUNE_FETCH_OF(NAME, OP, AT, unsigned, "u32", "r", KIND, WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  template <class _T> __device__ __forceinline__ _T NAME(cudaTextureObject_t t, TAKES) { \
    typename __warptune_texel<_T>::channel c[4]; \
    __warptune_##NAME(c, t, PASSED); \
    return __warptune_texel<_T>::make(c); \
  } \
  template <class _T> __device__ __forceinline__ void NAME(_T *p, cudaTextureObject_t t, TAKES) { *p = NAME<_T>(t, PASSED); }

WARPTUNE_FETCH(tex1Dfetch, "tex.1d.v4", "{%5}]", "s32", WARPTUNE_PACK(int x), WARPTUNE_PACK("r"(x)), WARPTUNE_PACK(x))
WARPTUNE_FETCH(tex1D, "tex.1d.v4", "{%5}]", "f32", WARPTUNE_PACK(float x), WARPTUNE_PACK("f"(x)), WARPTUNE_PACK(x))
WARPTUNE_FETCH(tex2D, "tex.2d.v4", "{%5, %6}]", "f32", WARPTUNE_PACK(float x, float y), WARPTUNE_PACK("f"(x), "f"(y)), WARPTUNE_PACK(x, y))
WARPTUNE_FETCH(tex3D, "tex.3d.v4", "{%5, %6, %7, %7}]", "f32", WARPTUNE_PACK(float x, float y, float z), WARPTUNE_PACK("f"(x), "f"(y), "f"(z)), WARPTUNE_PACK(x, y, z))
WARPTUNE_FETCH(tex1DLayered, "tex.a1d.v4", "{%5, %6}]", "f32", WARPTUNE_PACK(float x, int layer), WARPTUNE_PACK("r"(layer), "f"(x)), WARPTUNE_PACK(x, layer))
WARPTUNE_FETCH(tex2DLayered, "tex.a2d.v4", "{%5, %6, %7, %7}]", "f32", WARPTUNE_PACK(float x, float y, int layer), WARPTUNE_PACK("r"(layer), "f"(x), "f"(y)), WARPTUNE_PACK(x, y, layer))
WARPTUNE_FETCH(tex1DLod, "tex.level.1d.v4", "{%5}], %6", "f32", WARPTUNE_PACK(float x, float level), WARPTUNE_PACK("f"(x), "f"(level)), WARPTUNE_PACK(x, level))
WARPTUNE_FETCH(tex2DLod, "tex.level.2d.v4", "{%5, %6}], %7", "f32", WARPTUNE_PACK(float x, float y, float level), WARPTUNE_PACK("f"(x), "f"(y), "f"(level)), WARPTUNE_PACK(x, y, level))
WARPTUNE_FETCH(tex3DLod, "tex.level.3d.v4", "{%5, %6, %7, %7}], %8", "f32", WARPTUNE_PACK(float x, float y, float z, float level), WARPTUNE_PACK("f"(x), "f"(y), "f"(z), "f"(level)), WARPTUNE_PACK(x, y, z, level))
WARPTUNE_FETCH(tex1DLayeredLod, "tex.level.a1d.v4", "{%5, %6}], %7", "f32", WARPTUNE_PACK(float x, int layer, float level), WARPTUNE_PACK("r"(layer), "f"(x), "f"(level)), WARPTUNE_PACK(x, layer, level))
WARPTUNE_FETCH(tex2DLayeredLod, "tex.level.a2d.v4", "{%5, %6, %7, %7}], %8", "f32", WARPTUNE_PACK(float x, float y, int layer, float level), WARPTUNE_PACK("r"(layer), "f"(x), "f"(y), "f"(level)), WARPTUNE_PACK(x, y, layer, level))
WARPTUNE_FETCH(__warptune_gather_r, "tld4.r.2d.v4", "{%5, %6}]", "f32", WARPTUNE_PACK(float x, float y), WARPTUNE_PACK("f"(x), "f"(y)), WARPTUNE_PACK(x, y))
WARPTUNE_FETCH(__warptune_gather_g, "tld4.g.2d.v4", "{%5, %6}]", "f32", WARPTUNE_PACK(float x, float y), WARPTUNE_PACK("f"(x), "f"(y)), WARPTUNE_PACK(x, y))
WARPTUNE_FETCH(__warptune_gather_b, "tld4.b.2d.v4", "{%5, %6}]", "f32", WARPTUNE_PACK(float x, float y), WARPTUNE_PACK("f"(x), "f"(y)), WARPTUNE_PACK(x, y))
WARPTUNE_FETCH(__warptune_gather_a, "tld4.a.2d.v4", "{%5, %6}]", "f32", WARPTUNE_PACK(float x, float y), WARPTUNE_PACK("f"(x), "f"(y)), WARPTUNE_PACK(x, y))
template <class _T> __device__ __forceinline__ _T tex2Dgather(cudaTextureObject_t t, float x, float y, int channel = 0) {
  switch (channel) {
  case 1: return __warptune_gather_g<_T>(t, x, y);
  case 2: return __warptune_gather_b<_T>(t, x, y);
  case 3: return __warptune_gather_a<_T>(t, x, y);
  default: return __warptune_gather_r<_T>(t, x, y);
  }
}
template <class _T> __device__ __forceinline__ void tex2Dgather(_T *p, cudaTextureObject_t t, float x, float y, int channel = 0) { *p = tex2Dgather<_T>(t, x, y, channel); }

// Surfaces move 1, 2, 4, 8 or 16 bytes as they are. The first coordinate counts bytes.
template <int _bytes> struct __warptune_words;
template <> struct __warptune_words<1> { unsigned short w[1]; };
template <> struct __warptune_words<2> { unsigned short w[1]; };
template <> struct __warptune_words<4> { unsigned w[1]; };
template <> struct __warptune_words<8> { unsigned w[2]; };
template <> struct __warptune_words<16> { unsigned w[4]; };

#define WARPTUNE_SULD(MODE, GEOMETRY, TYPE, V, AT, OUT, GIVEN) asm volatile("suld.b." GEOMETRY "." TYPE "." MODE " " V ", " AT ";" : OUT : "l"(s), GIVEN : "memory")
#define WARPTUNE_SUST(MODE, GEOMETRY, TYPE, V, AT, IN, GIVEN) asm volatile("sust.b." GEOMETRY "." TYPE "." MODE " " AT ", " V ";" : : IN, "l"(s), GIVEN : "memory")
#define WARPTUNE_SURFACE_OF(NAME, GEOMETRY, BYTES, TYPE, V, AT, OUT, IN, TAKES, GIVEN) \
  static __device__ __forceinline__ void __warptune_##NAME##read(__warptune_words<BYTES> &v, cudaSurfaceObject_t s, TAKES, int mode) { \
    if (mode == cudaBoundaryModeZero) WARPTUNE_SULD("zero", GEOMETRY, TYPE, V, AT, WARPTUNE_PACK(OUT), WARPTUNE_PACK(GIVEN)); \
    else if (mode == cudaBoundaryModeClamp) WARPTUNE_SULD("clamp", GEOMETRY, TYPE, V, AT, WARPTUNE_PACK(OUT), WARPTUNE_PACK(GIVEN)); \
    else WARPTUNE_SULD("trap", GEOMETRY, TYPE, V, AT, WARPTUNE_PACK(OUT), WARPTUNE_PACK(GIVEN)); \
  } \
  static __device__ __forceinline__ void __warptune_##NAME##write(const __warptune_words<BYTES> &v, cudaSurfaceObject_t s, TAKES, int mode) { \
    if (mode == cudaBoundaryModeZero) WARPTUNE_SUST("zero", GEOMETRY, TYPE, V, AT, WARPTUNE_PACK(IN), WARPTUNE_PACK(GIVEN)); \
    else if (mode == cudaBoundaryModeClamp) WARPTUNE_SUST("clamp", GEOMETRY, TYPE, V, AT, WARPTUNE_PACK(IN), WARPTUNE_PACK(GIVEN)); \
    else WARPTUNE_SUST("trap", GEOMETRY, TYPE, V, AT, WARPTUNE_PACK(IN), WARPTUNE_PACK(GIVEN)); \
  }
#define WARPTUNE_SURFACE(NAME, GEOMETRY, AT1, AT2, AT4, TAKES, GIVEN, PASSED) \
  WARPTUNE_SURFACE_OF(NAME, GEOMETRY, 1, "b8", "%0", AT1, WARPTUNE_PACK("=h"(v.w[0])), WARPTUNE_PACK("h"(v.w[0])), WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  WARPTUNE_SURFACE_OF(NAME, GEOMETRY, 2, "b16", "%0", AT1, WARPTUNE_PACK("=h"(v.w[0])), WARPTUNE_PACK("h"(v.w[0])), WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  WARPTUNE_SURFACE_OF(NAME, GEOMETRY, 4, "b32", "%0", AT1, WARPTUNE_PACK("=r"(v.w[0])), WARPTUNE_PACK("r"(v.w[0])), WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  WARPTUNE_SURFACE_OF(NAME, GEOMETRY, 8, "v2.b32", "{%0, %1}", AT2, WARPTUNE_PACK("=r"(v.w[0]), "=r"(v.w[1])), WARPTUNE_PACK("r"(v.w[0]), "r"(v.w[1])), WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  WARPTUNE_SURFACE_OF(NAME, GEOMETRY, 16, "v4.b32", "{%0, %1, %2, %3}", AT4, WARPTUNE_PACK("=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])), WARPTUNE_PACK("r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])), WARPTUNE_PACK(TAKES), WARPTUNE_PACK(GIVEN)) \
  template <class _T> __device__ __forceinline__ _T NAME##read(cudaSurfaceObject_t s, TAKES, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    __warptune_words<sizeof(_T)> v; \
    __warptune_##NAME##read(v, s, PASSED, mode); \
    _T t; \
    __builtin_memcpy(&t, &v, sizeof(_T)); \
    return t; \
  } \
  template <class _T> __device__ __forceinline__ void NAME##read(_T *p, cudaSurfaceObject_t s, TAKES, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { *p = NAME##read<_T>(s, PASSED, mode); } \
  template <class _T> __device__ __forceinline__ void NAME##write(_T t, cudaSurfaceObject_t s, TAKES, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    __warptune_words<sizeof(_T)> v = {}; \
    __builtin_memcpy(&v, &t, sizeof(_T)); \
    __warptune_##NAME##write(v, s, PASSED, mode); \
  }
WARPTUNE_SURFACE(surf1D, "1d", "[%1, {%2}]", "[%2, {%3}]", "[%4, {%5}]", WARPTUNE_PACK(int x), WARPTUNE_PACK("r"(x)), WARPTUNE_PACK(x))
WARPTUNE_SURFACE(surf2D, "2d", "[%1, {%2, %3}]", "[%2, {%3, %4}]", "[%4, {%5, %6}]", WARPTUNE_PACK(int x, int y), WARPTUNE_PACK("r"(x), "r"(y)), WARPTUNE_PACK(x, y))
WARPTUNE_SURFACE(surf3D, "3d", "[%1, {%2, %3, %4, %4}]", "[%2, {%3, %4, %5, %5}]", "[%4, {%5, %6, %7, %7}]", WARPTUNE_PACK(int x, int y, int z), WARPTUNE_PACK("r"(x), "r"(y), "r"(z)), WARPTUNE_PACK(x, y, z))
WARPTUNE_SURFACE(surf1DLayered, "a1d", "[%1, {%2, %3}]", "[%2, {%3, %4}]", "[%4, {%5, %6}]", WARPTUNE_PACK(int x, int layer), WARPTUNE_PACK("r"(layer), "r"(x)), WARPTUNE_PACK(x, layer))
WARPTUNE_SURFACE(surf2DLayered, "a2d", "[%1, {%2, %3, %4, %4}]", "[%2, {%3, %4, %5, %5}]", "[%4, {%5, %6, %7, %7}]", WARPTUNE_PACK(int x, int y, int layer), WARPTUNE_PACK("r"(layer), "r"(x), "r"(y)), WARPTUNE_PACK(x, y, layer))

// What is not here, under its own name.
#define WARPTUNE_NO_TEXTURE(NAME) \
  template <class _A, class... _As> __attribute__((unavailable("mipmaps, cubes and sparse textures are not simulated"))) __device__ _A NAME(cudaTextureObject_t, _As...);
WARPTUNE_NO_TEXTURE(tex1DGrad) WARPTUNE_NO_TEXTURE(tex2DGrad) WARPTUNE_NO_TEXTURE(tex3DGrad) WARPTUNE_NO_TEXTURE(texCubemap) WARPTUNE_NO_TEXTURE(texCubemapLayered) WARPTUNE_NO_TEXTURE(surfCubemapread)
#endif
