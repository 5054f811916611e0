// cub::WarpReduce: shuffles down of rising distance. The result is the first lane's.
#pragma once
#include <cub/thread/thread_operators.cuh>
#include "warptune/shuffle.h"
namespace cub {
template <class _Type, int _Lanes = 32, int _Legacy = 0> struct WarpReduce {
  static_assert(_Lanes > 0 && _Lanes <= 32 && (_Lanes & (_Lanes - 1)) == 0, "logical warps of a power of two");
  struct TempStorage {};
  __device__ WarpReduce(TempStorage &) {}
  template <class _Op> __device__ _Type Reduce(_Type v, _Op op, int valid) {
    unsigned lane, active = _Lanes == 32 ? 0xffffffffu : ((1u << _Lanes % 32) - 1);
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    active <<= lane / _Lanes * _Lanes;
    lane %= _Lanes;
#pragma unroll
    for (int d = 1; d < _Lanes; d *= 2) {
      _Type other = warptune_shuffle<__is_arithmetic(_Type)>::shfl_down(active, v, d, _Lanes);
      if ((int)lane + d < valid) v = op(v, other);
    }
    return v;
  }
  template <class _Op> __device__ _Type Reduce(_Type v, _Op op) { return Reduce(v, op, _Lanes); }
  __device__ _Type Sum(_Type v) { return Reduce(v, cub::Sum()); }
  __device__ _Type Sum(_Type v, int valid) { return Reduce(v, cub::Sum(), valid); }
};
}  // namespace cub
