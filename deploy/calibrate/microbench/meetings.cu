// meetings.cu - what SMs make each other wait for: global atomics of all SMs on a
// few to many addresses by how these are spread over words, sectors and lines, and
// fences by how many warps of an SM, and how many SMs, issue them.
#include "harness.cuh"

// where a lane adds: CONSECUTIVE lanes at consecutive addresses (the flush of a
// shared histogram), SCATTERED lanes at random ones (a histogram in global memory)
enum Order { CONSECUTIVE, SCATTERED };

template <int ORDER, bool FLOAT> __global__ void __launch_bounds__(256) add(char *p, unsigned addresses, unsigned spacing, int loops) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, r = t * 2654435761u + 12345u;
  for (int i = 0; i < loops; i++) {
    unsigned at = threadIdx.x + i * blockDim.x;
    if (ORDER == SCATTERED) {
      r = r * 1664525u + 1013904223u;
      at = r >> 8;
    }
    char *a = p + size_t(at & (addresses - 1)) * spacing;
    if (FLOAT) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(a), "f"(1.f) : "memory");
    else asm volatile("red.global.add.u32 [%0], %1;" ::"l"(a), "r"(1) : "memory");
  }
}

template <int ORDER, bool FLOAT> void atomics(Device &dev, char *p) {
  for (unsigned spacing : {4, 32, 128})
    for (unsigned addresses = 1; addresses <= 65536; addresses *= 4) {
      if (spacing > 4 && (addresses > 4096 || FLOAT)) continue;
      const int ctas = dev.sms() * 8, threads = 256;
      const int loops = addresses < 32 ? 4 : addresses < 1024 ? 32 : 64;
      double us = microseconds([&] { add<ORDER, FLOAT><<<ctas, threads>>>(p, addresses, spacing, loops); }, 1, 5);
      emit("meetings.atomic", Params()("op", FLOAT ? "add.f32" : "add.u32")("order", ORDER == SCATTERED ? "scattered" : "consecutive")("addresses", addresses)("spacing", spacing),
           double(ctas) * threads * loops / us * 1e-3, "G lanes/s");
    }
}

// Adds in turns to so many buffers, at random words of each.
__global__ void __launch_bounds__(256) turns(char *p, unsigned buffers, unsigned addresses, int loops) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, r = t * 2654435761u + 12345u;
  for (int i = 0; i < loops; i++)
    for (unsigned b = 0; b < buffers; b++) {
      r = r * 1664525u + 1013904223u;
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p + size_t(b) * 5242880 + ((r >> 8) & (addresses - 1)) * 4), "r"(1) : "memory");
    }
}

void inTurns(Device &dev, char *p) {
  for (unsigned buffers : {1, 2, 4})
    for (unsigned addresses : {64, 256, 512, 1024, 4096, 65536, 1048576}) {
      const int ctas = dev.sms() * 8, threads = 256, loops = 64 / buffers;
      double us = microseconds([&] { turns<<<ctas, threads>>>(p, buffers, addresses, loops); }, 1, 5);
      emit("meetings.turns", Params()("op", "add.u32")("buffers", buffers)("addresses", addresses), double(ctas) * threads * loops * buffers / us * 1e-3, "G lanes/s");
    }
}

// KIND 0 fences alone; 1 a store of the warp's own line before each; 2 store,
// fence and an atomic on one counter by one thread a warp (the last-block pattern)
template <int KIND> __global__ void __launch_bounds__(1024) fences(unsigned *p, unsigned *counter, int loops, Span *out) {
  unsigned w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, v;
  __syncthreads();
  long long start = clock64();
  if (KIND < 2 || threadIdx.x % 32 == 0)
    for (int i = 0; i < loops; i++) {
      if (KIND > 0) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + size_t(w) * 32 + threadIdx.x % 32), "r"(i) : "memory");
      __threadfence();
      if (KIND == 2) asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(v) : "l"(counter), "r"(1000000) : "memory");
    }
  long long stop = clock64();
  if (blockIdx.x == 0) record(out, start, stop);
}

template <int KIND> void fence(Device &dev, unsigned *p, unsigned *counter, Buffer<Span> &span) {
  const char *kinds[] = {"none", "store", "store_atomic"};
  for (int ctas : {1, 8, dev.sms()})
    for (int warps : {1, 2, 4, 8, 16, 32}) {
      const int loops = 64;
      for (int i = 0; i < 2; i++) fences<KIND><<<ctas, warps * 32>>>(p, counter, loops, span.p);
      CHECK(cudaDeviceSynchronize());
      emit("meetings.fence", Params()("pending", kinds[KIND])("ctas", ctas)("warps", warps), cycles(span, warps) / loops, "cycles a fence of every warp");
    }
}

// short CTAs of one store, a fence and an atomic, as a reduction's have them
template <bool FENCE> __global__ void finish(unsigned *p, unsigned *counter, unsigned *sink) {
  if (threadIdx.x == 0) {
    unsigned v;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p + blockIdx.x), "r"(1) : "memory");
    if (FENCE) __threadfence();
    asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(v) : "l"(counter), "r"(gridDim.x - 1) : "memory");
    if (v == 0xffffffffu) sink[0] = v;
  }
}

template <bool FENCE> void shortCTAs(unsigned *p, unsigned *counter, unsigned *sink) {
  for (int warps : {1, 2, 4, 8, 32}) {
    const int n = 1 << 17;
    double us = microseconds([&] { finish<FENCE><<<n, warps * 32>>>(p, counter, sink); }, 1, 3);
    emit("meetings.finish", Params()("fence", FENCE ? 1 : 0)("warps", warps), us * 1e3 / n, "ns/CTA");
  }
}

int main() {
  Device dev;
  Buffer<char> p(32 << 20);
  Buffer<unsigned> q(1 << 22), counter(64), sink(16);
  Buffer<Span> span(64);
  atomics<CONSECUTIVE, false>(dev, p.p);
  atomics<SCATTERED, false>(dev, p.p);
  atomics<CONSECUTIVE, true>(dev, p.p);
  atomics<SCATTERED, true>(dev, p.p);
  inTurns(dev, p.p);
  fence<0>(dev, q.p, counter.p, span);
  fence<1>(dev, q.p, counter.p, span);
  fence<2>(dev, q.p, counter.p, span);
  shortCTAs<false>(q.p, counter.p, sink.p);
  shortCTAs<true>(q.p, counter.p, sink.p);
}
