// overlap.cu - what other warps' instructions, and copies that arrive, cost beside warpgroup MMA, and it them. One SM. sm_90a.
#include "warpgroup.cuh"

const int turns = 512, batch = 4; // commit groups of a run, instructions of each
const int block = 64, blocks = 8; // instructions of other warps between two looks whether the MMAs have ended

enum Op { FFMA, IADD, LOP3, IMAD, MIXED, MUFU, LDS };
const char *names[] = {"FFMA", "IADD", "LOP3", "IMAD", "FFMA and LOP3", "MUFU", "LDS"};

template <Op OP> DEVICE void instruction(unsigned &x, unsigned a, unsigned b, uint32_t at, int i) {
  float &f = (float &)x;
  if (OP == FFMA || OP == MIXED && i % 2 == 0) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(f) : "f"(__uint_as_float(a)), "f"(__uint_as_float(b)));
  else if (OP == LOP3 || OP == MIXED) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x) : "r"(a), "r"(b));
  else if (OP == IADD) asm volatile("add.s32 %0, %0, %1;" : "+r"(x) : "r"(a));
  else if (OP == IMAD) asm volatile("mad.lo.s32 %0, %1, %2, %0;" : "+r"(x) : "r"(a), "r"(b));
  else if (OP == MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f));
  else if (OP == LDS) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at + 128 * (i % 8)));
}

// The first GROUPS warpgroups multiply (or wait as long, where W is void); the others execute OP until these have ended.
template <class W, bool REGISTERS, int GROUPS> DEVICE void multiply(uint32_t base, unsigned *sink) {
  typename W::Acc d[W::registers_of_d];
  for (int i = 0; i < W::registers_of_d; i++) d[i] = 0;
  unsigned a[4] = {}, sum = 0;
  uint64_t da = matrixDescriptor(base + 32768 + threadIdx.x / 128 * 8192, 16, 1024, 1), db = matrixDescriptor(base, 16, 1024, 1);
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
    wgmmaFence();
#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (REGISTERS) W::registers(d, a, db + 2 * k);
      else W::shared(d, da + 2 * k, db + 2 * k);
    }
    wgmmaCommit();
    wgmmaWait<1>();
  }
  wgmmaWait<0>();
  for (int i = 0; i < W::registers_of_d; i++) sum += (unsigned)d[i];
  sink[threadIdx.x] = sum;
}

struct Nothing {
  static const char *name() { return "none"; }
};

template <class W, bool REGISTERS, int GROUPS> struct Multiply {
  DEVICE void run(uint32_t base, unsigned *sink) { multiply<W, REGISTERS, GROUPS>(base, sink); }
};
template <bool REGISTERS, int GROUPS> struct Multiply<Nothing, REGISTERS, GROUPS> {
  DEVICE void run(uint32_t, unsigned *) {
    long long begin = clock64();
    while (clock64() - begin < 100000) __nanosleep(500);
  }
};

template <class W, bool REGISTERS, int GROUPS, Op OP> __global__ void __launch_bounds__(384, 1) beside(Span *out, long long *done, unsigned *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ volatile int ended;
  for (int i = threadIdx.x; i < 65536 / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  if (threadIdx.x == 0) ended = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint32_t base = sharedAddress(tile);
  long long n = 0, begin = clock64();
  if (threadIdx.x < 128 * GROUPS) {
    Multiply<W, REGISTERS, GROUPS>::run(base, sink);
    if (threadIdx.x == 0) ended = 1;
  } else {
    unsigned x[8], a = threadIdx.x, b = threadIdx.x * 3 + 1;
    for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i;
    uint32_t at = base + 49152 + threadIdx.x % 32 * 4;
    do {
#pragma unroll 1
      for (int r = 0; r < blocks; r++) {
#pragma unroll
        for (int i = 0; i < block; i++) instruction<OP>(x[i % 8], a, b, at, i / 8 * (OP == LDS) + (OP != LDS) * i);
      }
      n += block * blocks;
    } while (!ended);
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i];
    sink[threadIdx.x] = sum;
  }
  long long end = clock64();
  if (threadIdx.x % 32 == 0) done[threadIdx.x / 32] = n;
  record(out, begin, end);
}

template <class W, bool REGISTERS, int GROUPS, Op OP> void one(int others, Buffer<Span> &span, Buffer<long long> &done, Buffer<unsigned> &sink) {
  auto k = beside<W, REGISTERS, GROUPS, OP>;
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  int threads = 128 * GROUPS + 128 * others;
  for (int i = 0; i < 2; i++) k<<<1, threads, 65536>>>(span.p, done.p, sink.p);
  CHECK(cudaDeviceSynchronize());
  auto s = span.get(threads / 32);
  auto n = done.get(threads / 32);
  double products = cycles(span, 4 * GROUPS), executed = 0, longest = 0;
  for (int w = 4 * GROUPS; w < threads / 32; w++) executed += double(n[w]), longest = std::max(longest, double(s[w].stop - s[w].start));
  Params p = Params()("op", W::name())("a", REGISTERS ? "registers" : "shared")("warpgroups", GROUPS)("beside", others ? names[OP] : "none")("warps", others);
  if (std::string(W::name()) != "none") emit("wgmma.slowed", p, products / (double(turns) * batch * GROUPS), "cycles/instruction/SM");
  if (others) emit("wgmma.others", p, executed / 4 / longest, "instructions/cycle/sub-partition");
}

template <class W, bool REGISTERS, int GROUPS> void ops(Buffer<Span> &s, Buffer<long long> &d, Buffer<unsigned> &k) {
  one<W, REGISTERS, GROUPS, FFMA>(0, s, d, k);
  for (int others : {1, 2})
    if (GROUPS + others <= 3) {
      one<W, REGISTERS, GROUPS, FFMA>(others, s, d, k), one<W, REGISTERS, GROUPS, IADD>(others, s, d, k), one<W, REGISTERS, GROUPS, LOP3>(others, s, d, k);
      one<W, REGISTERS, GROUPS, IMAD>(others, s, d, k), one<W, REGISTERS, GROUPS, MIXED>(others, s, d, k);
      one<W, REGISTERS, GROUPS, MUFU>(others, s, d, k), one<W, REGISTERS, GROUPS, LDS>(others, s, d, k);
    }
}

// Copies that arrive beside MMAs: one warp keeps DEPTH bulk copies of 16 KB under way, or four warps as much by cp.async.
template <class W, int HOW> __global__ void __launch_bounds__(256, 1) filled(Span *out, long long *done, unsigned *sink, const char *from, int depth) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ volatile int ended;
  __shared__ __align__(8) unsigned long long bars[8];
  for (int i = threadIdx.x; i < 65536 / 4; i += blockDim.x) ((unsigned *)tile)[i] = 0;
  if (threadIdx.x == 0) ended = 0;
  if (threadIdx.x == 128) {
    for (int i = 0; i < 8; i++) barrierInit(sharedAddress(bars + i), 1);
    barrierInitDone();
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint32_t base = sharedAddress(tile), to = base + 65536;
  long long n = 0, begin = clock64();
  if (threadIdx.x < 128) {
    multiply<W, false, 1>(base, sink);
    if (threadIdx.x == 0) ended = 1;
  } else if (HOW == 0) {
    if (threadIdx.x == 128) {
      uint32_t at = 0, parity = 0;
      for (long long i = 0;; i++) {
        uint32_t bar = sharedAddress(bars + at);
        if (i >= depth) barrierWait(bar, parity ^ 1);
        if (ended) { // the rest arrives before the CTA ends
          for (int k = 1; k < depth && i >= depth; k++) {
            if (++at == depth) at = 0, parity ^= 1;
            barrierWait(sharedAddress(bars + at), parity ^ 1);
          }
          break;
        }
        barrierExpect(bar, 16384);
        bulkLoad(to + at * 16384, from + (i & 31) * 16384, 16384, bar);
        n += 16384;
        if (++at == depth) at = 0, parity ^= 1;
      }
    }
  } else {
    int t = threadIdx.x - 128;
    do {
      for (int r = 0; r < 8; r++) {
        for (int i = 0; i < 8; i++)
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (r % 4 * 8 + i) * 2048 + t * 16), "l"(from + (n & 524287) + i * 2048 + t * 16) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (depth == 1) asm volatile("cp.async.wait_group 0;" ::: "memory");
        else if (depth == 2) asm volatile("cp.async.wait_group 1;" ::: "memory");
        else asm volatile("cp.async.wait_group 3;" ::: "memory");
        n += 16384;
      }
    } while (!ended);
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
  long long end = clock64();
  if (threadIdx.x % 32 == 0) done[threadIdx.x / 32] = n;
  record(out, begin, end);
}

template <class W, int HOW> void fills(Buffer<Span> &span, Buffer<long long> &done, Buffer<unsigned> &sink, Buffer<char> &memory) {
  auto k = filled<W, HOW>;
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536 + 8 * 16384));
  for (int depth : {1, 2, 4}) {
    for (int i = 0; i < 2; i++) k<<<1, 256, 65536 + 8 * 16384>>>(span.p, done.p, sink.p, memory.p, depth);
    CHECK(cudaDeviceSynchronize());
    auto s = span.get(8);
    auto n = done.get(8);
    Params p = Params()("op", W::name())("by", HOW ? "cp.async" : "bulk")("depth", depth);
    emit("wgmma.filled", p, double(s[0].stop - s[0].start) / (turns * batch), "cycles/instruction/SM");
    emit("wgmma.fills", p, double(n[4]) / double(s[4].stop - s[4].start), "bytes/cycle/SM");
  }
}

int main() {
  Buffer<Span> span(64);
  Buffer<long long> done(64);
  Buffer<unsigned> sink(1024);
  Buffer<char> memory(1 << 20);
  ops<Nothing, false, 1>(span, done, sink);
  ops<F16N64, false, 1>(span, done, sink), ops<F16N128, false, 1>(span, done, sink), ops<F16N256, false, 1>(span, done, sink);
  ops<F16N128, true, 1>(span, done, sink), ops<F16N256, true, 1>(span, done, sink), ops<F16N128, false, 2>(span, done, sink);
  ops<HalfN256, false, 1>(span, done, sink), ops<E4M3N128, false, 1>(span, done, sink);
  fills<F16N64, 0>(span, done, sink, memory), fills<F16N128, 0>(span, done, sink, memory), fills<F16N256, 0>(span, done, sink, memory);
  fills<F16N64, 1>(span, done, sink, memory), fills<F16N128, 1>(span, done, sink, memory), fills<F16N256, 1>(span, done, sink, memory);
}
