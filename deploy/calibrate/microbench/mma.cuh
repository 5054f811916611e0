// mma.cuh - warpgroup MMAs of halves, m64nNk16 with sums in registers, for programs that time them: A from shared memory or
// from registers, and the descriptor of a tile without swizzle. sm_90a.
#pragma once
#include <cstdint>

#define L4(a) "%" #a "0,%" #a "1,%" #a "2,%" #a "3"
#define L10(a) "%" #a "0,%" #a "1,%" #a "2,%" #a "3,%" #a "4,%" #a "5,%" #a "6,%" #a "7,%" #a "8,%" #a "9"
#define L32 L10() "," L10(1) "," L10(2) ",%30,%31"
#define L64 L32 ",%32,%33,%34,%35,%36,%37,%38,%39," L10(4) "," L10(5) ",%60,%61,%62,%63"
#define L128 L64 ",%64,%65,%66,%67,%68,%69," L10(7) "," L10(8) "," L10(9) "," L10(10) "," L10(11) ",%120,%121,%122,%123,%124,%125,%126,%127"
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D32(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12), D4(i + 16), D4(i + 20), D4(i + 24), D4(i + 28)
#define D64 D32(0), D32(32)
#define D128 D64, D32(64), D32(96)
#define MMA(N, LIST, OUT, A, B, R)                                                                                                      \
  template <> struct Mma<N> {                                                                                                      \
    static __device__ __forceinline__ void shared(float *d, uint64_t a, uint64_t b) {                                              \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" LIST "}, " A ", " B ", p, 1, 1, 0, 0;}" : OUT : "l"(a), "l"(b)); \
    }                                                                                                                              \
    static __device__ __forceinline__ void registers(float *d, const unsigned *a, uint64_t b) {                                    \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" LIST "}, " R ", p, 1, 1, 0;}" : OUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)); \
    }                                                                                                                              \
  }
template <int N> struct Mma;
MMA(8, L4(), D4(0), "%4", "%5", "{%4,%5,%6,%7}, %8");
MMA(64, L32, D32(0), "%32", "%33", "{%32,%33,%34,%35}, %36");
MMA(128, L64, D64, "%64", "%65", "{%64,%65,%66,%67}, %68");
MMA(256, L128, D128, "%128", "%129", "{%128,%129,%130,%131}, %132");

// zeroed fills a tile of dynamic shared memory with zeros and returns its descriptor: rows of 16 bytes, 8 rows 1,024 bytes
// after the 8 before.
__device__ inline uint64_t zeroed(unsigned char *tile, int bytes) {
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  return ((uint32_t)__cvta_generic_to_shared(tile) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
