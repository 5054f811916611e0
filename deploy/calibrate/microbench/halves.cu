// halves.cu - rates of instructions on pairs of halves by whether they take one half of
// a word (HFMA2 R, R.H0_H0, R, R), alone and in turns with others. What takes whole
// words ptxas gives to two pipes in turns, HFMA2 and HFMA2.MMA.
#include "harness.cuh"

enum Kind { WHOLE, PICK_A, PICK_B, PICK_C, BFLOAT_PICK, ADD_PICK, CONVERT, FLOATS, PICK_FLOAT, PICK_PRODUCT, PICK_WHOLE, WHOLE_FLOAT, WHOLE_PRODUCT, FLOAT_PRODUCT, KINDS };
static const char *kindName[] = {"hfma2", "pick first", "pick second", "pick third", "pick bf16", "hadd2 pick", "cvt.f32.f16", "ffma", "pick and ffma",
  "pick and imad", "pick and hfma2", "hfma2 and ffma", "hfma2 and imad", "ffma and imad"};

struct State {
  unsigned a[4], b[4], c[8], d[8];
  unsigned short h[8];
};

#define PAIR(half) "{.reg .b32 p; mov.b32 p, {" half "," half "}; "

template <int KIND> __device__ inline void step(State &s, int r, int i) {
  unsigned x = s.a[r & 3], y = s.b[r & 3], &c = s.c[i], &d = s.d[i];
  const bool pick = KIND == PICK_A || KIND == PICK_FLOAT || KIND == PICK_PRODUCT || KIND == PICK_WHOLE;
  const bool whole = KIND == WHOLE || KIND == WHOLE_FLOAT || KIND == WHOLE_PRODUCT;
  if (pick) asm volatile(PAIR("%1") "fma.rn.f16x2 %0, p, %2, %0;}" : "+r"(c) : "h"(s.h[i]), "r"(y));
  if (KIND == PICK_A) asm volatile(PAIR("%1") "fma.rn.f16x2 %0, p, %2, %0;}" : "+r"(d) : "h"(s.h[i]), "r"(x));
  if (KIND == PICK_B) asm volatile(PAIR("%2") "fma.rn.f16x2 %0, %1, p, %0;}" : "+r"(c) : "r"(y), "h"(s.h[i]));
  if (KIND == PICK_B) asm volatile(PAIR("%2") "fma.rn.f16x2 %0, %1, p, %0;}" : "+r"(d) : "r"(x), "h"(s.h[i]));
  if (KIND == PICK_C) asm volatile(PAIR("%2") "fma.rn.f16x2 %0, %1, %0, p;}" : "+r"(c) : "r"(y), "h"(s.h[i]));
  if (KIND == PICK_C) asm volatile(PAIR("%2") "fma.rn.f16x2 %0, %1, %0, p;}" : "+r"(d) : "r"(x), "h"(s.h[i]));
  if (KIND == BFLOAT_PICK) asm volatile(PAIR("%1") "fma.rn.bf16x2 %0, p, %2, %0;}" : "+r"(c) : "h"(s.h[i]), "r"(y));
  if (KIND == BFLOAT_PICK) asm volatile(PAIR("%1") "fma.rn.bf16x2 %0, p, %2, %0;}" : "+r"(d) : "h"(s.h[i]), "r"(x));
  if (KIND == ADD_PICK) asm volatile(PAIR("%1") "add.rn.f16x2 %0, p, %0;}" : "+r"(c) : "h"(s.h[i]));
  if (KIND == ADD_PICK) asm volatile(PAIR("%1") "add.rn.f16x2 %0, p, %0;}" : "+r"(d) : "h"(s.h[i]));
  if (KIND == CONVERT) asm volatile("{.reg .b16 l, h; mov.b32 {l, h}, %0; cvt.f32.f16 %0, h;}" : "+r"(c));
  if (KIND == CONVERT) asm volatile("{.reg .b16 l, h; mov.b32 {l, h}, %0; cvt.f32.f16 %0, l;}" : "+r"(d));
  if (KIND == FLOATS) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+r"(c) : "r"(x), "r"(y));
  if (whole) asm volatile("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(c) : "r"(x), "r"(y));
  if (KIND == WHOLE || KIND == PICK_WHOLE) asm volatile("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(d) : "r"(x), "r"(y));
  if (KIND == FLOATS || KIND == PICK_FLOAT || KIND == WHOLE_FLOAT) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+r"(d) : "r"(x), "r"(y));
  if (KIND == FLOAT_PRODUCT) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+r"(c) : "r"(x), "r"(y));
  if (KIND == PICK_PRODUCT || KIND == WHOLE_PRODUCT || KIND == FLOAT_PRODUCT) asm volatile("mad.lo.u32 %0, %1, %2, %0;" : "+r"(d) : "r"(x), "r"(y));
}

const int rounds = 8, loops = 32;

template <int KIND> __global__ void __launch_bounds__(1024) turns(Span *out, unsigned *sink, const unsigned *in) {
  State s;
  for (int i = 0; i < 4; i++) s.a[i] = in[threadIdx.x + i], s.b[i] = in[threadIdx.x + 4 + i];
  for (int i = 0; i < 8; i++) s.c[i] = in[threadIdx.x + 8 + i], s.d[i] = in[threadIdx.x + 16 + i], s.h[i] = in[threadIdx.x + 24 + i];
  __syncthreads();
  long long begin = clock64();
  for (int l = 0; l < loops; l++)
#pragma unroll
    for (int r = 0; r < rounds; r++)
#pragma unroll
      for (int i = 0; i < 8; i++) step<KIND>(s, r, i);
  long long end = clock64();
  unsigned x = 0;
  for (int i = 0; i < 8; i++) x ^= s.c[i] ^ s.d[i];
  sink[threadIdx.x] = x;
  record(out, begin, end);
}

template <int KIND> void run(Buffer<Span> &span, Buffer<unsigned> &memory) {
  for (int warps : {4, 8, 16, 32}) {
    for (int i = 0; i < 2; i++) turns<KIND><<<1, warps * 32>>>(span.p, memory.p, memory.p + 1024);
    CHECK(cudaDeviceSynchronize());
    emit("halves.rate", Params()("op", kindName[KIND])("warps", warps), double(warps) * loops * rounds * 16 / cycles(span, warps), "warp instructions/cycle/SM");
  }
  if constexpr (KIND + 1 < KINDS) run<KIND + 1>(span, memory);
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<unsigned> memory(1 << 12);
  run<0>(span, memory);
}
