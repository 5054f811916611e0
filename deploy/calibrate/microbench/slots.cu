// slots.cu - how long instructions hold the issue slot of their sub-partition: each
// beside more and more sums of floats, which issue every cycle and read one register.
// What n sums take less than the step does is the instruction's, once they are many.
#include "harness.cuh"

enum Op { NOTHING, MUL_WIDE, MUL_HI, MAD_LO, LOAD, MAD_WIDE_LOAD, STORE, STORE4, LOAD_SHARED, STORE_SHARED4, SHUFFLE, SHIFT, COMPARE, OPS };
static const char *opName[] = {"none", "mul_wide", "mul_hi", "mad_lo", "ld_global", "mad_wide_ld_global", "st_global", "st_global_16", "ld_shared",
  "st_shared_16", "shfl", "shf", "min_max"};
// how many registers the step's instruction of the memory pipe reads, addresses of 64 bits being two, and what else it issues
static const int reads[] = {0, 0, 0, 0, 2, 2, 3, 6, 1, 5, 1, 0, 0}, others[] = {0, 0, 0, 0, 1, 2, 0, 0, 1, 0, 0, 0, 1};

struct State {
  float f[4], w;
  unsigned a[2];
  long long d;
  const float *p;
  float *q;
};

template <int OP> __device__ inline void step(State &s, int i, float *shared, unsigned x, unsigned y, int m) {
  int k = i & 1;
  unsigned lo = unsigned(s.d), hi = unsigned(s.d >> 32);
  if (OP == MUL_WIDE) asm volatile("mul.wide.s32 %0, %1, %2;" : "=l"(s.d) : "r"(lo), "r"(hi));
  if (OP == MUL_HI) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(s.a[k]) : "r"(s.a[1 - k]));
  if (OP == MAD_LO) asm volatile("mad.lo.s32 %0, %0, %1, %0;" : "+r"(s.a[k]) : "r"(x));
  if (OP == LOAD) s.w = fmaxf(s.w, s.q[i * 32]);
  if (OP == STORE) s.q[i] = s.w;
  if (OP == STORE4) ((float4 *)s.q)[i] = float4{s.w, s.f[0], s.f[1], s.f[2]};
  if (OP == STORE_SHARED4) ((float4 *)shared)[i] = float4{s.w, s.f[0], s.f[1], s.f[2]};
  if (OP == MAD_WIDE_LOAD) s.w = fmaxf(s.w, *s.p), s.p += m;
  if (OP == LOAD_SHARED) s.w = fmaxf(s.w, shared[i * 32]);
  if (OP == SHUFFLE) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(s.a[k]));
  if (OP == SHIFT) asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(s.a[k]) : "r"(x));
  if (OP == COMPARE) asm volatile("min.u32 %0, %0, %1; max.u32 %0, %0, %2;" : "+r"(s.a[k]) : "r"(x), "r"(y));
}

const int steps = 16, turns = 16;

template <int OP, int SUMS> __global__ void __launch_bounds__(1024) mix(Span *out, float *sink, float *a, int m, int loops, unsigned x, unsigned y, float u) {
  __shared__ float shared[1024];
  shared[threadIdx.x] = a[threadIdx.x];
  unsigned t = threadIdx.x, lane = t % 32;
  constexpr bool uniform = OP == STORE || OP == STORE4; // few sectors: others limit the rate else
  State s = {{float(t), 1, 2, 3}, 0, {t, t + 1}, t * 77777777777ll, a + lane, uniform ? a + t / 32 * 64 : a + lane};
  float *mine = OP == LOAD_SHARED ? shared + lane : shared + t / 32 * 16;
  long long start = 0, stop = 0;
  for (int k = -1; k < loops; k++) { // the first turn warms caches
    __syncthreads();
    if (k == 0) start = clock64();
    s.p = a + lane;
#pragma unroll 1
    for (int j = 0; j < turns; j++) {
#pragma unroll
      for (int i = 0; i < steps; i++) {
        step<OP>(s, i, mine, x, y, m);
#pragma unroll
        for (int n = 0; n < SUMS; n++) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(s.f[(i * SUMS + n) % 4]) : "f"(u));
      }
      if (OP == LOAD) s.q += m;
      __syncwarp(); // what was read is read again
    }
    if (OP == LOAD) s.q = a + lane;
  }
  stop = clock64();
  record(out, start, stop);
  float v = s.f[0] + s.f[1] + s.f[2] + s.f[3] + s.w;
  if (v == 0.1234f || (s.a[0] ^ s.a[1] ^ unsigned(s.d) ^ unsigned(s.d >> 32)) == 0x12345678) sink[0] = v;
}

template <int OP, int SUMS> void measure(Buffer<Span> &span, Buffer<float> &memory) {
  const int loops = 8, threads = 1024;
  for (int i = 0; i < 2; i++) mix<OP, SUMS><<<1, threads>>>(span.p, memory.p, memory.p, 32, loops, 0x7ffffff1u, 0x3ffffff7u, 1.0001f);
  CHECK(cudaDeviceSynchronize());
  double warps = threads / 128, n = double(loops) * turns * steps; // warps of a sub-partition
  emit("slots.beside", Params()("op", opName[OP])("sums", double(SUMS))("reads", reads[OP])("others", others[OP]), cycles(span, threads / 32) / n / warps, "cycles/step");
}

template <int OP> void all(Buffer<Span> &span, Buffer<float> &memory) {
  measure<OP, 0>(span, memory), measure<OP, 1>(span, memory), measure<OP, 2>(span, memory), measure<OP, 3>(span, memory);
  measure<OP, 4>(span, memory), measure<OP, 6>(span, memory), measure<OP, 8>(span, memory), measure<OP, 12>(span, memory), measure<OP, 20>(span, memory);
  if constexpr (OP + 1 < OPS) all<OP + 1>(span, memory);
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<float> memory(1 << 16);
  all<0>(span, memory);
}
