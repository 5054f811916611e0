// contended.cu - warpgroup MMAs that read A and B from shared memory, beside what else uses its banks: bulk copies and
// cp.async that come in, loads and stores of other warps. Cycles an MMA and bytes a cycle of the others, one SM. Prints
// JSON lines as the other programs do. sm_90a.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o contended contended.cu && ./contended
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define L10(a) "%" #a "0,%" #a "1,%" #a "2,%" #a "3,%" #a "4,%" #a "5,%" #a "6,%" #a "7,%" #a "8,%" #a "9"
#define L32 L10() "," L10(1) "," L10(2) ",%30,%31"
#define L64 L32 ",%32,%33,%34,%35,%36,%37,%38,%39," L10(4) "," L10(5) ",%60,%61,%62,%63"
#define L128 L64 ",%64,%65,%66,%67,%68,%69," L10(7) "," L10(8) "," L10(9) "," L10(10) "," L10(11) ",%120,%121,%122,%123,%124,%125,%126,%127"
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D32(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12), D4(i + 16), D4(i + 20), D4(i + 24), D4(i + 28)
#define D64 D32(0), D32(32)
#define D128 D64, D32(64), D32(96)
#define MMA(N, LIST, OUT, A, B)                                                                                                      \
  template <> struct Mma<N> {                                                                                                      \
    static __device__ __forceinline__ void shared(float *d, uint64_t a, uint64_t b) {                                              \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" LIST "}, " A ", " B ", p, 1, 1, 0, 0;}" : OUT : "l"(a), "l"(b)); \
    }                                                                                                                              \
  }
template <int N> struct Mma;
MMA(64, L32, D32(0), "%32", "%33");
MMA(128, L64, D64, "%64", "%65");
MMA(256, L128, D128, "%128", "%129");

enum Other { none, bulk, copies, loads, stores };
const char *const names[] = {"none", "cp.async.bulk", "cp.async", "ld.shared", "st.shared"};
constexpr int turns = 256, inner = 8, tileBytes = 65536, otherBytes = 65536, piece = 8192;

template <int N, Other OTHER> __global__ void __launch_bounds__(384) run(long long *out, float *sink, const char *from, int depth, int pause) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ uint64_t bar[8];
  __shared__ volatile int over;
  uint32_t base = (uint32_t)__cvta_generic_to_shared(tile), other = base + tileBytes, bars = (uint32_t)__cvta_generic_to_shared(bar);
  for (int i = threadIdx.x; i < (tileBytes + otherBytes) / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  if (threadIdx.x == 0) {
    over = 0;
    for (int i = 0; i < 8; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bars + 8 * i));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x >= 256) { // the others
    long long begin = clock64(), bytes = 0;
    unsigned shift = 31 - __clz(depth);
    unsigned x = threadIdx.x - 256, sum = 0;
    if (OTHER == bulk && x == 0) {
      for (unsigned k = 0; !over || k & depth - 1; k++) {
        uint32_t b = bars + 8 * (k & depth - 1);
        if (k >= depth) {
          uint32_t done = 0;
          while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(b), "r"((k >> shift) + 1 & 1) : "memory");
          bytes += piece;
        }
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(piece) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(other + (k & depth - 1) * piece), "l"(from + (k & 63) * piece), "r"(piece), "r"(b) : "memory");
      }
      for (int i = 0; i < depth; i++) __nanosleep(2000);
    }
    if (OTHER != bulk && OTHER != none)
      for (unsigned k = 0; !over; k++) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
          uint32_t at = other + u * 2048 + x * 16;
          if (OTHER == copies) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + (k % 32) * 16384 + u * 2048 + x * 16) : "memory");
          if (OTHER == loads) {
            unsigned a, b, c, d;
            asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
            sum += a ^ b ^ c ^ d;
          }
          if (OTHER == stores) asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(k) : "memory");
        }
        if (OTHER == copies) asm volatile("cp.async.commit_group; cp.async.wait_group 3;" ::: "memory");
        bytes += 8 * 2048;
        for (int i = 0; i < pause; i++) __nanosleep(20);
      }
    if (OTHER == copies) asm volatile("cp.async.wait_all;" ::: "memory");
    if (x == 0) out[1] = bytes, out[2] = clock64() - begin;
    sink[threadIdx.x] = sum;
  } else {
    float d[N / 2] = {};
    int group = threadIdx.x / 128;
    uint64_t at = (base & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
    for (int i = 0; i < 20; i++) __nanosleep(100);
    long long begin = clock64();
#pragma unroll 1
    for (int t = 0; t < turns; t++) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < inner; k++) Mma<N>::shared(d, at + 2048 + group * 512 + 2 * (k & 3), at + 2 * (k & 3));
      asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    long long end = clock64();
    over = 1;
    if (threadIdx.x == 0) out[0] = end - begin;
    for (float x : d) sink[threadIdx.x] += x;
  }
}

template <int N, Other OTHER> void one(int depth, int pause) {
  static long long *out;
  static float *sink;
  static char *from;
  if (!out) cudaMalloc(&out, 24), cudaMalloc(&sink, 4096), cudaMalloc(&from, 1 << 20);
  cudaFuncSetAttribute(run<N, OTHER>, cudaFuncAttributeMaxDynamicSharedMemorySize, tileBytes + otherBytes);
  long long v[3];
  for (int i = 0; i < 2; i++) {
    cudaMemset(out, 0, 24);
    run<N, OTHER><<<1, 384, tileBytes + otherBytes>>>(out, sink, from, depth, pause);
    if (cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost) != cudaSuccess) { fprintf(stderr, "contended: %s\n", cudaGetErrorString(cudaGetLastError())); exit(1); }
  }
  printf("{\"name\": \"wgmma.contended\", \"params\": {\"columns\": %d, \"other\": \"%s\", \"depth\": %d, \"pause\": %d, \"bytes_a_cycle\": %.1f}, \"value\": %.1f, \"unit\": \"cycles/instruction/SM\"}\n", N, names[OTHER], depth, pause, v[2] ? double(v[1]) / v[2] : 0, double(v[0]) / (turns * inner * 2));
}

template <int N> void all() {
  one<N, none>(1, 0);
  for (int depth : {1, 2, 4, 8}) one<N, bulk>(depth, 0);
  for (int pause : {0, 1, 4, 16}) one<N, copies>(1, pause), one<N, loads>(1, pause), one<N, stores>(1, pause);
}

int main() { all<64>(), all<128>(), all<256>(); }
