// cub's operators as function objects, and its pairs of a key and a value.
#pragma once
#include <type_traits>
namespace cub {
template <class _Key, class _Value> struct KeyValuePair {
  typedef _Key Key;
  typedef _Value Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  __host__ __device__ KeyValuePair(const Key &k, const Value &v) : key(k), value(v) {}
  __host__ __device__ bool operator!=(const KeyValuePair &b) { return value != b.value || key != b.key; }
};
struct Sum { template <class _A, class _B> __host__ __device__ auto operator()(const _A &a, const _B &b) const -> decltype(a + b) { return a + b; } };
struct Difference { template <class _A, class _B> __host__ __device__ auto operator()(const _A &a, const _B &b) const -> decltype(a - b) { return a - b; } };
struct Max {
  template <class _A, class _B> __host__ __device__ typename std::common_type<_A, _B>::type operator()(const _A &a, const _B &b) const { return b > a ? b : a; }
};
struct Min {
  template <class _A, class _B> __host__ __device__ typename std::common_type<_A, _B>::type operator()(const _A &a, const _B &b) const { return b < a ? b : a; }
};
struct Equality { template <class _A, class _B> __host__ __device__ bool operator()(const _A &a, const _B &b) const { return a == b; } };
struct Inequality { template <class _A, class _B> __host__ __device__ bool operator()(const _A &a, const _B &b) const { return a != b; } };
// Of equal values, the one of the smaller key.
struct ArgMax {
  template <class _Key, class _Value> __host__ __device__ KeyValuePair<_Key, _Value> operator()(const KeyValuePair<_Key, _Value> &a, const KeyValuePair<_Key, _Value> &b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class _Key, class _Value> __host__ __device__ KeyValuePair<_Key, _Value> operator()(const KeyValuePair<_Key, _Value> &a, const KeyValuePair<_Key, _Value> &b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
}  // namespace cub
