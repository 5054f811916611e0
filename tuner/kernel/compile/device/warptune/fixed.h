// The macros of <stdint.h> for literals, and the limits that constants.h has not.
#pragma once
#define WARPTUNE_JOIN2(A, B) A##B
#define WARPTUNE_JOIN(A, B) WARPTUNE_JOIN2(A, B)
#define INT8_C(v) v
#define INT16_C(v) v
#define INT32_C(v) v
#define INT64_C(v) WARPTUNE_JOIN(v, __INT64_C_SUFFIX__)
#define UINT8_C(v) v
#define UINT16_C(v) v
#define UINT32_C(v) WARPTUNE_JOIN(v, __UINT32_C_SUFFIX__)
#define UINT64_C(v) WARPTUNE_JOIN(v, __UINT64_C_SUFFIX__)
#ifndef INT8_MIN
#define INT8_MIN (-128)
#endif
#ifndef INT16_MIN
#define INT16_MIN (-32768)
#endif
#ifndef INT64_MIN
#define INT64_MIN (-INT64_MAX - 1)
#endif
#ifndef UINTPTR_MAX
#define UINTPTR_MAX UINT64_MAX
#endif
