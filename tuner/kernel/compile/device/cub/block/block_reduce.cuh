// cub::BlockReduce by BLOCK_REDUCE_WARP_REDUCTIONS, which is its default: warps reduce, and the first thread goes through
// what they found. The result is the first thread's.
#pragma once
#include <cub/warp/warp_reduce.cuh>
namespace cub {
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
template <class _Type, int _X, BlockReduceAlgorithm _Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int _Y = 1, int _Z = 1, int _Legacy = 0> struct BlockReduce {
  static_assert(_Algorithm == BLOCK_REDUCE_WARP_REDUCTIONS, "cub::BlockReduce is provided by BLOCK_REDUCE_WARP_REDUCTIONS only");
  static constexpr int _threads = _X * _Y * _Z, _warps = (_threads + 31) / 32;
  struct TempStorage {
    unsigned char _of_warps[_warps];
    alignas(_Type) unsigned char _found[(_warps + 1) * sizeof(_Type)];
  };
  __device__ BlockReduce(TempStorage &s) : _storage(s) {}
  __device__ BlockReduce() : _storage(own()) {}
  template <class _Op> __device__ _Type Reduce(_Type v, _Op op, int valid) {
    int thread = _Y == 1 && _Z == 1 ? threadIdx.x : (threadIdx.z * _Y + threadIdx.y) * _X + threadIdx.x;
    int warp = thread / 32, rest = min(valid, _threads) - warp * 32;
    typename WarpReduce<_Type>::TempStorage none;
    v = _threads % 32 == 0 && valid == _threads ? WarpReduce<_Type>(none).Reduce(v, op) : WarpReduce<_Type>(none).Reduce(v, op, rest);
    _Type *found = (_Type *)_storage._found;
    if (thread % 32 == 0) found[warp] = v;
    __syncthreads();
    if (thread == 0) {
#pragma unroll
      for (int w = 1; w < _warps; ++w)
        if (w * 32 < valid) v = op(v, found[w]);
    }
    return v;
  }
  template <class _Op> __device__ _Type Reduce(_Type v, _Op op) { return Reduce(v, op, _threads); }
  template <int _Items, class _Op> __device__ _Type Reduce(_Type (&v)[_Items], _Op op) {
    _Type all = v[0];
#pragma unroll
    for (int i = 1; i < _Items; ++i) all = op(all, v[i]);
    return Reduce(all, op);
  }
  __device__ _Type Sum(_Type v) { return Reduce(v, cub::Sum()); }
  __device__ _Type Sum(_Type v, int valid) { return Reduce(v, cub::Sum(), valid); }
  template <int _Items> __device__ _Type Sum(_Type (&v)[_Items]) { return Reduce(v, cub::Sum()); }
  TempStorage &_storage;

 private:
  static __device__ TempStorage &own() {
    __shared__ TempStorage s;
    return s;
  }
};
}  // namespace cub
