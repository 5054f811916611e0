// crowded.cu - what L1 keeps, for ncu (see run.sh), by how much is read again: walks of
// warps over what is their own and over what the CTA reads together, again and again or
// once more; lines drawn at random, whole and a sector of each; single lanes that follow
// pointers in order, in no order and at strides of powers of two; requests of which a
// part is there. A line a launch: the params and the cycles of CTA 0, which on an SM with
// several may be done before the others.
#include <cstdint>
#include <numeric>
#include <random>
#include "harness.cuh"

static const size_t KiB = 1 << 10;

struct Walk {
  int lines;      // of a warp at a time
  int rounds;     // over them
  int passes;     // of new lines after that
  int together;   // warps take turns in the CTA's lines, else each has its own
  int random;     // lines drawn anywhere in the CTA's
  int words;      // of a line that lanes read
};

// SIDE loads between one use and the next
template <int SIDE> __global__ void __launch_bounds__(1024) walk(const float *in, float *sink, Walk w, Span *span) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  size_t all = size_t(w.lines) * warps;
  const float *p = in + (blockIdx.x * size_t(w.passes)) * all * 32 + lane % w.words;
  size_t first = w.together ? warp : size_t(warp) * w.lines, step = w.together ? warps : 1;
  unsigned state = (blockIdx.x * 32 + warp) * 2654435761u + 12345;
  float s = 0;
  long long start = clock64();
  for (int pass = 0; pass < w.passes; pass++, p += all * 32)
    for (int r = 0; r < w.rounds; r++)
      for (int i = 0; i < w.lines; i += SIDE) {
        float v[SIDE];
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
          size_t line = first + (i + k) * step;
          if (w.random) {
            state = state * 1664525u + 1013904223u;
            line = (uint64_t(state) * all) >> 32;
          }
          v[k] = p[line * 32];
        }
#pragma unroll
        for (int k = 0; k < SIDE; k++) s += v[k];
      }
  long long stop = clock64();
  if (s == 123.f) sink[0] = s;
  if (blockIdx.x == 0) record(span, start, stop);
}

// one lane follows pointers
__global__ void chase(const uint32_t *in, uint32_t *sink, int steps, Span *span) {
  uint32_t i = 0;
  long long start = clock64();
  for (int k = 0; k < steps; k++) i = in[i];
  long long stop = clock64();
  if (i == 12345678) sink[0] = i;
  record(span, start, stop);
}

// requests of 32 / SEGMENT segments, each in a line of its own; `hot` of them are in 4 KiB
// that stay, the others in 2 MiB that pass
template <int SEGMENT> __global__ void __launch_bounds__(256) parts(const float *in, float *sink, int hot, int n, Span *span) {
  int lane = threadIdx.x % 32, part = lane / SEGMENT, warp = threadIdx.x / 32;
  bool stays = part < hot;
  unsigned line = stays ? part : 64 + (blockIdx.x * 8 + warp) * 977 + part;
  float s = 0;
  long long start = clock64();
  for (int i = 0; i < n; i += 4) {
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      v[k] = in[(line & 16383) * 32 + lane % SEGMENT];
      line = stays ? (line + 1) % 32 : line + 32 / SEGMENT;
      if (!stays && (line & 16383) < 64) line += 64;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) s += v[k];
  }
  long long stop = clock64();
  if (s == 123.f) sink[0] = s;
  if (blockIdx.x == 0) record(span, start, stop);
}

struct Bench {
  Device dev;
  Buffer<float> in{size_t(3) << 28};
  Buffer<float> sink{16};
  Buffer<Span> span{64};

  template <int SIDE> void walks(const char *name, int warps, double of, Walk w, int percent = 0) {
    int ctas = (warps + 31) / 32, each = warps / ctas;
    w.lines = int(of * 256 * KiB / 128 / warps / SIDE) * SIDE;
    if (!w.lines) return;
    if (w.passes > 1) w.passes = std::max(4, int(16 / of));
    CHECK(cudaFuncSetAttribute(walk<SIDE>, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    walk<SIDE><<<dev.sms() * ctas, each * 32>>>(in.p, sink.p, w, span.p);
    CHECK(cudaDeviceSynchronize());
    emit(("crowded." + std::string(name)).c_str(),
         Params()("warps", warps)("bytes", double(w.lines) * warps * 128)("words", w.words)("rounds", w.rounds)("passes", w.passes)("side", SIDE)("percent", percent)("sms", dev.sms()),
         cycles(span, each), "cycles");
  }

  void chases(const char *name, int lines, int stride, bool shuffled) {
    std::vector<uint32_t> order(lines), next(size_t(lines) * stride * 32);
    std::iota(order.begin(), order.end(), 0);
    if (shuffled) std::shuffle(order.begin() + 1, order.end(), std::mt19937(7));
    for (int i = 0; i < lines; i++) next[size_t(order[i]) * stride * 32] = order[(i + 1) % lines] * stride * 32;
    CHECK(cudaMemcpy(in.p, next.data(), next.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(chase, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    const int rounds = 5;
    chase<<<1, 1>>>((uint32_t *)in.p, (uint32_t *)sink.p, rounds * lines, span.p);
    CHECK(cudaDeviceSynchronize());
    emit(("crowded." + std::string(name)).c_str(), Params()("lines", lines)("stride", stride)("rounds", rounds),
         cycles(span, 1) / (rounds * lines), "cycles");
  }

  template <int SEGMENT> void part() {
    for (int ctas : {1, 8})
      for (int hot = 0; hot <= 32 / SEGMENT; hot++) {
        const int n = 512;
        parts<SEGMENT><<<dev.sms() * ctas, 256>>>(in.p, sink.p, hot, n, span.p);
        CHECK(cudaDeviceSynchronize());
        emit("crowded.parts", Params()("segment", SEGMENT)("hot", hot)("ctas", ctas)("requests", double(n) * 8 * ctas), cycles(span, 8), "cycles");
      }
  }
};

static const double sizes[] = {0.7, 0.78, 0.82, 0.86, 0.9, 0.94, 0.98, 1.06, 1.15, 1.25, 1.35, 1.5, 1.7, 2, 2.5};

int main() {
  Bench b;
  for (int warps : {1, 2, 4, 8, 16, 32, 64})
    for (double of : sizes) {
      b.walks<1>("own", warps, of, {0, 8, 1, 0, 0, 32});
      b.walks<1>("together", warps, of, {0, 8, 1, 1, 0, 32});
      if (warps >= 8) b.walks<4>("own", warps, of, {0, 8, 1, 0, 0, 32});
      if (warps >= 8) b.walks<1>("once_more", warps, of, {0, 2, 2, 0, 0, 32});
      if (warps >= 8) b.walks<1>("together_once_more", warps, of, {0, 2, 2, 1, 0, 32});
      if (warps == 8 || warps == 64) b.walks<1>("random", warps, of, {0, 16, 1, 1, 1, 32});
      if (warps == 8 || warps == 64) b.walks<1>("random", warps, of, {0, 16, 1, 1, 1, 8});
    }
  for (int percent : {25, 50, 75})
    for (double of : sizes) {
      b.walks<1>("own", 32, of * (100 - percent) / 100, {0, 8, 1, 0, 0, 32}, percent);
      b.walks<1>("random", 32, of * (100 - percent) / 100, {0, 16, 1, 1, 1, 32}, percent);
    }
  for (int lines = 1536; lines <= 2816; lines += 32) b.chases("chase", lines, 1, false);
  for (int lines = 1024; lines <= 4096; lines += 128) b.chases("shuffled", lines, 1, true);
  for (int stride = 2; stride <= 1024; stride *= 2)
    for (int lines = std::max(2, 2048 / stride / 4); lines <= 4096 / stride + 16; lines = std::max(lines + 1, lines * 9 / 8)) b.chases("chase", lines, stride, false);
  b.part<8>();
  b.part<16>();
  b.part<4>();
}
