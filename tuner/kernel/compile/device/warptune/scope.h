// Scopes of <cuda/atomic> and its kin, and the asynchronous copies of <cuda/barrier> and <cuda/pipeline>.
#pragma once
namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
struct _nothing {};
template <size_t _Align> struct aligned_size_t {
  static constexpr size_t align = _Align;
  size_t value;
  __host__ __device__ constexpr explicit aligned_size_t(size_t v) : value(v) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
}  // namespace cuda
#if __CUDA_ARCH__ >= 800
// In words of 16, 8 or 4 bytes, as the number of bytes and the addresses allow.
WARPTUNE_FN void warptune_copy_async(void *to, const void *from, size_t bytes, size_t first = 0, size_t step = 1) {
  size_t all = (size_t)to | (size_t)from | bytes, word = __builtin_constant_p(bytes) && bytes == 4 ? 4 : __builtin_constant_p(bytes) && bytes == 8 ? 8 : all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : 4;
  for (size_t i = first * word; i < bytes; i += step * word) {
    char *t = (char *)to + i;
    const char *f = (const char *)from + i;
    if (word == 16) __pipeline_memcpy_async(t, f, 16);
    else if (word == 8) __pipeline_memcpy_async(t, f, 8);
    else __pipeline_memcpy_async(t, f, 4);
  }
}
template <class _Group> WARPTUNE_FN auto warptune_copy_async(const _Group &g, void *to, const void *from, size_t bytes) -> decltype(g.thread_rank(), void()) {
  warptune_copy_async(to, from, bytes, g.thread_rank(), g.size());
}
#endif
