// cub::BlockLoad and cub::BlockStore: threads take elements that follow each other, through shared memory where the
// algorithm says so.
#pragma once
namespace cub {
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };

template <class _Type, int _X, int _Items, int _Y, int _Z> struct _block_items {
  static constexpr int _threads = _X * _Y * _Z, _count = _threads * _Items;
  static __device__ int thread() { return _Y == 1 && _Z == 1 ? threadIdx.x : (threadIdx.z * _Y + threadIdx.y) * _X + threadIdx.x; }
  // place is where an item is whose accesses a warp joins: in steps of the block's threads, or of the warp's.
  static __device__ int place(int i, bool warps) { return warps ? thread() / 32 * 32 * _Items + i * 32 + thread() % 32 : i * _threads + thread(); }
  static __device__ int own(int i) { return thread() * _Items + i; }
};
template <int _Bytes> struct _block_word { typedef unsigned type; };
template <> struct _block_word<8> { typedef uint2 type; };
template <> struct _block_word<16> { typedef uint4 type; };

template <class _Type, int _X, int _Items, BlockLoadAlgorithm _Algorithm = BLOCK_LOAD_DIRECT, int _Y = 1, int _Z = 1, int _Legacy = 0>
struct BlockLoad : _block_items<_Type, _X, _Items, _Y, _Z> {
  typedef _block_items<_Type, _X, _Items, _Y, _Z> _of;
  static constexpr bool _warps = _Algorithm >= BLOCK_LOAD_WARP_TRANSPOSE, _transposes = _Algorithm >= BLOCK_LOAD_TRANSPOSE;
  struct TempStorage { alignas(_Type) unsigned char _items[_transposes ? _of::_count * sizeof(_Type) : 1]; };
  __device__ BlockLoad(TempStorage &s) : _storage(s) {}
  template <class _From> __device__ void Load(_From from, _Type (&v)[_Items]) { load(from, v, _of::_count); }
  template <class _From> __device__ void Load(_From from, _Type (&v)[_Items], int valid) { load(from, v, valid); }
  template <class _From, class _Other> __device__ void Load(_From from, _Type (&v)[_Items], int valid, _Other other) {
#pragma unroll
    for (int i = 0; i < _Items; ++i) v[i] = other;
    load(from, v, valid);
  }
  TempStorage &_storage;

 private:
  template <class _From> __device__ void load(_From from, _Type (&v)[_Items], int valid) {
    if constexpr (_Algorithm == BLOCK_LOAD_VECTORIZE && __is_pointer(_From) && (sizeof(_Type) * _Items == 4 || sizeof(_Type) * _Items == 8 || sizeof(_Type) * _Items % 16 == 0)) {
      if (valid == _of::_count) {
        constexpr int bytes = sizeof(_Type) * _Items < 16 ? sizeof(_Type) * _Items : 16;
        typedef typename _block_word<bytes>::type word;
        constexpr int words = sizeof(_Type) * _Items / bytes;
        const word *p = (const word *)(from + _of::own(0));
        word w[words];
#pragma unroll
        for (int i = 0; i < words; ++i) w[i] = p[i];
        __builtin_memcpy(v, w, sizeof v);
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < _Items; ++i) {
      int at = _transposes || _Algorithm == BLOCK_LOAD_STRIPED ? _of::place(i, _warps) : _of::own(i);
      if (at < valid) v[i] = from[at];
    }
    if (_transposes) {
      _Type *items = (_Type *)_storage._items;
#pragma unroll
      for (int i = 0; i < _Items; ++i) items[_of::place(i, _warps)] = v[i];
      if (_warps) __syncwarp(); else __syncthreads();
#pragma unroll
      for (int i = 0; i < _Items; ++i) v[i] = items[_of::own(i)];
    }
  }
};

template <class _Type, int _X, int _Items, BlockStoreAlgorithm _Algorithm = BLOCK_STORE_DIRECT, int _Y = 1, int _Z = 1, int _Legacy = 0>
struct BlockStore : _block_items<_Type, _X, _Items, _Y, _Z> {
  typedef _block_items<_Type, _X, _Items, _Y, _Z> _of;
  static constexpr bool _warps = _Algorithm >= BLOCK_STORE_WARP_TRANSPOSE, _transposes = _Algorithm >= BLOCK_STORE_TRANSPOSE;
  struct TempStorage { alignas(_Type) unsigned char _items[_transposes ? _of::_count * sizeof(_Type) : 1]; };
  __device__ BlockStore(TempStorage &s) : _storage(s) {}
  template <class _To> __device__ void Store(_To to, _Type (&v)[_Items]) { store(to, v, _of::_count); }
  template <class _To> __device__ void Store(_To to, _Type (&v)[_Items], int valid) { store(to, v, valid); }
  TempStorage &_storage;

 private:
  template <class _To> __device__ void store(_To to, _Type (&v)[_Items], int valid) {
    if constexpr (_Algorithm == BLOCK_STORE_VECTORIZE && __is_pointer(_To) && (sizeof(_Type) * _Items == 4 || sizeof(_Type) * _Items == 8 || sizeof(_Type) * _Items % 16 == 0)) {
      if (valid == _of::_count) {
        constexpr int bytes = sizeof(_Type) * _Items < 16 ? sizeof(_Type) * _Items : 16;
        typedef typename _block_word<bytes>::type word;
        constexpr int words = sizeof(_Type) * _Items / bytes;
        word *p = (word *)(to + _of::own(0)), w[words];
        __builtin_memcpy(w, v, sizeof v);
#pragma unroll
        for (int i = 0; i < words; ++i) p[i] = w[i];
        return;
      }
    }
    if (_transposes) {
      _Type *items = (_Type *)_storage._items;
#pragma unroll
      for (int i = 0; i < _Items; ++i) items[_of::own(i)] = v[i];
      if (_warps) __syncwarp(); else __syncthreads();
#pragma unroll
      for (int i = 0; i < _Items; ++i) v[i] = items[_of::place(i, _warps)];
    }
#pragma unroll
    for (int i = 0; i < _Items; ++i) {
      int at = _transposes || _Algorithm == BLOCK_STORE_STRIPED ? _of::place(i, _warps) : _of::own(i);
      if (at < valid) to[at] = v[i];
    }
  }
};
}  // namespace cub
