// streams.cu - what streaming loads and stores (ld.cs, st.cs: evicted first) leave in L2 of
// what other loads and stores touch, and of their own, from one launch to the next; for ncu (see run.sh): DRAM
// bytes of the last of three launches.
#include "harness.cuh"

static const size_t MiB = 1 << 20;

struct Parts {
  int streamed, kept, written; // KiB of a CTA times 4
};

// Each CTA reads a part of one buffer, whose loads may be streaming, a part of another and
// writes a part of a third, whose stores may be streaming.
template <bool READ, bool WRITE> __global__ void __launch_bounds__(256) pass(const uint4 *s, const uint4 *y, uint4 *w, Parts n, unsigned *sink) {
  unsigned sum = 0;
  size_t at = blockIdx.x * size_t(256) + threadIdx.x, all = size_t(gridDim.x) * 256;
  for (int k = 0; k < n.streamed; k++) {
    uint4 v = READ ? __ldcs(s + at + k * all) : s[at + k * all];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  for (int k = 0; k < n.kept; k++) {
    uint4 v = y[at + k * all];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  for (int k = 0; k < n.written; k++) {
    uint4 v = make_uint4(sum, k, 2, 3);
    if (WRITE) __stcs(w + at + k * all, v);
    else w[at + k * all] = v;
  }
  if (sum == 0x12345678) sink[0] = sum;
}

template <bool READ, bool WRITE> void run(uint4 *p, unsigned *sink, int ctas, Parts n) {
  const size_t part = 256 * MiB / 16;
  for (int i = 0; i < 3; i++) pass<READ, WRITE><<<ctas, 256>>>(p, p + part, p + 2 * part, n, sink);
  CHECK(cudaDeviceSynchronize());
  auto mib = [&](int k) { return double(ctas) * k * 4096 / MiB; };
  emit("streams.profiled", Params()("streaming_loads", READ)("streaming_stores", WRITE)("streamed", mib(n.streamed))("kept", mib(n.kept))("written", mib(n.written)), 3, "launches");
}

int main() {
  Device dev;
  Buffer<uint4> p(3 * 256 * MiB / 16);
  Buffer<unsigned> sink(16);
  const int ctas = 2048; // 8 MiB a part
  for (int streamed : {2, 4, 6, 8, 12, 16}) {
    run<false, false>(p.p, sink.p, ctas, {streamed, 0, 0});
    run<true, false>(p.p, sink.p, ctas, {streamed, 0, 0});
  }
  for (int streamed : {2, 4, 8, 12, 16})
    for (int kept : {1, 2, 3, 4, 5}) {
      run<false, false>(p.p, sink.p, ctas, {streamed, kept, 0});
      run<true, false>(p.p, sink.p, ctas, {streamed, kept, 0});
    }
  for (int streamed : {2, 4, 8, 12, 16})
    for (int written : {1, 2, 3, 4, 6, 8}) {
      run<false, false>(p.p, sink.p, ctas, {streamed, 0, written});
      run<true, false>(p.p, sink.p, ctas, {streamed, 0, written});
      run<false, true>(p.p, sink.p, ctas, {streamed, 0, written});
      run<true, true>(p.p, sink.p, ctas, {streamed, 0, written});
    }
  for (int kept : {1, 2, 3, 4, 6})
    for (int written : {1, 2, 4, 8}) run<false, true>(p.p, sink.p, ctas, {0, kept, written});
}
