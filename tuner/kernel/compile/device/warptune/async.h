// Asynchronous copies from global to shared memory (sm_80, PTX 7.0), with the names of
// <cuda_pipeline_primitives.h>.
#pragma once
WARPTUNE_FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)(const __attribute__((address_space(3))) void *)p; }
#if __CUDA_ARCH__ >= 800
WARPTUNE_FN void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes, size_t zeros = 0) {
  unsigned s = (unsigned)__cvta_generic_to_shared(shared);
  unsigned from = (unsigned)(bytes - zeros);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(s), "l"(global), "r"(from) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(s), "l"(global), "r"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(s), "l"(global), "r"(from) : "memory");
}
WARPTUNE_FN void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// n must be a compile-time constant after inlining, 0 to 7.
WARPTUNE_FN void __pipeline_wait_prior(size_t n) {
#define WARPTUNE_WAIT(N) case N: asm volatile("cp.async.wait_group " #N ";" ::: "memory"); break;
  switch (n) {
    WARPTUNE_WAIT(0) WARPTUNE_WAIT(1) WARPTUNE_WAIT(2) WARPTUNE_WAIT(3)
    WARPTUNE_WAIT(4) WARPTUNE_WAIT(5) WARPTUNE_WAIT(6) WARPTUNE_WAIT(7)
  }
#undef WARPTUNE_WAIT
}
#endif
// Programmatic dependent launch: a kernel has no other before it here, so nothing waits.
WARPTUNE_FN void cudaGridDependencySynchronize() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
WARPTUNE_FN void cudaTriggerProgrammaticLaunchCompletion() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" :::);
#endif
}
