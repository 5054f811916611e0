// cg::inclusive_scan and cg::exclusive_scan over tiles and coalesced groups; sums if no operation is given.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cooperative_groups {
template <class _Group, class _Type, class _Op> __device__ _Type inclusive_scan(const _Group &g, _Type v, _Op op) {
  for (unsigned d = 1; d < g.size(); d *= 2) {
    _Type before = g.shfl_up(v, d);
    if (g.thread_rank() >= d) v = op(before, v);
  }
  return v;
}
template <class _Group, class _Type> __device__ _Type inclusive_scan(const _Group &g, _Type v) { return inclusive_scan(g, v, plus<_Type>()); }
// As in CUDA, the first is zero for sums and what it was for other operations (where it means nothing).
template <class _Group, class _Type, class _Op> __device__ _Type exclusive_scan(const _Group &g, _Type v, _Op op) { return g.shfl_up(inclusive_scan(g, v, op), 1); }
template <class _Group, class _Type> __device__ _Type exclusive_scan(const _Group &g, _Type v, plus<_Type> op) {
  _Type before = g.shfl_up(inclusive_scan(g, v, op), 1);
  return g.thread_rank() == 0 ? _Type(0) : before;
}
template <class _Group, class _Type> __device__ _Type exclusive_scan(const _Group &g, _Type v) { return exclusive_scan(g, v, plus<_Type>()); }
}  // namespace cooperative_groups
