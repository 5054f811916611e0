// Atomics. The generic builtins lower to atom.* (or red.*) and keep the state space that
// clang infers.
#pragma once
WARPTUNE_FN int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
WARPTUNE_FN unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
WARPTUNE_FN unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
WARPTUNE_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
#if __CUDA_ARCH__ >= 600
WARPTUNE_FN double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
#endif
WARPTUNE_FN int atomicSub(int *p, int v) { return __nvvm_atom_add_gen_i(p, -v); }
WARPTUNE_FN unsigned atomicSub(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, -(int)v); }
WARPTUNE_FN int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
WARPTUNE_FN unsigned atomicExch(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
WARPTUNE_FN float atomicExch(float *p, float v) { return __int_as_float(__nvvm_atom_xchg_gen_i((int *)p, __float_as_int(v))); }
WARPTUNE_FN unsigned long long atomicExch(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_xchg_gen_ll((long long *)p, (long long)v); }
WARPTUNE_FN int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
WARPTUNE_FN unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
WARPTUNE_FN long long atomicMin(long long *p, long long v) { return __nvvm_atom_min_gen_ll(p, v); }
WARPTUNE_FN unsigned long long atomicMin(unsigned long long *p, unsigned long long v) { return __nvvm_atom_min_gen_ull(p, v); }
WARPTUNE_FN int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
WARPTUNE_FN unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
WARPTUNE_FN long long atomicMax(long long *p, long long v) { return __nvvm_atom_max_gen_ll(p, v); }
WARPTUNE_FN unsigned long long atomicMax(unsigned long long *p, unsigned long long v) { return __nvvm_atom_max_gen_ull(p, v); }
#define WARPTUNE_BITWISE(NAME, OP)                                                                                         \
  WARPTUNE_FN int NAME(int *p, int v) { return __nvvm_atom_##OP##_gen_i(p, v); }                                           \
  WARPTUNE_FN unsigned NAME(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_##OP##_gen_i((int *)p, (int)v); }      \
  WARPTUNE_FN unsigned long long NAME(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_##OP##_gen_ll((long long *)p, (long long)v); }
WARPTUNE_BITWISE(atomicAnd, and)
WARPTUNE_BITWISE(atomicOr, or)
WARPTUNE_BITWISE(atomicXor, xor)
#undef WARPTUNE_BITWISE
WARPTUNE_FN unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
WARPTUNE_FN unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }
WARPTUNE_FN int atomicCAS(int *p, int c, int v) { return __nvvm_atom_cas_gen_i(p, c, v); }
WARPTUNE_FN unsigned atomicCAS(unsigned *p, unsigned c, unsigned v) { return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)c, (int)v); }
WARPTUNE_FN unsigned long long atomicCAS(unsigned long long *p, unsigned long long c, unsigned long long v) { return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)c, (long long)v); }
WARPTUNE_FN unsigned long atomicAdd(unsigned long *p, unsigned long v) { return (unsigned long)atomicAdd((unsigned long long *)p, (unsigned long long)v); }
#if __CUDA_ARCH__ >= 600
// Of the scope of a block and of the whole system.
#define WARPTUNE_SCOPED(NAME, OP)                                                                               \
  WARPTUNE_FN int NAME##_block(int *p, int v) { return __nvvm_atom_cta_##OP##_gen_i(p, v); }                    \
  WARPTUNE_FN int NAME##_system(int *p, int v) { return __nvvm_atom_sys_##OP##_gen_i(p, v); }
#define WARPTUNE_SCOPED_BITS(NAME, OP)                                                                          \
  WARPTUNE_SCOPED(NAME, OP)                                                                                     \
  WARPTUNE_FN unsigned NAME##_block(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_cta_##OP##_gen_i((int *)p, (int)v); }                              \
  WARPTUNE_FN unsigned NAME##_system(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_sys_##OP##_gen_i((int *)p, (int)v); }                             \
  WARPTUNE_FN unsigned long long NAME##_block(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_##OP##_gen_ll((long long *)p, (long long)v); } \
  WARPTUNE_FN unsigned long long NAME##_system(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_##OP##_gen_ll((long long *)p, (long long)v); }
#define WARPTUNE_SCOPED_ORDER(NAME, OP)                                                                         \
  WARPTUNE_SCOPED(NAME, OP)                                                                                     \
  WARPTUNE_FN unsigned NAME##_block(unsigned *p, unsigned v) { return __nvvm_atom_cta_##OP##_gen_ui(p, v); }    \
  WARPTUNE_FN unsigned NAME##_system(unsigned *p, unsigned v) { return __nvvm_atom_sys_##OP##_gen_ui(p, v); }
WARPTUNE_SCOPED_BITS(atomicAdd, add)
WARPTUNE_SCOPED_BITS(atomicExch, xchg)
WARPTUNE_SCOPED_BITS(atomicAnd, and)
WARPTUNE_SCOPED_BITS(atomicOr, or)
WARPTUNE_SCOPED_BITS(atomicXor, xor)
WARPTUNE_SCOPED_ORDER(atomicMin, min)
WARPTUNE_SCOPED_ORDER(atomicMax, max)
#undef WARPTUNE_SCOPED
#undef WARPTUNE_SCOPED_BITS
#undef WARPTUNE_SCOPED_ORDER
#define WARPTUNE_SCOPE(SUFFIX, SCOPE)                                                                                                           \
  WARPTUNE_FN int atomicSub_##SUFFIX(int *p, int v) { return atomicAdd_##SUFFIX(p, -v); }                                                       \
  WARPTUNE_FN unsigned atomicSub_##SUFFIX(unsigned *p, unsigned v) { return atomicAdd_##SUFFIX(p, -v); }                                        \
  WARPTUNE_FN unsigned atomicInc_##SUFFIX(unsigned *p, unsigned v) { return __nvvm_atom_##SCOPE##_inc_gen_ui(p, v); }                           \
  WARPTUNE_FN unsigned atomicDec_##SUFFIX(unsigned *p, unsigned v) { return __nvvm_atom_##SCOPE##_dec_gen_ui(p, v); }                           \
  WARPTUNE_FN unsigned atomicCAS_##SUFFIX(unsigned *p, unsigned c, unsigned v) { return (unsigned)__nvvm_atom_##SCOPE##_cas_gen_i((int *)p, (int)c, (int)v); } \
  WARPTUNE_FN unsigned long long atomicCAS_##SUFFIX(unsigned long long *p, unsigned long long c, unsigned long long v) {                        \
    return (unsigned long long)__nvvm_atom_##SCOPE##_cas_gen_ll((long long *)p, (long long)c, (long long)v);                                    \
  }
WARPTUNE_SCOPE(block, cta)
WARPTUNE_SCOPE(system, sys)
#undef WARPTUNE_SCOPE
WARPTUNE_FN float atomicAdd_block(float *p, float v) { return __nvvm_atom_cta_add_gen_f(p, v); }
WARPTUNE_FN float atomicAdd_system(float *p, float v) { return __nvvm_atom_sys_add_gen_f(p, v); }
WARPTUNE_FN double atomicAdd_block(double *p, double v) { return __nvvm_atom_cta_add_gen_d(p, v); }
WARPTUNE_FN double atomicAdd_system(double *p, double v) { return __nvvm_atom_sys_add_gen_d(p, v); }
WARPTUNE_FN int atomicCAS_block(int *p, int c, int v) { return __nvvm_atom_cta_cas_gen_i(p, c, v); }
WARPTUNE_FN int atomicCAS_system(int *p, int c, int v) { return __nvvm_atom_sys_cas_gen_i(p, c, v); }
#endif
