// cg::reduce over tiles and coalesced groups, with plus, less, greater and the bitwise operators.
#pragma once
#include <cooperative_groups.h>
namespace cooperative_groups {
template <class _Type> struct plus { __device__ _Type operator()(_Type a, _Type b) const { return a + b; } };
template <class _Type> struct less { __device__ _Type operator()(_Type a, _Type b) const { return b < a ? b : a; } };
template <class _Type> struct greater { __device__ _Type operator()(_Type a, _Type b) const { return a < b ? b : a; } };
template <class _Type> struct bit_and { __device__ _Type operator()(_Type a, _Type b) const { return a & b; } };
template <class _Type> struct bit_or { __device__ _Type operator()(_Type a, _Type b) const { return a | b; } };
template <class _Type> struct bit_xor { __device__ _Type operator()(_Type a, _Type b) const { return a ^ b; } };
template <unsigned _Size, class _Type, class _Op> __device__ _Type reduce(const _tile<_Size> &g, _Type v, _Op op) {
  for (int d = _Size / 2; d > 0; d /= 2) v = op(v, g.shfl_xor(v, d));
  return v;
}
template <class _Type, class _Op> __device__ _Type reduce(const coalesced_group &g, _Type v, _Op op) {
  for (unsigned d = 1; d < g.size(); d *= 2) {
    _Type other = g.shfl_down(v, d);
    if (g.thread_rank() + d < g.size()) v = op(v, other);
  }
  return g.shfl(v, 0);
}
}  // namespace cooperative_groups
