// cub::BlockScan by BLOCK_SCAN_WARP_SCANS: warps scan, and each thread goes through what the warps before its own came to.
#pragma once
#include <cub/warp/warp_scan.cuh>
namespace cub {
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
template <class _Type, int _X, BlockScanAlgorithm _Algorithm = BLOCK_SCAN_RAKING, int _Y = 1, int _Z = 1, int _Legacy = 0> struct BlockScan {
  static constexpr int _threads = _X * _Y * _Z, _warps = (_threads + 31) / 32;
  struct TempStorage { alignas(_Type) unsigned char _found[_warps * sizeof(_Type)]; };
  __device__ BlockScan(TempStorage &s) : _storage(s) {}
  __device__ BlockScan() : _storage(own()) {}
  template <class _Op> __device__ void InclusiveScan(_Type v, _Type &out, _Op op, _Type &aggregate) {
    bool first;
    _Type before, mine;
    scan(v, mine, before, first, op, aggregate);
    out = first ? mine : op(before, mine);
  }
  template <class _Op> __device__ void InclusiveScan(_Type v, _Type &out, _Op op) {
    _Type all;
    InclusiveScan(v, out, op, all);
  }
  template <class _Op> __device__ void ExclusiveScan(_Type v, _Type &out, _Type start, _Op op, _Type &aggregate) {
    bool first;
    _Type before, mine;
    scan(v, mine, before, first, op, aggregate);
    _Type previous = warptune_shuffle<__is_arithmetic(_Type)>::shfl_up(active(), mine, 1, 32);
    out = first ? start : op(start, before);
    if (thread() % 32 != 0) out = op(out, previous);
  }
  template <class _Op> __device__ void ExclusiveScan(_Type v, _Type &out, _Type start, _Op op) {
    _Type all;
    ExclusiveScan(v, out, start, op, all);
  }
  template <int _Items, class _Op> __device__ void InclusiveScan(_Type (&v)[_Items], _Type (&out)[_Items], _Op op) {
    _Type all;
    InclusiveScan(v, out, op, all);
  }
  template <int _Items, class _Op> __device__ void InclusiveScan(_Type (&v)[_Items], _Type (&out)[_Items], _Op op, _Type &aggregate) {
    _Type sum = v[0], before, mine;
    bool first;
#pragma unroll
    for (int i = 1; i < _Items; ++i) sum = op(sum, v[i]);
    scan(sum, mine, before, first, op, aggregate);
    _Type previous = warptune_shuffle<__is_arithmetic(_Type)>::shfl_up(active(), mine, 1, 32);
    if (thread() % 32 != 0) before = first ? previous : op(before, previous);
    out[0] = thread() == 0 ? v[0] : op(before, v[0]);
#pragma unroll
    for (int i = 1; i < _Items; ++i) out[i] = op(out[i - 1], v[i]);
  }
  template <int _Items, class _Op> __device__ void ExclusiveScan(_Type (&v)[_Items], _Type (&out)[_Items], _Type start, _Op op, _Type &aggregate) {
    _Type sum = v[0];
#pragma unroll
    for (int i = 1; i < _Items; ++i) sum = op(sum, v[i]);
    ExclusiveScan(sum, sum, start, op, aggregate);
#pragma unroll
    for (int i = 0; i < _Items; ++i) {
      _Type next = op(sum, v[i]);
      out[i] = sum;
      sum = next;
    }
  }
  template <int _Items, class _Op> __device__ void ExclusiveScan(_Type (&v)[_Items], _Type (&out)[_Items], _Type start, _Op op) {
    _Type all;
    ExclusiveScan(v, out, start, op, all);
  }
  __device__ void InclusiveSum(_Type v, _Type &out) { InclusiveScan(v, out, cub::Sum()); }
  __device__ void InclusiveSum(_Type v, _Type &out, _Type &aggregate) { InclusiveScan(v, out, cub::Sum(), aggregate); }
  __device__ void ExclusiveSum(_Type v, _Type &out) { ExclusiveScan(v, out, _Type(0), cub::Sum()); }
  __device__ void ExclusiveSum(_Type v, _Type &out, _Type &aggregate) { ExclusiveScan(v, out, _Type(0), cub::Sum(), aggregate); }
  template <int _Items> __device__ void InclusiveSum(_Type (&v)[_Items], _Type (&out)[_Items]) { InclusiveScan(v, out, cub::Sum()); }
  template <int _Items> __device__ void ExclusiveSum(_Type (&v)[_Items], _Type (&out)[_Items]) { ExclusiveScan(v, out, _Type(0), cub::Sum()); }
  template <int _Items> __device__ void InclusiveSum(_Type (&v)[_Items], _Type (&out)[_Items], _Type &aggregate) { InclusiveScan(v, out, cub::Sum(), aggregate); }
  template <int _Items> __device__ void ExclusiveSum(_Type (&v)[_Items], _Type (&out)[_Items], _Type &aggregate) { ExclusiveScan(v, out, _Type(0), cub::Sum(), aggregate); }
  TempStorage &_storage;

 private:
  static __device__ int thread() { return _Y == 1 && _Z == 1 ? threadIdx.x : (threadIdx.z * _Y + threadIdx.y) * _X + threadIdx.x; }
  // Of the last warp, only some lanes may be there.
  static __device__ unsigned active() {
    int left = _threads - thread() / 32 * 32;
    return _threads % 32 == 0 || left >= 32 ? 0xffffffffu : (1u << left) - 1;
  }
  // scan gives the scan of the thread's warp, that of the warps before, which are none if first, and that of all.
  template <class _Op> __device__ void scan(_Type v, _Type &mine, _Type &before, bool &first, _Op op, _Type &aggregate) {
    int lane = thread() % 32, warp = thread() / 32;
    mine = v;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      _Type lower = warptune_shuffle<__is_arithmetic(_Type)>::shfl_up(active(), mine, d, 32);
      if (lane >= d) mine = op(lower, mine);
    }
    _Type *found = (_Type *)_storage._found;
    if (lane == 31 || thread() == _threads - 1) found[warp] = mine;
    __syncthreads();
    aggregate = before = found[0];
#pragma unroll
    for (int w = 1; w < _warps; ++w) {
      if (w == warp) before = aggregate;
      aggregate = op(aggregate, found[w]);
    }
    first = warp == 0;
  }
  static __device__ TempStorage &own() {
    __shared__ TempStorage s;
    return s;
  }
};
}  // namespace cub
