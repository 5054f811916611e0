// pipes.cu - issue rate and dependent latency of the arithmetic instructions, and
// of compare, shuffle, vote, division and conversion; one CTA on one SM.
//
// latency: one warp, one chain. rate: warp instructions a cycle of the whole SM,
// 32 warps of four chains each.
#include "harness.cuh"

enum Op {
  FFMA, FADD, FMUL, IADD, LOP3, SHF, IMAD, IMNMX, SETSEL, MUFU_EX2, MUFU_SIN, MUFU_RSQ, MUFU_LG2,
  I2F_F2I, F2F16, POPC, DFMA, DADD, HFMA2, SHFL, BALLOT, IDIV, UDIV, FDIV, SQRT, MIX_FFMA_IADD, MIX_FFMA_MUFU, MIX_FFMA_LOP3_IMAD,
  IMAD_HI, FLO, BREV, PRMT, FMNMX, LEA_HI, MIX_LOP3_IADD, RCP, DRCP, DDIV, DSQRT,
  MIX_VIADD_LOP3, MIX_VIADD_LOP3_IMAD, VIADDMNMX, MIX_VIADDMNMX_FFMA, MIX_VIMNMX3_LOP3, MIX_VIMNMX_LOP3,
  DFMA_3PAIRS, MIX_PAIR_2FFMA, MIX_2PAIRS_2FFMA, MIX_3PAIRS_2FFMA, OPS
};
static const char *opName[] = {"ffma", "fadd", "fmul", "iadd", "lop3", "shf", "imad", "imnmx", "setp_selp", "mufu_ex2",
  "mufu_sin", "mufu_rsq", "mufu_lg2", "i2f_f2i", "f2f16", "popc", "dfma", "dadd", "hfma2", "shfl", "ballot", "idiv", "udiv", "fdiv", "sqrt",
  "mix_ffma_iadd", "mix_ffma_mufu", "mix_ffma_lop3_imad",
  "imad_hi", "flo", "brev", "prmt", "fmnmx", "lea_hi", "mix_lop3_iadd", "rcp", "drcp", "ddiv", "dsqrt",
  "mix_viadd_lop3", "mix_viadd_lop3_imad", "viaddmnmx", "mix_viaddmnmx_ffma", "mix_vimnmx3_lop3", "mix_vimnmx_lop3",
  "dfma_3pairs", "mix_pair_2ffma", "mix_2pairs_2ffma", "mix_3pairs_2ffma"};
// how many instructions of the named kind one step() is
static const int opCount[] = {1, 1, 1, 2, 1, 1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 2, 3,
  1, 1, 1, 1, 2, 1, 2, 1, 1, 1, 1,
  2, 3, 1, 2, 2, 2,
  1, 3, 3, 3};

struct Chain {
  unsigned a, b;
  float f, g;
  double d, h, k;
};

template <int OP> __device__ inline void step(Chain &c, unsigned x, unsigned y, float u, float v, double e) {
  if (OP == FFMA || OP == MIX_FFMA_IADD || OP == MIX_FFMA_MUFU || OP == MIX_FFMA_LOP3_IMAD)
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(c.f) : "f"(u), "f"(v));
  if (OP == FADD) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(c.f) : "f"(u));
  if (OP == FMUL) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(c.f) : "f"(u));
  // Fibonacci: both sums are used, so they cannot fold into one three-input add
  if (OP == IADD || OP == MIX_FFMA_IADD) asm volatile("add.s32 %0, %0, %1; add.s32 %1, %1, %0;" : "+r"(c.a), "+r"(c.b));
  if (OP == LOP3 || OP == MIX_FFMA_LOP3_IMAD) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == MIX_FFMA_LOP3_IMAD) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(c.b) : "r"(x), "r"(y));
  if (OP == SHF) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == IMAD) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == IMNMX) asm volatile("min.s32 %0, %0, %1; max.s32 %0, %0, %2;" : "+r"(c.a) : "r"(x), "r"(c.b));
  if (OP == SETSEL)
    asm volatile("{.reg .pred p; setp.gt.s32 p, %0, %1; selp.b32 %0, %2, %1, p;}" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == MUFU_EX2 || OP == MIX_FFMA_MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(c.g));
  if (OP == MUFU_SIN) asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(c.f));
  if (OP == MUFU_RSQ) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(c.f));
  if (OP == MUFU_LG2) asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(c.f));
  if (OP == I2F_F2I) asm volatile("cvt.rn.f32.s32 %1, %0; cvt.rzi.s32.f32 %0, %1;" : "+r"(c.a), "+f"(c.f));
  if (OP == F2F16) asm volatile("{.reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h;}" : "+f"(c.f));
  if (OP == POPC) asm volatile("popc.b32 %0, %0;" : "+r"(c.a));
  if (OP == DFMA) asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(c.d) : "d"(e));
  if (OP == DADD) asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(c.d) : "d"(e));
  if (OP == HFMA2) asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == SHFL) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(c.a));
  if (OP == BALLOT)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "+r"(c.a) : "r"(x));
  if (OP == IDIV) asm volatile("div.s32 %0, %1, %0;" : "+r"(c.a) : "r"(y));
  if (OP == UDIV) asm volatile("div.u32 %0, %1, %0;" : "+r"(c.a) : "r"(y));
  if (OP == FDIV) asm volatile("div.rn.f32 %0, %1, %0;" : "+f"(c.f) : "f"(u));
  if (OP == IMAD_HI) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(c.a) : "r"(x));
  if (OP == FLO) asm volatile("bfind.u32 %0, %0;" : "+r"(c.a));
  if (OP == BREV) asm volatile("brev.b32 %0, %0;" : "+r"(c.a));
  if (OP == PRMT) asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == FMNMX) asm volatile("min.f32 %0, %0, %1; max.f32 %0, %0, %2;" : "+f"(c.f) : "f"(u), "f"(c.g));
  if (OP == LEA_HI) asm volatile("{.reg .b32 t; shf.l.wrap.b32 t, %0, %1, 7; add.u32 %0, t, %2;}" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == MIX_LOP3_IADD) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a; add.u32 %0, %0, %1;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == RCP) asm volatile("rcp.rn.f32 %0, %0;" : "+f"(c.f));
  if (OP == DRCP) asm volatile("rcp.rn.f64 %0, %0;" : "+d"(c.d));
  if (OP == DDIV) asm volatile("div.rn.f64 %0, %1, %0;" : "+d"(c.d) : "d"(e));
  if (OP == DSQRT) asm volatile("sqrt.rn.f64 %0, %0;" : "+d"(c.d));
  // a sum with a number in the instruction, and what Hopper has for min and max of sums and of three (VIADD, VIADDMNMX, VIMNMX3 there)
  if (OP == MIX_VIADD_LOP3 || OP == MIX_VIADD_LOP3_IMAD) asm volatile("add.s32 %0, %0, 7; lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(c.a) : "r"(x), "r"(y));
  if (OP == MIX_VIADD_LOP3_IMAD) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(c.b) : "r"(x), "r"(y));
  if (OP == VIADDMNMX || OP == MIX_VIADDMNMX_FFMA) asm volatile("{.reg .s32 t; add.s32 t, %0, %1; max.s32 %0, t, %2;}" : "+r"(c.a) : "r"(x), "r"(c.b));
  if (OP == MIX_VIADDMNMX_FFMA) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(c.f) : "f"(u), "f"(v));
  if (OP == MIX_VIMNMX3_LOP3)
    asm volatile("{.reg .s32 t; max.s32 t, %0, %1; max.s32 t, t, %2; lop3.b32 %0, t, %2, %3, 0x6a;}" : "+r"(c.a) : "r"(x), "r"(c.b), "r"(y));
  if (OP == MIX_VIMNMX_LOP3) asm volatile("{.reg .s32 t; max.s32 t, %0, %1; lop3.b32 %0, t, %1, %2, 0x6a;}" : "+r"(c.a) : "r"(c.b), "r"(y));
  // doubles that read one to three pairs of registers, alone and beside two products of floats
  if (OP == DFMA_3PAIRS || OP == MIX_3PAIRS_2FFMA) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(c.d) : "d"(c.h), "d"(c.k));
  if (OP == MIX_2PAIRS_2FFMA) asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(c.d) : "d"(c.h));
  if (OP == MIX_PAIR_2FFMA) asm volatile("mul.rn.f64 %0, %0, %0;" : "+d"(c.d));
  if (OP >= MIX_PAIR_2FFMA) asm volatile("fma.rn.f32 %0, %0, %2, %3; fma.rn.f32 %1, %1, %2, %3;" : "+f"(c.f), "+f"(c.g) : "f"(u), "f"(v));
  if (OP == SQRT) asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(c.f));
}

// steps in the loop body: many, so that the loop itself does not count
template <int OP> constexpr int unroll = OP >= IDIV && OP <= SQRT || OP >= RCP ? 64 : 256;

template <int OP, int CHAINS>
__global__ void __launch_bounds__(1024) pipe(Span *out, unsigned *sink, int loops, unsigned x, unsigned y, float u, float v, double e) {
  Chain c[CHAINS];
  for (int i = 0; i < CHAINS; i++) {
    unsigned t = threadIdx.x + i + 1;
    c[i] = Chain{t, t * 3, float(t) * 0.01f, float(t) * 0.001f, double(t), double(t) * 0.5, double(t) * 0.25};
  }
  __syncthreads();
  long long start = 0, stop = 0;
  for (int k = -1; k < loops; k++) { // the first turn warms the instruction cache
    if (k == 0) {
      __syncthreads();
      start = clock64();
    }
#pragma unroll
    for (int j = 0; j < unroll<OP> / CHAINS; j++)
#pragma unroll
      for (int i = 0; i < CHAINS; i++) step<OP>(c[i], x, y, u, v, e);
  }
  stop = clock64();
  record(out, start, stop);
  unsigned s = 0;
  for (int i = 0; i < CHAINS; i++) s += c[i].a + c[i].b + unsigned(c[i].f) + unsigned(c[i].g) + unsigned(c[i].d);
  if (s == 0x12345678) sink[0] = s;
}

template <int OP> void measure(Buffer<Span> &span, Buffer<unsigned> &sink) {
  const int loops = 32, steps = loops * unroll<OP>;
  auto run = [&](auto kernel, int threads) {
    for (int i = 0; i < 2; i++)
      kernel<<<1, threads>>>(span.p, sink.p, loops, 0x7ffffff1u, 0x3ffffff7u, 1.0001f, 0.5f, 1.000001);
    CHECK(cudaDeviceSynchronize());
    return cycles(span, threads / 32);
  };
  double one = run(pipe<OP, 1>, 32);
  emit("pipe.latency", Params()("op", opName[OP]), one / steps / opCount[OP], "cycles");
  for (int threads : {128, 256, 512, 1024}) {
    double c = run(pipe<OP, 4>, threads);
    emit("pipe.rate", Params()("op", opName[OP])("warps", threads / 32)("chains", 4), double(threads / 32) * steps * opCount[OP] / c, "warp instructions/cycle/SM");
  }
}

template <int OP> void all(Buffer<Span> &span, Buffer<unsigned> &sink) {
  measure<OP>(span, sink);
  if constexpr (OP + 1 < OPS) all<OP + 1>(span, sink);
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<unsigned> sink(16);
  all<0>(span, sink);
}
