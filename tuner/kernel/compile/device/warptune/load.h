// Loads and stores with a cache operator, and through the read-only path. Inline PTX
// on purpose: clang's __nvvm_ldg_* builtins were renamed or removed over time.
#pragma once
#define WARPTUNE_LOAD(NAME, OP, CLOBBER, T, PTX, OUT) \
  WARPTUNE_FN T NAME(const T *p) { T r; asm CLOBBER("ld.global." OP "." PTX " %0, [%1];" : OUT(r) : "l"(p)); return r; }
#define WARPTUNE_LOAD2(NAME, OP, CLOBBER, V, T, PTX, OUT) \
  WARPTUNE_FN V NAME(const V *p) { T a, b; asm CLOBBER("ld.global." OP ".v2." PTX " {%0,%1}, [%2];" : OUT(a), OUT(b) : "l"(p)); return (V){a, b}; }
#define WARPTUNE_LOAD4(NAME, OP, CLOBBER, V, T, PTX, OUT) \
  WARPTUNE_FN V NAME(const V *p) { T a, b, c, d; asm CLOBBER("ld.global." OP ".v4." PTX " {%0,%1,%2,%3}, [%4];" : OUT(a), OUT(b), OUT(c), OUT(d) : "l"(p)); return (V){a, b, c, d}; }
// What is 32, 64 or 128 bits in all, as elements of 32 or 64.
#define WARPTUNE_LOAD_BITS(NAME, V, BITS) \
  WARPTUNE_FN V NAME(const V *p) { return __builtin_bit_cast(V, NAME((const BITS *)p)); }
// Bytes and halves have no register class of their own: they pass through 32 bits.
#define WARPTUNE_LOAD_SMALL(NAME, OP, CLOBBER, T, PTX) \
  WARPTUNE_FN T NAME(const T *p) { int r; asm CLOBBER("ld.global." OP "." PTX " %0, [%1];" : "=r"(r) : "l"(p)); return (T)r; }
#define WARPTUNE_LOADS(NAME, OP, CLOBBER)                                   \
  WARPTUNE_LOAD_SMALL(NAME, OP, CLOBBER, signed char, "s8")                 \
  WARPTUNE_LOAD_SMALL(NAME, OP, CLOBBER, char, "s8")                        \
  WARPTUNE_LOAD_SMALL(NAME, OP, CLOBBER, unsigned char, "u8")               \
  WARPTUNE_LOAD_SMALL(NAME, OP, CLOBBER, short, "s16")                      \
  WARPTUNE_LOAD_SMALL(NAME, OP, CLOBBER, unsigned short, "u16")             \
  WARPTUNE_LOAD(NAME, OP, CLOBBER, int, "s32", "=r")                        \
  WARPTUNE_LOAD(NAME, OP, CLOBBER, unsigned, "u32", "=r")                   \
  WARPTUNE_LOAD(NAME, OP, CLOBBER, long long, "s64", "=l")                  \
  WARPTUNE_LOAD(NAME, OP, CLOBBER, unsigned long long, "u64", "=l")         \
  WARPTUNE_LOAD(NAME, OP, CLOBBER, float, "f32", "=f")                      \
  WARPTUNE_LOAD(NAME, OP, CLOBBER, double, "f64", "=d")                     \
  WARPTUNE_LOAD2(NAME, OP, CLOBBER, int2, int, "s32", "=r")                 \
  WARPTUNE_LOAD2(NAME, OP, CLOBBER, uint2, unsigned, "u32", "=r")           \
  WARPTUNE_LOAD2(NAME, OP, CLOBBER, float2, float, "f32", "=f")             \
  WARPTUNE_LOAD2(NAME, OP, CLOBBER, double2, double, "f64", "=d")           \
  WARPTUNE_LOAD4(NAME, OP, CLOBBER, int4, int, "s32", "=r")                 \
  WARPTUNE_LOAD4(NAME, OP, CLOBBER, uint4, unsigned, "u32", "=r")           \
  WARPTUNE_LOAD4(NAME, OP, CLOBBER, float4, float, "f32", "=f")             \
  WARPTUNE_LOAD2(NAME, OP, CLOBBER, longlong2, long long, "s64", "=l")      \
  WARPTUNE_LOAD2(NAME, OP, CLOBBER, ulonglong2, unsigned long long, "u64", "=l") \
  WARPTUNE_LOAD_BITS(NAME, long, long long)                                 \
  WARPTUNE_LOAD_BITS(NAME, unsigned long, unsigned long long)               \
  WARPTUNE_LOAD_BITS(NAME, char2, unsigned short)                           \
  WARPTUNE_LOAD_BITS(NAME, uchar2, unsigned short)                          \
  WARPTUNE_LOAD_BITS(NAME, char4, unsigned)                                 \
  WARPTUNE_LOAD_BITS(NAME, uchar4, unsigned)                                \
  WARPTUNE_LOAD_BITS(NAME, short2, unsigned)                                \
  WARPTUNE_LOAD_BITS(NAME, ushort2, unsigned)                               \
  WARPTUNE_LOAD_BITS(NAME, short4, uint2)                                   \
  WARPTUNE_LOAD_BITS(NAME, ushort4, uint2)
WARPTUNE_LOADS(__ldg, "nc", )
WARPTUNE_LOADS(__ldca, "ca", volatile)
WARPTUNE_LOADS(__ldcg, "cg", volatile)
WARPTUNE_LOADS(__ldcs, "cs", volatile)
WARPTUNE_LOADS(__ldlu, "lu", volatile)
WARPTUNE_LOADS(__ldcv, "cv", volatile)
#define WARPTUNE_STORE(NAME, OP, T, PTX, IN) \
  WARPTUNE_FN void NAME(T *p, T v) { asm volatile("st.global." OP "." PTX " [%0], %1;" ::"l"(p), IN(v) : "memory"); }
#define WARPTUNE_STORE2(NAME, OP, V, PTX, IN) \
  WARPTUNE_FN void NAME(V *p, V v) { asm volatile("st.global." OP ".v2." PTX " [%0], {%1,%2};" ::"l"(p), IN(v.x), IN(v.y) : "memory"); }
#define WARPTUNE_STORE4(NAME, OP, V, PTX, IN) \
  WARPTUNE_FN void NAME(V *p, V v) { asm volatile("st.global." OP ".v4." PTX " [%0], {%1,%2,%3,%4};" ::"l"(p), IN(v.x), IN(v.y), IN(v.z), IN(v.w) : "memory"); }
#define WARPTUNE_STORE_SMALL(NAME, OP, T, PTX) \
  WARPTUNE_FN void NAME(T *p, T v) { asm volatile("st.global." OP "." PTX " [%0], %1;" ::"l"(p), "r"((unsigned)v) : "memory"); }
#define WARPTUNE_STORES(NAME, OP)                               \
  WARPTUNE_STORE_SMALL(NAME, OP, char, "u8")                    \
  WARPTUNE_STORE_SMALL(NAME, OP, signed char, "u8")             \
  WARPTUNE_STORE_SMALL(NAME, OP, unsigned char, "u8")           \
  WARPTUNE_STORE_SMALL(NAME, OP, short, "u16")                  \
  WARPTUNE_STORE_SMALL(NAME, OP, unsigned short, "u16")         \
  WARPTUNE_STORE(NAME, OP, long long, "s64", "l")               \
  WARPTUNE_STORE(NAME, OP, unsigned long long, "u64", "l")      \
  WARPTUNE_STORE2(NAME, OP, int2, "s32", "r")                   \
  WARPTUNE_STORE2(NAME, OP, uint2, "u32", "r")                  \
  WARPTUNE_STORE2(NAME, OP, float2, "f32", "f")                 \
  WARPTUNE_STORE2(NAME, OP, double2, "f64", "d")                \
  WARPTUNE_STORE4(NAME, OP, int4, "s32", "r")                   \
  WARPTUNE_STORE4(NAME, OP, uint4, "u32", "r")                  \
  WARPTUNE_STORE4(NAME, OP, float4, "f32", "f")                 \
  WARPTUNE_STORE(NAME, OP, int, "s32", "r")                     \
  WARPTUNE_STORE(NAME, OP, unsigned, "u32", "r")                \
  WARPTUNE_STORE(NAME, OP, float, "f32", "f")                   \
  WARPTUNE_STORE(NAME, OP, double, "f64", "d")
WARPTUNE_STORES(__stwb, "wb")
WARPTUNE_STORES(__stcg, "cg")
WARPTUNE_STORES(__stcs, "cs")
WARPTUNE_STORES(__stwt, "wt")
