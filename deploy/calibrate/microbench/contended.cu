// contended.cu - warpgroup MMAs that read A and B from shared memory, beside what else uses its banks: bulk copies and
// cp.async that come in, loads and stores of other warps. Cycles an MMA and bytes a cycle of the others, one SM. Prints
// JSON lines as the other programs do. sm_90a.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o contended contended.cu && ./contended
#include "harness.cuh"
#include "mma.cuh"

enum Other { none, bulk, copies, loads, stores };
const char *const names[] = {"none", "cp.async.bulk", "cp.async", "ld.shared", "st.shared"};
constexpr int turns = 256, inner = 8, tileBytes = 65536, otherBytes = 65536, piece = 8192;

template <int N, Other OTHER> __global__ void __launch_bounds__(384) run(long long *out, float *sink, const char *from, int depth, int pause) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ uint64_t bar[8];
  __shared__ volatile int over;
  uint32_t other = (uint32_t)__cvta_generic_to_shared(tile) + tileBytes, bars = (uint32_t)__cvta_generic_to_shared(bar);
  uint64_t at = zeroed(tile, tileBytes + otherBytes);
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
          uint32_t to = other + u * 2048 + x * 16;
          if (OTHER == copies) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + (k % 32) * 16384 + u * 2048 + x * 16) : "memory");
          if (OTHER == loads) {
            unsigned a, b, c, d;
            asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(to));
            sum += a ^ b ^ c ^ d;
          }
          if (OTHER == stores) asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(to), "r"(k) : "memory");
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
  static Buffer<long long> out(3);
  static Buffer<float> sink(384);
  static Buffer<char> from(1 << 20);
  CHECK(cudaFuncSetAttribute(run<N, OTHER>, cudaFuncAttributeMaxDynamicSharedMemorySize, tileBytes + otherBytes));
  for (int i = 0; i < 2; i++) { // the second one counts
    out.put({0, 0, 0});
    run<N, OTHER><<<1, 384, tileBytes + otherBytes>>>(out.p, sink.p, from.p, depth, pause);
    CHECK(cudaGetLastError());
  }
  auto v = out.get(3);
  emit("wgmma.contended", Params()("columns", N)("other", names[OTHER])("depth", depth)("pause", pause)("bytes_a_cycle", v[2] ? double(v[1]) / v[2] : 0), double(v[0]) / (turns * inner * 2), "cycles/instruction/SM");
}

template <int N> void all() {
  one<N, none>(1, 0);
  for (int depth : {1, 2, 4, 8}) one<N, bulk>(depth, 0);
  for (int pause : {0, 1, 4, 16}) one<N, copies>(1, pause), one<N, loads>(1, pause), one<N, stores>(1, pause);
}

int main() { all<64>(), all<128>(), all<256>(); }
