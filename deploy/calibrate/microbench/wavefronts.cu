// wavefronts.cu - cycles of the SM's memory pipe per warp instruction: shared
// memory by stride, width and bank; global loads that hit L1 by stride and by the
// number of distinct lines (tags); constants by distinct addresses; atomics on
// shared memory by conflict. One CTA of 32 warps on one SM.
#include "harness.cuh"

enum Kind { SHARED_LD, SHARED_LD64, SHARED_LD128, SHARED_ST, GLOBAL_LD, GLOBAL_LD64, GLOBAL_LD128, GLOBAL_ST, SHARED_ATOM, SHARED_RED, SHARED_INC, KINDS };
static const char *kindName[] = {"shared_ld", "shared_ld64", "shared_ld128", "shared_st", "global_ld", "global_ld64", "global_ld128", "global_st", "shared_atom", "shared_red", "shared_inc"};

extern __shared__ unsigned tile[];

template <int KIND> __device__ inline unsigned access(unsigned s, const unsigned *g, unsigned v) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (KIND == SHARED_LD) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(s));
  if (KIND == SHARED_LD64) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(s));
  if (KIND == SHARED_LD128) asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s));
  if (KIND == SHARED_ST) asm volatile("st.shared.u32 [%0], %1;" ::"r"(s), "r"(s));
  if (KIND == GLOBAL_LD) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(g));
  if (KIND == GLOBAL_LD64) asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(g));
  if (KIND == GLOBAL_LD128) asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(g));
  if (KIND == GLOBAL_ST) asm volatile("st.global.u32 [%0], %1;" ::"l"(g), "r"(s));
  if (KIND == SHARED_ATOM) asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(a) : "r"(s), "r"(v) : "memory");
  if (KIND == SHARED_RED) asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(s), "r"(v) : "memory");
  if (KIND == SHARED_INC) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(s) : "memory"); // ATOMS.POPC.INC
  return a ^ b ^ c ^ d;
}

// offsets[lane] is the byte offset of each lane. Every access of the body goes to
// lines of its own, 128 bytes further, so that none can be left out and all have
// the same banks and number of lines.
template <int KIND> __global__ void __launch_bounds__(1024) pass(const unsigned *g, const unsigned *offsets, int loops, Span *out, unsigned *sink) {
  for (int i = threadIdx.x; i < 12288; i += blockDim.x) tile[i] = i;
  unsigned off = offsets[threadIdx.x % 32], x = 0;
  unsigned base = (unsigned)__cvta_generic_to_shared(tile) + off;
  long long start = 0;
  for (int k = -4; k < loops; k++) { // the first four turns bring every line into L1
    if (k == 0) {
      __syncthreads();
      start = clock64();
    }
    unsigned s = base + (k & 3) * 2048;
    const unsigned *p = g + off / 4 + (k & 3) * 512;
#pragma unroll
    for (int j = 0; j < 16; j++) x ^= access<KIND>(s + j * 128, p + j * 32, off);
  }
  long long stop = clock64();
  record(out, start, stop);
  if (x == 0x12345678) sink[0] = x;
}

struct Bench {
  Buffer<Span> span{64};
  Buffer<unsigned> sink{16}, offsets{32}, global{1 << 16};

  template <int KIND> double total(const std::vector<unsigned> &off, int loops, int warps) {
    offsets.put(off);
    for (int i = 0; i < 2; i++) pass<KIND><<<1, warps * 32, 49152>>>(global.p, offsets.p, loops, span.p, sink.p);
    CHECK(cudaDeviceSynchronize());
    return cycles(span, warps);
  }

  template <int KIND> double run(const std::vector<unsigned> &off) {
    const int loops = 16, warps = 32;
    return total<KIND>(off, loops, warps) / (loops * 16.0 * warps);
  }

  // what a further access takes in a long stream of them: starts and ends left out
  template <int KIND> void slopes(std::initializer_list<int> list) {
    for (int warps : {8, 16, 32})
      for (int stride : list) {
        std::vector<unsigned> off(32);
        for (unsigned l = 0; l < 32; l++) off[l] = (l * stride % 8192) * 4;
        double c = total<KIND>(off, 96, warps) - total<KIND>(off, 32, warps);
        emit("wavefronts.slope", Params()("kind", kindName[KIND])("stride", stride)("warps", warps), c / (64 * 16.0 * warps), "cycles/warp instruction");
      }
  }

  // lane i at i*stride elements, wrapped into 32 KiB
  template <int KIND> void strides(std::initializer_list<int> list) {
    const unsigned width = KIND == SHARED_LD64 || KIND == GLOBAL_LD64 ? 2 : KIND == SHARED_LD128 || KIND == GLOBAL_LD128 ? 4 : 1;
    for (int stride : list) {
      std::vector<unsigned> off(32);
      for (unsigned l = 0; l < 32; l++) off[l] = (l * stride * width % 8192) * 4;
      emit("wavefronts.stride", Params()("kind", kindName[KIND])("stride", stride)("width", width * 4), run<KIND>(off), "cycles/warp instruction");
    }
  }

  // lanes on n distinct lines, every lane in its own bank
  template <int KIND> void lines(int n) {
    std::vector<unsigned> off(32);
    for (unsigned l = 0; l < 32; l++) off[l] = (l % n) * 128 + l * 4;
    emit("wavefronts.lines", Params()("kind", kindName[KIND])("lines", n), run<KIND>(off), "cycles/warp instruction");
  }

  // wide loads whose lanes share addresses, consecutive elements: which of them
  // are served twice as many lanes at once
  template <int KIND> void shared() {
    const unsigned width = KIND == SHARED_LD64 || KIND == GLOBAL_LD64 ? 8 : 16;
    struct Pattern {
      const char *name;
      unsigned (*at)(unsigned lane);
    };
    const Pattern patterns[] = {
      {"one", [](unsigned) { return 0u; }},
      {"xor1", [](unsigned l) { return l / 2; }},
      {"xor2", [](unsigned l) { return l / 4 * 2 + l % 2; }},
      {"xor4", [](unsigned l) { return l / 8 * 4 + l % 4; }},
      {"eights", [](unsigned l) { return l / 8; }},
      {"halves", [](unsigned l) { return l / 16; }},
      {"halves_one_bank", [](unsigned l) { return l / 16 * 16; }},
      {"repeat4", [](unsigned l) { return l % 4; }},
      {"repeat16", [](unsigned l) { return l % 16; }},
      {"xor1_then_xor2", [](unsigned l) { return l < 16 ? l / 2 : l / 4 * 2 + l % 2; }},
      {"xor1_but_one", [](unsigned l) { return l == 31 ? 16 : l / 2; }},
    };
    for (const Pattern &p : patterns) {
      std::vector<unsigned> off(32);
      for (unsigned l = 0; l < 32; l++) off[l] = p.at(l) * width;
      emit("wavefronts.shared_pairs", Params()("kind", kindName[KIND])("lanes", p.name), run<KIND>(off), "cycles/warp instruction");
    }
  }

  // n lanes in a row share one word
  template <int KIND> void sameAddress(int n) {
    std::vector<unsigned> off(32);
    for (unsigned l = 0; l < 32; l++) off[l] = l / n * 4;
    emit("wavefronts.same_address", Params()("kind", kindName[KIND])("lanes", n), run<KIND>(off), "cycles/warp instruction");
  }
};

__constant__ unsigned table[8192];

__global__ void __launch_bounds__(1024) constants(int distinct, int loops, Span *out, unsigned *sink) {
  unsigned at = threadIdx.x % distinct, x = 0;
  long long start = 0;
  for (int k = -4; k < loops; k++) {
    if (k == 0) {
      __syncthreads();
      start = clock64();
    }
#pragma unroll
    for (int j = 0; j < 16; j++) x ^= table[at + j * 2 + (k & 3) * 64];
  }
  long long stop = clock64();
  record(out, start, stop);
  if (x == 0x12345678) sink[0] = x;
}

// sums of floating-point numbers in shared memory, which the machine makes by a loop that
// compares and swaps: so many lanes in a row share a word, the next word is a stride
// further, and the warps share theirs or not
template <typename T> __global__ void __launch_bounds__(1024) sums(int lanes, int stride, int apart, int loops, Span *out) {
  T *word = reinterpret_cast<T *>(tile) + threadIdx.x / 32 * apart + threadIdx.x % 32 / lanes * stride;
  for (int i = threadIdx.x; i < 40 << 10; i += blockDim.x) tile[i] = 0;
  __syncthreads();
  long long start = clock64();
  for (int k = 0; k < loops; k++)
#pragma unroll
    for (int j = 0; j < 4; j++) atomicAdd(word + j * 32, T(1));
  long long stop = clock64();
  record(out, start, stop);
}

int main() {
  Device dev;
  Bench b;
  CHECK(cudaFuncSetAttribute(sums<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10));
  CHECK(cudaFuncSetAttribute(sums<double>, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10));
  for (int warps : {1, 4, 8, 16, 32})
    for (int lanes : {1, 2, 4, 8, 32})
      for (int apart : {0, 128}) {
        for (int i = 0; i < 2; i++) sums<float><<<1, warps * 32, 160 << 10>>>(lanes, 1, apart, 16, b.span.p);
        emit("wavefronts.shared_sums", Params()("warps", warps)("lanes", lanes)("apart", apart), cycles(b.span, warps) / 64.0, "cycles a sum of each warp");
      }
  for (int warps : {1, 4, 8, 16, 32})
    for (int lanes : {1, 2, 4})
      for (int stride : {1, 2, 4, 8, 16, 32}) {
        for (int i = 0; i < 2; i++) sums<float><<<1, warps * 32, 160 << 10>>>(lanes, stride, 1152, 16, b.span.p);
        emit("wavefronts.shared_sums_banks", Params()("bytes", 4)("warps", warps)("lanes", lanes)("stride", stride), cycles(b.span, warps) / 64.0, "cycles a sum of each warp");
      }
  for (int warps : {1, 4, 8, 16})
    for (int lanes : {1, 2, 4, 32})
      for (int stride : {1, 2, 4, 8, 16, 32}) {
        for (int i = 0; i < 2; i++) sums<double><<<1, warps * 32, 160 << 10>>>(lanes, stride, 1152, 16, b.span.p);
        emit("wavefronts.shared_sums_banks", Params()("bytes", 8)("warps", warps)("lanes", lanes)("stride", stride), cycles(b.span, warps) / 64.0, "cycles a sum of each warp");
      }
  auto few = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 32, 33};
  b.strides<SHARED_LD>(few);
  b.strides<SHARED_ST>(few);
  b.strides<SHARED_LD64>({1, 2, 3, 4, 8, 16});
  b.strides<SHARED_LD128>({1, 2, 3, 4, 8});
  b.shared<SHARED_LD64>();
  b.shared<SHARED_LD128>();
  b.shared<GLOBAL_LD64>();
  b.shared<GLOBAL_LD128>();
  b.strides<GLOBAL_LD>(few);
  b.strides<GLOBAL_ST>({1, 2, 3, 4, 8, 16, 32});
  b.strides<GLOBAL_LD64>({1, 2, 3, 4, 8, 16});
  b.strides<GLOBAL_LD128>({1, 2, 3, 4, 8});
  for (int n : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32}) b.lines<GLOBAL_LD>(n);
  for (int n : {1, 2, 4, 8, 16, 32}) b.sameAddress<SHARED_ATOM>(n);
  for (int n : {1, 2, 4, 8, 16, 32}) b.sameAddress<SHARED_RED>(n);
  for (int n : {1, 2, 4, 8, 16, 32}) b.sameAddress<SHARED_INC>(n);
  b.strides<SHARED_INC>({1, 2, 4, 8, 16, 32});
  for (int n : {1, 2, 4, 8, 16, 32}) {
    for (int i = 0; i < 2; i++) constants<<<1, 1024>>>(n, 8, b.span.p, b.sink.p);
    emit("wavefronts.constant", Params()("distinct", n), cycles(b.span, 32) / (8 * 16.0 * 32), "cycles/warp instruction");
  }
  for (int warps : {1, 4, 8, 16, 32})
    for (int n : {1, 2, 4, 8, 16, 32}) {
      double c[2];
      for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 2; i++) constants<<<1, warps * 32>>>(n, k ? 96 : 32, b.span.p, b.sink.p);
        CHECK(cudaDeviceSynchronize());
        c[k] = cycles(b.span, warps);
      }
      emit("wavefronts.constant_slope", Params()("distinct", n)("warps", warps), (c[1] - c[0]) / (64 * 16.0 * warps), "cycles/warp instruction");
    }
  b.slopes<SHARED_LD>({1, 2, 4, 8, 16, 32});
  b.slopes<GLOBAL_LD>({1, 2, 4, 8, 16, 32});
  b.slopes<GLOBAL_ST>({1, 2, 4, 8, 16, 32});
}
