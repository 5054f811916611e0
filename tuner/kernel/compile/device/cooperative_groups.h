// The parts of cooperative groups that compile to barriers, shuffles and votes: thread blocks, tiles of
// up to 32 threads, the threads of a warp that are active, parts of both, clusters, and the grid; tiles of several warps
// have ranks and a barrier. (Reserved names: a kernel's macros, such as N, are defined before this is included.)
#pragma once
#include "warptune/shuffle.h"
namespace cooperative_groups {
struct thread_block {
  static __device__ void sync() { __syncthreads(); }
  static __device__ unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  static __device__ unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static __device__ unsigned num_threads() { return size(); }
  static __device__ dim3 group_index() { return blockIdx; }
  static __device__ dim3 thread_index() { return threadIdx; }
  static __device__ dim3 group_dim() { return blockDim; }
  static __device__ dim3 dim_threads() { return blockDim; }
};
WARPTUNE_FN thread_block this_thread_block() { return thread_block(); }

struct grid_group {
  static __device__ unsigned long long block_rank() { return (blockIdx.z * (unsigned long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  static __device__ unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static __device__ unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static __device__ unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static __device__ unsigned long long size() { return num_threads(); }
  static __device__ dim3 block_index() { return blockIdx; }
  static __device__ dim3 dim_blocks() { return gridDim; }
  static __device__ dim3 group_dim() { return gridDim; }
  static __device__ bool is_valid() { return _arrived() != (unsigned *)4; }
  // One thread of each block counts it in; the last to come turns the upper bit, for which the others wait. The driver
  // gives a cooperative launch memory for that.
  static __device__ void sync() {
    unsigned *arrived = _arrived(), old, now;
    if (arrived == (unsigned *)4) __builtin_trap();
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
      unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
      unsigned n = blockIdx.x + blockIdx.y + blockIdx.z == 0 ? 0x80000001u - blocks : 1;
#if __CUDA_ARCH__ >= 700
      asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(arrived), "r"(n) : "memory");
      do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
      while (((old ^ now) & 0x80000000u) == 0);
#else
      __threadfence();
      asm volatile("atom.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(arrived), "r"(n) : "memory");
      do asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
      while (((old ^ now) & 0x80000000u) == 0);
      __threadfence();
#endif
    }
    __syncthreads();
  }
  static __device__ unsigned *_arrived() {
    unsigned high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (unsigned *)(((unsigned long long)high << 32 | low) + 4);
  }
};
WARPTUNE_FN grid_group this_grid() { return grid_group(); }

#if __CUDA_ARCH__ >= 900
struct cluster_group {
  struct arrival_token {};
  static __device__ void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static __device__ arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  static __device__ void barrier_wait() { __cluster_barrier_wait(); }
  static __device__ void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
  static __device__ unsigned query_shared_rank(const void *p) { return __cluster_query_shared_rank(p); }
  template <class _Type> static __device__ _Type *map_shared_rank(_Type *p, int rank) { return (_Type *)__cluster_map_shared_rank(p, rank); }
  static __device__ dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static __device__ unsigned block_rank() { return __clusterRelativeBlockRank(); }
  static __device__ dim3 dim_blocks() { return __clusterDim(); }
  static __device__ unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static __device__ dim3 thread_index() {
    dim3 b = block_index();
    return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
  }
  static __device__ unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static __device__ dim3 dim_threads() {
    dim3 d = dim_blocks();
    return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
  }
  static __device__ unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static __device__ unsigned size() { return num_threads(); }
};
WARPTUNE_FN cluster_group this_cluster() { return cluster_group(); }
#endif

template <unsigned _Size>
struct _tile {
  static_assert(_Size > 0 && _Size <= 32 && (_Size & (_Size - 1)) == 0, "tiles have 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");
  __device__ unsigned rank_in_block() const { return thread_block::thread_rank(); }
  __device__ unsigned thread_rank() const { return rank_in_block() % _Size; }
  __device__ static constexpr unsigned size() { return _Size; }
  __device__ static constexpr unsigned num_threads() { return _Size; }
  __device__ unsigned first() const { return rank_in_block() % 32 / _Size * _Size; }
  __device__ unsigned mask() const { return _Size == 32 ? 0xffffffffu : ((1u << _Size % 32) - 1) << first(); }
  __device__ void sync() const { __syncwarp(mask()); }
  template <class _Type> __device__ _Type shfl(_Type v, int l) const { return warptune_shuffle<__is_arithmetic(_Type)>::shfl(mask(), v, l, _Size); }
  template <class _Type> __device__ _Type shfl_down(_Type v, int d) const { return warptune_shuffle<__is_arithmetic(_Type)>::shfl_down(mask(), v, d, _Size); }
  template <class _Type> __device__ _Type shfl_up(_Type v, int d) const { return warptune_shuffle<__is_arithmetic(_Type)>::shfl_up(mask(), v, d, _Size); }
  template <class _Type> __device__ _Type shfl_xor(_Type v, int x) const { return warptune_shuffle<__is_arithmetic(_Type)>::shfl_xor(mask(), v, x, _Size); }
  __device__ unsigned ballot(int p) const { return (__ballot_sync(mask(), p) & mask()) >> first(); }
  __device__ int any(int p) const { return __any_sync(mask(), p); }
  __device__ int all(int p) const { return __all_sync(mask(), p); }
#if __CUDA_ARCH__ >= 700
  template <class _Type> __device__ unsigned match_any(_Type v) const { return (__match_any_sync(mask(), v) & mask()) >> first(); }
  template <class _Type> __device__ unsigned match_all(_Type v, int &same) const { return (__match_all_sync(mask(), v, &same) & mask()) >> first(); }
#endif
};
// Ranks of a tile are counted within what it is a part of; where the type does not say what, they are kept.
template <unsigned _Size, class _Parent = void> struct thread_block_tile : _tile<_Size> {
  __device__ unsigned meta_group_rank() const { return _Parent().thread_rank() / _Size; }
  __device__ unsigned meta_group_size() const { return (_Parent().num_threads() + _Size - 1) / _Size; }
};
template <unsigned _Size> struct thread_block_tile<_Size, void> : _tile<_Size> {
  unsigned _rank, _count;
  template <class _Parent> __device__ thread_block_tile(const thread_block_tile<_Size, _Parent> &g) : _rank(g.meta_group_rank()), _count(g.meta_group_size()) {}
  __device__ unsigned meta_group_rank() const { return _rank; }
  __device__ unsigned meta_group_size() const { return _count; }
};
// Memory for tiles of several warps, which need none here.
template <unsigned _Threads = 1024> struct block_tile_memory { char _bytes[1]; };
template <unsigned _Threads> WARPTUNE_FN thread_block this_thread_block(block_tile_memory<_Threads> &) { return thread_block(); }
// A tile of several warps. From sm_80 on they meet by bits of a word that the system keeps in shared memory, one for each
// warp, as NVIDIA's headers have it: the last warp to set its own clears the tile's, the others look until theirs is clear.
// Before, they meet at a barrier of their own, which has a number from 1 to 15.
template <unsigned _Size> struct warps_tile {
  __device__ unsigned thread_rank() const { return thread_block::thread_rank() % _Size; }
  static __device__ constexpr unsigned size() { return _Size; }
  static __device__ constexpr unsigned num_threads() { return _Size; }
  __device__ unsigned meta_group_rank() const { return thread_block::thread_rank() / _Size; }
  __device__ unsigned meta_group_size() const { return (thread_block::size() + _Size - 1) / _Size; }
#if __CUDA_ARCH__ >= 800
  static __device__ unsigned long long word() {
    unsigned long long at;
    asm volatile("{ .reg .u32 start; .reg .u64 extended; mov.u32 start, %%reserved_smem_offset_1; cvt.u64.u32 extended, start; cvta.shared.u64 %0, extended; }" : "=l"(at));
    return at;
  }
  static __device__ unsigned warp_bit() { return 1u << thread_block::thread_rank() / 32; }
  static __device__ bool leads() { return thread_block::thread_rank() % 32 == 0; }
  static __device__ void init() {
    __syncwarp();
    if (leads()) asm volatile("red.and.release.cta.b32 [%0], %1;" ::"l"(word()), "r"(~warp_bit()) : "memory");
    __syncthreads();
  }
  __device__ void sync() const {
    __syncwarp();
    if (leads()) {
      unsigned all = ((1u << _Size / 32) - 1) << _Size / 32 * meta_group_rank(), old;
      asm volatile("atom.or.acq_rel.cta.b32 %0, [%1], %2;" : "=r"(old) : "l"(word()), "r"(warp_bit()) : "memory");
      if (((old | warp_bit()) & all) == all) asm volatile("red.and.relaxed.cta.b32 [%0], %1;" ::"l"(word()), "r"(~all) : "memory");
      else do asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(old) : "l"(word()) : "memory");
        while (old & warp_bit());
    }
    __syncwarp();
  }
#else
  static __device__ void init() {}
  __device__ void sync() const {
    if (meta_group_size() > 15) __builtin_trap();
    asm volatile("barrier.sync %0, %1;" ::"r"(meta_group_rank() + 1), "n"(_Size) : "memory");
  }
#endif
};
template <unsigned _Size> struct _tile_of { typedef thread_block_tile<_Size, thread_block> type; };
template <> struct _tile_of<64> { typedef warps_tile<64> type; };
template <> struct _tile_of<128> { typedef warps_tile<128> type; };
template <> struct _tile_of<256> { typedef warps_tile<256> type; };
template <> struct _tile_of<512> { typedef warps_tile<512> type; };
// Making tiles of several warps is for the whole block, which may meet there.
template <class _Tile> struct _making { static WARPTUNE_FN _Tile tile() { return _Tile(); } };
template <unsigned _Size> struct _making<warps_tile<_Size>> { static WARPTUNE_FN warps_tile<_Size> tile() { warps_tile<_Size>::init(); return warps_tile<_Size>(); } };
template <unsigned _Size> WARPTUNE_FN typename _tile_of<_Size>::type tiled_partition(const thread_block &) { return _making<typename _tile_of<_Size>::type>::tile(); }
template <unsigned _Size, unsigned _Of, class _Parent> WARPTUNE_FN thread_block_tile<_Size, _tile<_Of>> tiled_partition(const thread_block_tile<_Of, _Parent> &) {
  static_assert(_Size <= _Of, "a tile is part of the group");
  return thread_block_tile<_Size, _tile<_Of>>();
}

// The threads that were active when it was made, or a part of them; ranks count them.
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
  // The bits of the group's lanes, at their ranks.
  __device__ unsigned packed(unsigned bits) const {
    if (_mask == 0xffffffffu) return bits;
    unsigned r = 0, rank = 0;
    for (unsigned m = _mask; m; m &= m - 1, ++rank) r |= (bits & m & -m ? 1u : 0u) << rank;
    return r;
  }
  __device__ void sync() const { __syncwarp(_mask); }
  template <class _Type> __device__ _Type shfl(_Type v, unsigned rank) const { return warptune_shuffle<__is_arithmetic(_Type)>::shfl(_mask, v, lane(rank), 32); }
  template <class _Type> __device__ _Type shfl_down(_Type v, unsigned d) const {
    unsigned rank = thread_rank() + d;
    return shfl(v, rank < size() ? rank : thread_rank());
  }
  template <class _Type> __device__ _Type shfl_up(_Type v, unsigned d) const {
    unsigned rank = thread_rank();
    return shfl(v, rank >= d ? rank - d : rank);
  }
  __device__ unsigned ballot(int p) const { return packed(__ballot_sync(_mask, p)); }
  __device__ int any(int p) const { return __any_sync(_mask, p); }
  __device__ int all(int p) const { return __all_sync(_mask, p); }
#if __CUDA_ARCH__ >= 700
  template <class _Type> __device__ unsigned match_any(_Type v) const { return packed(__match_any_sync(_mask, v)); }
#endif
};
WARPTUNE_FN coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }
WARPTUNE_FN unsigned _lanes(const coalesced_group &g) { return g._mask; }
template <unsigned _Size> WARPTUNE_FN unsigned _lanes(const _tile<_Size> &g) { return g.mask(); }
// The threads of the group that say the same.
template <class _Group> WARPTUNE_FN coalesced_group binary_partition(const _Group &g, bool p) {
  unsigned yes = __ballot_sync(_lanes(g), p);
  return coalesced_group{_lanes(g) & (p ? yes : ~yes)};
}
#if __CUDA_ARCH__ >= 700
template <class _Group, class _Label> WARPTUNE_FN coalesced_group labeled_partition(const _Group &g, _Label label) {
  return coalesced_group{__match_any_sync(_lanes(g), label)};
}
#endif

// A block, or threads of a warp.
struct thread_group {
  unsigned _mask;  // 0: the block
  __device__ thread_group(const thread_block &) : _mask(0) {}
  __device__ thread_group(const coalesced_group &g) : _mask(g._mask) {}
  template <unsigned _Size> __device__ thread_group(const _tile<_Size> &g) : _mask(g.mask()) {}
  __device__ unsigned thread_rank() const { return _mask ? coalesced_group{_mask}.thread_rank() : thread_block::thread_rank(); }
  __device__ unsigned size() const { return _mask ? __popc(_mask) : thread_block::size(); }
  __device__ unsigned num_threads() const { return size(); }
  __device__ void sync() const {
    if (_mask) __syncwarp(_mask);
    else __syncthreads();
  }
};
// Tiles of a size that the type does not say, 1, 2, 4, 8, 16 or 32.
WARPTUNE_FN thread_group tiled_partition(const thread_block &b, unsigned size) {
  if (size == 0 || size > 32 || (size & (size - 1))) __builtin_trap();
  return thread_group(coalesced_group{(size == 32 ? 0xffffffffu : (1u << size) - 1) << b.thread_rank() % 32 / size * size});
}
template <class _Group> WARPTUNE_FN void sync(const _Group &g) { g.sync(); }
}  // namespace cooperative_groups
