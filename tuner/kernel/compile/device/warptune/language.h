// Qualifiers, fixed-width types, and what tells a source that it is CUDA: what clang with CUDA's SDK
// has, which does not say that it is nvcc (__NVCC__), and clang itself says __CUDA__ and __CUDA_ARCH__.
// The SDK is 12.1, the newest that clang 19 says it supports in full. (__CUDACC_VER_MAJOR__ is nvcc's
// alone, but some sources ask only for it.)
#pragma once
#define __CUDACC__ 1
#define CUDA_VERSION 12010
#define CUDART_VERSION 12010
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
// The two below are annotations, which asnvcc.Launch reads in LLVM's text.
#define __grid_constant__ __attribute__((annotate("warptune_grid_constant")))
#if __clang_major__ >= 15
#define __cluster_dims__(...) __attribute__((annotate("warptune_cluster_dims", __VA_ARGS__)))
#endif
#define WARPTUNE_FN static __device__ __inline__ __attribute__((always_inline))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INT8_TYPE__ int8_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __INT16_TYPE__ int16_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef long clock_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#ifndef NULL
#define NULL __null
#endif
#define assert(c) ((c) ? (void)0 : __builtin_trap())
WARPTUNE_FN void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
WARPTUNE_FN void *memset(void *to, int v, size_t n) { return __builtin_memset(to, v, n); }
