// Built-in variables, clocks, barriers and fences. __syncthreads is clang's own.
#pragma once
#define WARPTUNE_SREG(FIELD, BUILTIN)                                    \
  __declspec(property(get = warptune_get_##FIELD)) unsigned FIELD;       \
  static __device__ __inline__ __attribute__((always_inline)) unsigned warptune_get_##FIELD() { return BUILTIN##FIELD(); }
#define WARPTUNE_BUILTIN(NAME, BUILTIN)                                  \
  struct warptune_##NAME##_t {                                           \
    WARPTUNE_SREG(x, BUILTIN) WARPTUNE_SREG(y, BUILTIN) WARPTUNE_SREG(z, BUILTIN) \
    __device__ operator dim3() const { return dim3(x, y, z); }           \
    __device__ operator uint3() const { return make_uint3(x, y, z); }    \
  };                                                                     \
  extern const __device__ __attribute__((weak)) warptune_##NAME##_t NAME;
WARPTUNE_BUILTIN(threadIdx, __nvvm_read_ptx_sreg_tid_)
WARPTUNE_BUILTIN(blockIdx, __nvvm_read_ptx_sreg_ctaid_)
WARPTUNE_BUILTIN(blockDim, __nvvm_read_ptx_sreg_ntid_)
WARPTUNE_BUILTIN(gridDim, __nvvm_read_ptx_sreg_nctaid_)
#undef WARPTUNE_BUILTIN
#define warpSize 32

WARPTUNE_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
WARPTUNE_FN clock_t clock() { return __nvvm_read_ptx_sreg_clock(); }
WARPTUNE_FN int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
WARPTUNE_FN int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
WARPTUNE_FN int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
WARPTUNE_FN void __threadfence() { __nvvm_membar_gl(); }
WARPTUNE_FN void __threadfence_block() { __nvvm_membar_cta(); }
WARPTUNE_FN void __threadfence_system() { __nvvm_membar_sys(); }
WARPTUNE_FN void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
WARPTUNE_FN void __trap() { __builtin_trap(); }
