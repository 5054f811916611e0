// Shuffles of numbers, and of all else that can be copied, word by word.
#pragma once
template <bool _Number> struct warptune_shuffle;
#define WARPTUNE_SHUFFLE(NAME) \
  template <class _Type> static __device__ _Type NAME(unsigned m, _Type v, int l, int w) { return __##NAME##_sync(m, v, l, w); }
template <> struct warptune_shuffle<true> {
  WARPTUNE_SHUFFLE(shfl)
  WARPTUNE_SHUFFLE(shfl_down)
  WARPTUNE_SHUFFLE(shfl_up)
  WARPTUNE_SHUFFLE(shfl_xor)
};
#undef WARPTUNE_SHUFFLE
#define WARPTUNE_SHUFFLE(NAME)                                                                 \
  template <class _Type> static __device__ _Type NAME(unsigned m, _Type v, int l, int w) {     \
    static_assert(__is_trivially_copyable(_Type) && sizeof(_Type) <= 32, "what is shuffled can be copied and has up to 32 bytes"); \
    unsigned words[(sizeof(_Type) + 3) / 4] = {};                                              \
    __builtin_memcpy(words, &v, sizeof v);                                                     \
    for (unsigned &word : words) word = __##NAME##_sync(m, word, l, w);                        \
    __builtin_memcpy(&v, words, sizeof v);                                                     \
    return v;                                                                                  \
  }
template <> struct warptune_shuffle<false> {
  WARPTUNE_SHUFFLE(shfl)
  WARPTUNE_SHUFFLE(shfl_down)
  WARPTUNE_SHUFFLE(shfl_up)
  WARPTUNE_SHUFFLE(shfl_xor)
};
#undef WARPTUNE_SHUFFLE
