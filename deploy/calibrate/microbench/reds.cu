// reds.cu - atomics of whole warps that nobody waits for, by how far apart lanes
// add and by the footprint: L2 takes them sector by sector; what it has not comes
// from DRAM and goes back there.
#include "harness.cuh"

template <bool FLOAT> __device__ void one(unsigned *p) {
  if (FLOAT) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.f) : "memory");
  else asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
}

// Warps that are beside each other add to the same 2^shift lines, each lane 2^shift
// words after the one before, and go on together through the footprint.
template <bool FLOAT> __global__ void stride(unsigned *p, unsigned lines, int shift, int rounds) {
  unsigned warps = gridDim.x * blockDim.x / 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; r++)
    for (unsigned i = first; i < lines; i += warps) one<FLOAT>(p + (i >> shift << shift) * 32 + (i & ((1u << shift) - 1)) + (lane << shift));
}

// Each warp adds to so many lines in a row at a place of its own, drawn at random.
template <bool FLOAT> __global__ void scatter(unsigned *p, unsigned lines, int row, int rounds) {
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 0x9E3779B9u + 1, lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; r++) {
    x = x * 1664525u + 1013904223u;
    unsigned line = (x >> 8 ^ x << 13) & (lines - row);
#pragma unroll 4
    for (int k = 0; k < row; k++) one<FLOAT>(p + (line + k) * 32 + lane);
  }
}

// All CTAs add to the same lines, one after the other, each from another on.
template <bool FLOAT> __global__ void meet(unsigned *p, unsigned lines, int shift, int rounds) {
  unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 0x9E3779B9u & (lines - 1) >> shift << shift, lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; r++, i = i + 1 & lines - 1) one<FLOAT>(p + (i >> shift << shift) * 32 + (i & ((1u << shift) - 1)) + (lane << shift));
}

// Every thread loads eight words drawn at random, and then adds to so many others.
__global__ void beside(unsigned *p, const unsigned *from, unsigned words, int adds, int rounds) {
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B9u + 1, s = 0;
  for (int r = 0; r < rounds; r++) {
    unsigned v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
      x = x * 1664525u + 1013904223u;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(from + ((x >> 8 ^ x << 13) & (words - 1))));
    }
#pragma unroll
    for (int k = 0; k < 8; k++) s += v[k];
    for (int k = 0; k < adds; k++) {
      x = x * 1664525u + 1013904223u;
      one<false>(p + ((x >> 8 ^ x << 13) & (words - 1)));
    }
  }
  if (s == 0x12345678) one<false>(p);
}

template <bool FLOAT> void run(int sms, unsigned *p) {
  const char *op = FLOAT ? "add.f32" : "add.u32";
  for (int kib : {16, 64, 256, 1024})
    for (int shift : {0, 1, 2, 3, 5}) {
      double us = microseconds([&] { meet<FLOAT><<<sms * 8, 256>>>(p, unsigned(kib) << 3, shift, 128); }, 1, 3);
      emit("reds.meet", Params()("op", op)("words", 1 << shift)("KiB", kib), double(sms) * 8 * 256 * 128 / us * 1e-3, "G lanes/s");
    }
  for (int mib : {1, 8, 32, 128, 512}) {
    unsigned lines = unsigned(mib) << 13;
    int rounds = std::max(128 / mib, 1), ctas = sms * 8, each = 256;
    for (int shift : {0, 1, 2, 3, 5}) {
      double us = microseconds([&] { stride<FLOAT><<<ctas, 256>>>(p, lines, shift, rounds); }, 1, 3);
      emit("reds.stride", Params()("op", op)("words", 1 << shift)("MiB", mib), double(lines) * 32 * rounds / us * 1e-3, "G lanes/s");
    }
    for (int row : {1, 4, 16}) {
      double us = microseconds([&] { scatter<FLOAT><<<ctas, 256>>>(p, lines, row, each / row); }, 1, 3);
      emit("reds.scatter", Params()("op", op)("lines", row)("MiB", mib), double(ctas) * 256 * each / us * 1e-3, "G lanes/s");
    }
  }
}

int main() {
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  Buffer<unsigned> p(size_t(512) << 18);
  run<false>(prop.multiProcessorCount, p.p);
  run<true>(prop.multiProcessorCount, p.p);
  const int ctas = prop.multiProcessorCount * 8, rounds = 16;
  const unsigned words = 2 << 20;
  for (int adds : {0, 1, 2, 4, 8}) {
    double us = microseconds([&] { beside<<<ctas, 256>>>(p.p, p.p + words, words, adds, rounds); }, 1, 5);
    emit("reds.beside", Params()("loads", 8)("adds", adds)("MiB", 8), double(ctas) * 256 * rounds * 8 / us * 1e-3, "G loads/s");
  }
}
