// registers.cu - what reading operands costs arithmetic: the rate of FFMA by the
// registers it reads, as the assembler places them, and by the size of the loop
// body. One CTA of 4 to 16 warps on one SM.
//
// "fixed" reads one accumulator and two kernel parameters; "scaled" one
// accumulator, its neighbour and a register that never changes; "outer" an
// accumulator and an element each of a column and a row of R registers, as a
// register-tiled matrix product does; "apart" three registers of its own.
#include "harness.cuh"

enum Pattern { FIXED, SCALED, OUTER, APART };
static const char *patternName[] = {"fixed", "scaled", "outer", "apart"};

__device__ inline void fma(float &d, float a, float b, float c) { asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)); }

// one turn over N accumulators; OUTER takes them as R rows
template <int PATTERN, int N, int R> __device__ inline void turn(float (&acc)[N], float (&x)[N], float (&y)[N], float u, float v) {
#pragma unroll
  for (int k = 0; k < N; k++) {
    if (PATTERN == FIXED) fma(acc[k], acc[k], u, v);
    if (PATTERN == SCALED) fma(acc[k], acc[k], x[0], acc[(k + 1) % N]);
    if (PATTERN == OUTER) fma(acc[k], x[k / (N / R)], y[k % (N / R)], acc[k]);
    if (PATTERN == APART) fma(acc[k], x[k], y[k], acc[k]);
  }
}

template <int PATTERN, int N, int R, int BODY>
__global__ void __launch_bounds__(512) rate(Span *out, float *sink, const float *in, int loops, float u, float v) {
  float acc[N], x[N], y[N];
#pragma unroll
  for (int k = 0; k < N; k++) {
    acc[k] = in[k * 32 + threadIdx.x % 32];
    x[k] = in[k * 32 + 1 + threadIdx.x % 32], y[k] = in[k * 32 + 2 + threadIdx.x % 32];
  }
  __syncthreads();
  long long start = 0;
  for (int warm = 1; warm >= 0; warm--) { // a turn to bring the code into its cache, then all
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int k = warm ? loops - 1 : 0; k < loops; k++)
#pragma unroll
      for (int j = 0; j < BODY / N; j++) turn<PATTERN, N, R>(acc, x, y, u, v);
  }
  record(out, start, clock64());
  float s = 0;
#pragma unroll
  for (int k = 0; k < N; k++) s += acc[k];
  if (s == 0.123f) sink[0] = s;
}

struct Bench {
  Buffer<Span> span{64};
  Buffer<float> sink{16}, in{4096};

  // cycles of the second half of twice as many turns: what starts and ends is left out
  template <int PATTERN, int N, int R, int BODY> void run(const char *name) {
    auto kernel = rate<PATTERN, N, R, BODY>;
    cudaFuncAttributes at;
    CHECK(cudaFuncGetAttributes(&at, kernel));
    for (int warps = 4; warps <= 16; warps *= 2) {
      int loops = std::max(8, 16384 / BODY);
      double c[2];
      for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) kernel<<<1, warps * 32>>>(span.p, sink.p, in.p, loops << i, 1.0001f, 0.5f);
        CHECK(cudaDeviceSynchronize());
        c[i] = cycles(span, warps);
      }
      emit(name, Params()("pattern", patternName[PATTERN])("accumulators", N)("rows", R)("registers", at.numRegs)("body", BODY)("warps", warps),
           double(warps) * loops * (BODY / N * N) / (c[1] - c[0]), "warp instructions/cycle/SM");
    }
  }
};

int main() {
  Device dev;
  Bench b;
  b.run<FIXED, 8, 1, 8>("registers.body");
  b.run<FIXED, 8, 1, 16>("registers.body");
  b.run<FIXED, 8, 1, 32>("registers.body");
  b.run<FIXED, 8, 1, 64>("registers.body");
  b.run<FIXED, 8, 1, 96>("registers.body");
  b.run<FIXED, 8, 1, 128>("registers.body");
  b.run<FIXED, 8, 1, 256>("registers.body");
  b.run<FIXED, 8, 1, 512>("registers.body");
  b.run<FIXED, 8, 1, 1024>("registers.body");
  b.run<SCALED, 8, 1, 512>("registers.rate");
  b.run<SCALED, 16, 1, 512>("registers.rate");
  b.run<SCALED, 24, 1, 504>("registers.rate");
  b.run<SCALED, 64, 1, 512>("registers.rate");
  b.run<OUTER, 16, 4, 512>("registers.rate");
  b.run<OUTER, 32, 4, 512>("registers.rate");
  b.run<OUTER, 64, 8, 512>("registers.rate");
  b.run<OUTER, 64, 16, 512>("registers.rate");
  b.run<APART, 8, 1, 512>("registers.rate");
  b.run<APART, 16, 1, 512>("registers.rate");
  b.run<APART, 32, 1, 512>("registers.rate");
}
