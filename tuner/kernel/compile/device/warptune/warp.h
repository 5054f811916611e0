// Warp operations: the _sync forms, PTX 6.0. (The shuffle instruction itself is older than
// its _sync form; every architecture warptune describes takes the _sync form in PTX.)
#pragma once
WARPTUNE_FN void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
WARPTUNE_FN unsigned __activemask() { unsigned m; asm volatile("activemask.b32 %0;" : "=r"(m)); return m; }
WARPTUNE_FN unsigned __ballot_sync(unsigned m, int p) { return __nvvm_vote_ballot_sync(m, p); }
WARPTUNE_FN int __any_sync(unsigned m, int p) { return __nvvm_vote_any_sync(m, p); }
WARPTUNE_FN int __all_sync(unsigned m, int p) { return __nvvm_vote_all_sync(m, p); }
WARPTUNE_FN unsigned __lanemask_lt() { unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }

// The last operand packs the segment mask (32-width) and the clamp, as the PTX ISA says.
#define WARPTUNE_SHFL(NAME, MODE, CLAMP)                                                                                              \
  WARPTUNE_FN int NAME(unsigned m, int v, int l, int w = 32) { return __nvvm_shfl_sync_##MODE##_i32(m, v, l, ((32 - w) << 8) | CLAMP); } \
  WARPTUNE_FN float NAME(unsigned m, float v, int l, int w = 32) { return __nvvm_shfl_sync_##MODE##_f32(m, v, l, ((32 - w) << 8) | CLAMP); } \
  WARPTUNE_FN unsigned NAME(unsigned m, unsigned v, int l, int w = 32) { return (unsigned)NAME(m, (int)v, l, w); }                    \
  WARPTUNE_FN unsigned long long NAME(unsigned m, unsigned long long v, int l, int w = 32) {                                          \
    return (unsigned long long)NAME(m, (unsigned)(v >> 32), l, w) << 32 | NAME(m, (unsigned)v, l, w);                                 \
  }                                                                                                                                   \
  WARPTUNE_FN long long NAME(unsigned m, long long v, int l, int w = 32) { return (long long)NAME(m, (unsigned long long)v, l, w); }  \
  WARPTUNE_FN long NAME(unsigned m, long v, int l, int w = 32) { return (long)NAME(m, (unsigned long long)v, l, w); }                 \
  WARPTUNE_FN unsigned long NAME(unsigned m, unsigned long v, int l, int w = 32) { return (unsigned long)NAME(m, (unsigned long long)v, l, w); } \
  WARPTUNE_FN double NAME(unsigned m, double v, int l, int w = 32) { return __longlong_as_double(NAME(m, __double_as_longlong(v), l, w)); }
WARPTUNE_SHFL(__shfl_sync, idx, 0x1f)
WARPTUNE_SHFL(__shfl_xor_sync, bfly, 0x1f)
WARPTUNE_SHFL(__shfl_down_sync, down, 0x1f)
WARPTUNE_SHFL(__shfl_up_sync, up, 0)
#undef WARPTUNE_SHFL

#if __CUDA_ARCH__ >= 700
#define WARPTUNE_MATCH(T, PTX, IN, BITS)                                                                                                                                          \
  WARPTUNE_FN unsigned __match_any_sync(unsigned m, T v) { unsigned r; asm volatile("match.any.sync." PTX " %0, %1, %2;" : "=r"(r) : IN(__builtin_bit_cast(BITS, v)), "r"(m)); return r; } \
  WARPTUNE_FN unsigned __match_all_sync(unsigned m, T v, int *all) {                                                                                                              \
    unsigned r;                                                                                                                                                                   \
    asm volatile("{ .reg .pred p; match.all.sync." PTX " %0|p, %2, %3; selp.b32 %1, 1, 0, p; }" : "=r"(r), "=r"(*all) : IN(__builtin_bit_cast(BITS, v)), "r"(m));                 \
    return r;                                                                                                                                                                     \
  }
WARPTUNE_MATCH(int, "b32", "r", int)
WARPTUNE_MATCH(unsigned, "b32", "r", int)
WARPTUNE_MATCH(float, "b32", "r", int)
WARPTUNE_MATCH(long, "b64", "l", long long)
WARPTUNE_MATCH(unsigned long, "b64", "l", long long)
WARPTUNE_MATCH(long long, "b64", "l", long long)
WARPTUNE_MATCH(unsigned long long, "b64", "l", long long)
WARPTUNE_MATCH(double, "b64", "l", long long)
#undef WARPTUNE_MATCH
#endif
#if __CUDA_ARCH__ >= 800
#define WARPTUNE_REDUX(NAME, OP, T, PTX) \
  WARPTUNE_FN T NAME(unsigned m, T v) { T r; asm volatile("redux.sync." OP "." PTX " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(m)); return r; }
WARPTUNE_REDUX(__reduce_add_sync, "add", int, "s32")
WARPTUNE_REDUX(__reduce_add_sync, "add", unsigned, "u32")
WARPTUNE_REDUX(__reduce_min_sync, "min", int, "s32")
WARPTUNE_REDUX(__reduce_min_sync, "min", unsigned, "u32")
WARPTUNE_REDUX(__reduce_max_sync, "max", int, "s32")
WARPTUNE_REDUX(__reduce_max_sync, "max", unsigned, "u32")
WARPTUNE_REDUX(__reduce_and_sync, "and", unsigned, "b32")
WARPTUNE_REDUX(__reduce_or_sync, "or", unsigned, "b32")
WARPTUNE_REDUX(__reduce_xor_sync, "xor", unsigned, "b32")
#undef WARPTUNE_REDUX
#endif
