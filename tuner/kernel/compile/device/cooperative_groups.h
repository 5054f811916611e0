// The parts of cooperative groups that compile to barriers, shuffles and votes: thread
// blocks and tiles of up to 32 threads. Grid and cluster groups are not provided. (Reserved
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
};
template <unsigned _Size> WARPTUNE_FN thread_block_tile<_Size> tiled_partition(const thread_block &) { return thread_block_tile<_Size>(); }
}  // namespace cooperative_groups
