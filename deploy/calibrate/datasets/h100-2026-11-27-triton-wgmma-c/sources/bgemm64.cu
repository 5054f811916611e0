// Many products of 64x64 float matrices, C = A B + C0, matrices one after another; cp.async into shared memory, FFMA out of it.
// Macros: TM x TN values a thread; MATS products side by side in a block; ITER products one after another; STAGES 1 or 2 buffers; KV elements of A a load along k;
// SPREAD 1: a thread's columns lie apart, 0: together; UNR unrolling over k; MINB blocks a multiprocessor at least
#include <cstdint>
namespace {
constexpr int S = 64, TX = S / TN, TY = S / TM, PER = TX * TY, THREADS = PER * MATS;
constexpr int PITCH = S + 4;
constexpr int MATF = S * PITCH;
constexpr int kUnroll = UNR;

__device__ __forceinline__ void cp16(float* dst, const float* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(dst)), "l"(src) : "memory");
}
}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
bgemm64(const float* __restrict__ A, const float* __restrict__ B, const float* __restrict__ C0, float* __restrict__ C) {
  extern __shared__ __align__(16) float smem[];
  const int mat = threadIdx.x / PER, id = threadIdx.x % PER, tx = id % TX, ty = id / TX;
  const size_t first = ((size_t)blockIdx.x * MATS + mat) * ITER;
  float* mine = smem + mat * STAGES * 2 * MATF;

  auto fetch = [&](int it) {
    float* a = mine + (it % STAGES) * 2 * MATF;
    const float* ga = A + (first + it) * (S * S);
    const float* gb = B + (first + it) * (S * S);
#pragma unroll 4
    for (int i = id; i < S * S / 4; i += PER) {
      const int r = i / (S / 4), c = i % (S / 4) * 4;
      cp16(a + r * PITCH + c, ga + i * 4);
      cp16(a + MATF + r * PITCH + c, gb + i * 4);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  fetch(0);
  for (int it = 0; it < ITER; ++it) {
    if (STAGES > 1 && it + 1 < ITER) {
      fetch(it + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    const float* a = mine + (it % STAGES) * 2 * MATF + ty * TM * PITCH;
    const float* b = mine + (it % STAGES) * 2 * MATF + MATF;
    const size_t out = (first + it) * (S * S) + ty * TM * S;
    float acc[TM][TN];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] = C0[out + i * S + (SPREAD ? tx + j * TX : tx * TN + j)];
#pragma unroll kUnroll
    for (int k = 0; k < S; k += KV) {
      float fa[TM][KV];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        if (KV == 4) {
          const float4 t = *reinterpret_cast<const float4*>(a + i * PITCH + k);
          fa[i][0] = t.x; fa[i][1 % KV] = t.y; fa[i][2 % KV] = t.z; fa[i][3 % KV] = t.w;
        } else {
#pragma unroll
          for (int e = 0; e < KV; ++e) fa[i][e] = a[i * PITCH + k + e];
        }
      }
#pragma unroll
      for (int e = 0; e < KV; ++e) {
        float fb[TN];
#pragma unroll
        for (int j = 0; j < TN; ++j) fb[j] = b[(k + e) * PITCH + (SPREAD ? tx + j * TX : tx * TN + j)];
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(fa[i][e], fb[j], acc[i][j]);
      }
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) C[out + i * S + (SPREAD ? tx + j * TX : tx * TN + j)] = acc[i][j];
    __syncthreads();
    if (STAGES == 1 && it + 1 < ITER) fetch(it + 1);
  }
}
