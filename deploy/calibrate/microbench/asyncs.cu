// asyncs.cu - what copies from global to shared memory by cp.async cost an SM, for ncu,
// too (see run.sh): by their size, the lines they read, how they lie in shared memory
// and whether L1 has them; what they leave to loads from shared memory; and how long one takes. A
// line a launch: the cycles of CTA 0.
#include <cstdint>
#include "harness.cuh"

template <int BYTES, bool CG> __device__ __forceinline__ void copy(unsigned to, const char *from) {
  if (CG) asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
}

struct Way {
  int row;        // consecutive bytes a request reads; rows begin at lines of their own
  int pitch;      // of these rows in shared memory
  int footprint;  // bytes of a warp's rows before it reads them again
  int loops;
};

// Each warp copies GROUP requests, and GROUP more while these are under way.
template <int BYTES, bool CG> __global__ void __launch_bounds__(512) copies(const char *in, Way w, float *sink, Span *span) {
  extern __shared__ char kept[];
  const int GROUP = 4;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, at = lane * BYTES;
  int row = at / w.row, in_row = at % w.row, rows = 32 * BYTES / w.row, apart = max(w.row, 128), shift = __ffs(apart) - 1;
  int slot = rows * w.pitch; // where one request goes, eight in turns
  unsigned to = unsigned(__cvta_generic_to_shared(kept)) + warp * 8 * slot + row * w.pitch + in_row, odd = to ^ (to + GROUP * slot);
  const char *from = in + (size_t(blockIdx.x) * 16 + warp) * (size_t(64) << 10) + in_row;
  int line = 0, last = w.footprint / apart - 1;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < w.loops; i++, to ^= odd) {
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
      copy<BYTES, CG>(to + g * slot, from + ((line + row & last) << shift));
      line += rows;
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  long long stop = clock64();
  if (kept[threadIdx.x] == 77) sink[0] = 1;
  if (blockIdx.x == 0) record(span, start, stop);
}

// Beside each four copies so many loads of 16 bytes a lane from shared memory, four turns each.
template <bool CG> __global__ void __launch_bounds__(512) beside(const char *in, int loads, int loops, float *sink, Span *span) {
  extern __shared__ char kept[];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned base = unsigned(__cvta_generic_to_shared(kept)) + warp * 8192, to = base + lane * 16;
  const char *from = in + warp * 65536 + lane * 16;
  float4 v, s = {0, 0, 0, 0};
  __syncthreads();
  long long start = clock64();
  for (int i = 0; i < loops; i++) {
#pragma unroll
    for (int g = 0; g < 4; g++) copy<16, CG>(to + (i % 2 * 4 + g) * 512, from + (i * 4 + g) % 128 * 512);
    asm volatile("cp.async.commit_group;");
    for (int k = 0; k < loads; k += 2) {
#pragma unroll
      for (int j = 0; j < 2; j++) {
        asm volatile("ld.volatile.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(base + 4096 + (k + j) % 8 * 512 + lane * 16));
        s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
      }
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  long long stop = clock64();
  if (s.x + s.y + s.z + s.w == 77.f || kept[threadIdx.x] == 77) sink[0] = 1;
  record(span, start, stop);
}

// One copy after the other by one warp.
template <int BYTES, bool CG> __global__ void chain(const char *in, int loops, float *sink, Span *span) {
  extern __shared__ char kept[];
  unsigned to = unsigned(__cvta_generic_to_shared(kept)) + threadIdx.x * BYTES;
  long long start = clock64();
  for (int i = 0; i < loops; i++) {
    copy<BYTES, CG>(to, in + threadIdx.x * BYTES + (CG ? i % 64 * 4096 : 0));
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  long long stop = clock64();
  if (kept[threadIdx.x] == 77) sink[0] = 1;
  record(span, start, stop);
}

struct Bench {
  Device dev;
  Buffer<char> in{size_t(300) << 20};
  Buffer<float> sink{16};
  Buffer<Span> span{64};

  template <int BYTES, bool CG> void one(int row, int pitch, int footprint, int warps, int ctas) {
    Way w{row, pitch, footprint, 64};
    auto k = copies<BYTES, CG>;
    CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10));
    k<<<ctas, warps * 32, 160 << 10>>>(in.p, w, sink.p, span.p);
    CHECK(cudaDeviceSynchronize());
    emit("asyncs.copies", Params()("bytes", BYTES)("op", CG ? "cg" : "ca")("row", row)("pitch", pitch)("footprint", footprint)("warps", warps)("ctas", ctas)("requests", 64. * 4 * warps),
         cycles(span, warps) / (64. * 4 * warps), "cycles a request");
  }

  template <bool CG> void loads() {
    auto k = beside<CG>;
    CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10));
    for (int loads : {0, 2, 4, 8, 12, 16, 32}) {
      k<<<1, 512, 160 << 10>>>(in.p, loads, 64, sink.p, span.p);
      CHECK(cudaDeviceSynchronize());
      emit("asyncs.beside", Params()("op", CG ? "cg" : "ca")("loads", loads), cycles(span, 16) / (64. * 16), "cycles four copies and the loads");
    }
  }

  template <int BYTES, bool CG> void all() {
    for (int ctas : {1, dev.sms()})
      for (int footprint : {4096, 65536})
        for (int row = 32 * BYTES; row >= BYTES; row /= 2)
          for (int pitch : {row, row + 16, row + 32, 128})
            if (pitch >= row && 32 * BYTES / row * pitch <= 1280) one<BYTES, CG>(row, pitch, footprint, 16, ctas);
    for (int warps : {1, 2, 4, 8}) one<BYTES, CG>(128, 128, 65536, warps, 1);
    chain<BYTES, CG><<<1, 32, 4096>>>(in.p, 256, sink.p, span.p);
    CHECK(cudaDeviceSynchronize());
    emit("asyncs.chain", Params()("bytes", BYTES)("op", CG ? "cg" : "ca"), cycles(span, 1) / 256, "cycles");
  }
};

int main() {
  Bench b;
  b.one<16, true>(128, 128, 4096, 16, 1); // the first launch is slower
  b.loads<true>();
  b.loads<false>();
  b.all<4, false>();
  b.all<16, false>();
  b.all<16, true>();
}
