// The parts of cooperative groups that compile to barriers, shuffles and votes: thread
// blocks, tiles of up to 32 threads and the threads of a warp that are active. Grid and cluster groups are not provided. (Reserved
// names: a kernel's macros, such as N, are defined before this is included.)
#pragma once
namespace cooperative_groups {
struct thread_block {
  __device__ void sync() const { __syncthreads(); }
  __device__ unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ unsigned num_threads() const { return size(); }
  __device__ dim3 group_index() const { return blockIdx; }
  __device__ dim3 thread_index() const { return threadIdx; }
};
WARPTUNE_FN thread_block this_thread_block() { return thread_block(); }
WARPTUNE_FN void sync(const thread_block &g) { g.sync(); }

template <unsigned _Size>
struct thread_block_tile {
  static_assert(_Size > 0 && _Size <= 32 && (_Size & (_Size - 1)) == 0, "tiles of more than one warp are not provided");
  __device__ unsigned rank_in_block() const { return thread_block().thread_rank(); }
  __device__ unsigned thread_rank() const { return rank_in_block() % _Size; }
  __device__ unsigned meta_group_rank() const { return rank_in_block() / _Size; }
  __device__ static constexpr unsigned size() { return _Size; }
  __device__ static constexpr unsigned num_threads() { return _Size; }
  __device__ unsigned first() const { return rank_in_block() % 32 / _Size * _Size; }
  __device__ unsigned mask() const { return _Size == 32 ? 0xffffffffu : ((1u << _Size % 32) - 1) << first(); }
  __device__ void sync() const { __syncwarp(mask()); }
  template <class _Type> __device__ _Type shfl(_Type v, int l) const { return __shfl_sync(mask(), v, l, _Size); }
  template <class _Type> __device__ _Type shfl_down(_Type v, int d) const { return __shfl_down_sync(mask(), v, d, _Size); }
  template <class _Type> __device__ _Type shfl_up(_Type v, int d) const { return __shfl_up_sync(mask(), v, d, _Size); }
  template <class _Type> __device__ _Type shfl_xor(_Type v, int x) const { return __shfl_xor_sync(mask(), v, x, _Size); }
  __device__ unsigned ballot(int p) const { return (__ballot_sync(mask(), p) & mask()) >> first(); }
  __device__ int any(int p) const { return __any_sync(mask(), p); }
  __device__ int all(int p) const { return __all_sync(mask(), p); }
#if __CUDA_ARCH__ >= 700
  template <class _Type> __device__ unsigned match_any(_Type v) const { return (__match_any_sync(mask(), v) & mask()) >> first(); }
#endif
};

// The threads that were active when it was made; ranks count them.
struct coalesced_group {
  unsigned _mask;
  __device__ unsigned thread_rank() const { return __popc(_mask & __lanemask_lt()); }
  __device__ unsigned size() const { return __popc(_mask); }
  __device__ unsigned num_threads() const { return size(); }
  // The lane of a rank: bits of the mask are skipped from the bottom.
  __device__ int lane(unsigned rank) const {
    unsigned m = _mask;
    if (m == 0xffffffffu) return rank;
    for (unsigned i = 0; i < rank; ++i) m &= m - 1;
    return __ffs(m) - 1;
  }
  __device__ void sync() const { __syncwarp(_mask); }
  template <class _Type> __device__ _Type shfl(_Type v, unsigned rank) const { return __shfl_sync(_mask, v, lane(rank)); }
  template <class _Type> __device__ _Type shfl_down(_Type v, unsigned d) const {
    unsigned rank = thread_rank() + d;
    return shfl(v, rank < size() ? rank : thread_rank());
  }
  template <class _Type> __device__ _Type shfl_up(_Type v, unsigned d) const {
    unsigned rank = thread_rank();
    return shfl(v, rank >= d ? rank - d : rank);
  }
  __device__ int any(int p) const { return __any_sync(_mask, p); }
  __device__ int all(int p) const { return __all_sync(_mask, p); }
};
WARPTUNE_FN coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }
template <unsigned _Size> WARPTUNE_FN thread_block_tile<_Size> tiled_partition(const thread_block &) { return thread_block_tile<_Size>(); }
template <unsigned _Size, unsigned _Of> WARPTUNE_FN thread_block_tile<_Size> tiled_partition(const thread_block_tile<_Of> &) {
  static_assert(_Size <= _Of, "a tile is part of the group");
  return thread_block_tile<_Size>();
}
template <class _Group> WARPTUNE_FN void sync(const _Group &g) { g.sync(); }
}  // namespace cooperative_groups
