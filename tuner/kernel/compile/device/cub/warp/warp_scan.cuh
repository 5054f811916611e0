// cub::WarpScan: shuffles up of rising distance.
#pragma once
#include <cub/thread/thread_operators.cuh>
#include "warptune/shuffle.h"
namespace cub {
template <class _Type, int _Lanes = 32, int _Legacy = 0> struct WarpScan {
  static_assert(_Lanes > 0 && _Lanes <= 32 && (_Lanes & (_Lanes - 1)) == 0, "logical warps of a power of two");
  struct TempStorage {};
  __device__ WarpScan(TempStorage &) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    _active = (_Lanes == 32 ? 0xffffffffu : ((1u << _Lanes % 32) - 1)) << lane / _Lanes * _Lanes;
    _lane = lane % _Lanes;
  }
  template <class _Op> __device__ void InclusiveScan(_Type v, _Type &out, _Op op) {
#pragma unroll
    for (int d = 1; d < _Lanes; d *= 2) {
      _Type before = warptune_shuffle<__is_arithmetic(_Type)>::shfl_up(_active, v, d, _Lanes);
      if (_lane >= d) v = op(before, v);
    }
    out = v;
  }
  template <class _Op> __device__ void InclusiveScan(_Type v, _Type &out, _Op op, _Type &aggregate) {
    InclusiveScan(v, out, op);
    aggregate = Broadcast(out, _Lanes - 1);
  }
  template <class _Op> __device__ void ExclusiveScan(_Type v, _Type &out, _Type first, _Op op) {
    _Type all;
    InclusiveScan(v, all, op);
    _Type before = warptune_shuffle<__is_arithmetic(_Type)>::shfl_up(_active, all, 1, _Lanes);
    out = _lane == 0 ? first : op(first, before);
  }
  __device__ void InclusiveSum(_Type v, _Type &out) { InclusiveScan(v, out, cub::Sum()); }
  __device__ void InclusiveSum(_Type v, _Type &out, _Type &aggregate) { InclusiveScan(v, out, cub::Sum(), aggregate); }
  __device__ void ExclusiveSum(_Type v, _Type &out) { ExclusiveScan(v, out, _Type(0), cub::Sum()); }
  __device__ _Type Broadcast(_Type v, unsigned lane) { return warptune_shuffle<__is_arithmetic(_Type)>::shfl(_active, v, lane, _Lanes); }
  unsigned _active;
  int _lane;
};
}  // namespace cub
