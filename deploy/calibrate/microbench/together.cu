// together.cu - how CTAs that read the same data and warps that want the same issue
// slots get on: what a step of a loop takes whose data other CTAs read too, fresh from
// DRAM or found in L2, and which of several warps that could always issue go first.
#include "harness.cuh"

// walk reads a word of one line a step, each address depending on the word before, which
// is zero. CTAs of a group read the same lines; those with an odd number within it start late.
// It writes the cycles of each CTA's first and last quarter of steps.
__global__ void walk(const unsigned *data, size_t groupWords, int stepWords, int sharers, int steps, long long late, long long *out) {
  const unsigned *p = data + (blockIdx.x / sharers) * groupWords;
  if (blockIdx.x % sharers % 2 == 1) {
    long long until = clock64() + late;
    while (clock64() < until) {
    }
  }
  unsigned v = 0;
  long long start = clock64(), quarter = 0, threeQuarters = 0;
  for (int i = 0; i < steps; i++) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p + (size_t)i * stepWords + v) : "memory");
    if (i == steps / 4) quarter = clock64() + v;
    if (i == steps * 3 / 4) threeQuarters = clock64() + v;
  }
  long long stop = clock64() + v;
  out[2 * blockIdx.x] = quarter - start;
  out[2 * blockIdx.x + 1] = stop - threeQuarters;
}

__global__ void touch(const unsigned *data, size_t words, unsigned *sink) {
  unsigned v = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) {
    unsigned w;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(w) : "l"(data + i) : "memory");
    v += w;
  }
  if (v) *sink = v;
}

static void shared(Device &dev, Buffer<unsigned> &data, Buffer<unsigned> &other, Buffer<long long> &out, unsigned *sink) {
  const int steps = 1024, ctas = dev.sms() / 4 * 4;
  for (int fresh = 0; fresh < 2; fresh++)
    for (int sharers : {1, 2, 4, ctas / 4, ctas})
      for (int late : {0, 40000}) {
        if (sharers == 1 && late) continue;
        const size_t groupWords = (size_t)steps * 32, words = groupWords * (ctas / sharers);
        touch<<<dev.sms() * 4, 512>>>(data.p, words, sink);
        if (fresh) touch<<<dev.sms() * 4, 512>>>(other.p, other.n, sink); // pushes the data out of L2
        walk<<<ctas, 32>>>(data.p, groupWords, 32, sharers, steps, late, out.p);
        CHECK(cudaGetLastError());
        auto v = out.get(2 * ctas);
        for (int odd = 0; odd < (late ? 2 : 1); odd++) {
          std::vector<double> begin, end;
          for (int c = 0; c < ctas; c++)
            if (!late || c % sharers % 2 == odd) {
              begin.push_back(v[2 * c] / (steps / 4.0));
              end.push_back(v[2 * c + 1] / (steps / 4.0));
            }
          auto p = Params()("from", fresh ? "dram" : "l2")("sharers", sharers)("late", odd ? late : 0)("others_late", !odd ? late : 0);
          emit("together.begin", p, median(begin), "cycles/step");
          emit("together.end", p, median(end), "cycles/step");
        }
      }
}

// strides: how much of its neighbourhood a miss brings along.
static void strides(Device &dev, Buffer<unsigned> &data, Buffer<unsigned> &other, Buffer<long long> &out, unsigned *sink) {
  const int ctas = dev.sms();
  for (int bytes : {32, 64, 128, 256}) {
    const int steps = 1024 * 128 / bytes / 2;
    touch<<<dev.sms() * 4, 512>>>(other.p, other.n, sink);
    walk<<<ctas, 32>>>(data.p, 1024 * 32, bytes / 4, 1, steps, 0, out.p);
    CHECK(cudaGetLastError());
    auto v = out.get(2 * ctas);
    std::vector<double> end;
    for (int c = 0; c < ctas; c++) end.push_back(v[2 * c + 1] / (steps / 4.0));
    emit("together.stride", Params()("bytes", bytes), median(end), "cycles/step");
  }
}

// turn lets the warps of an SM, a few for each scheduler, run the same arithmetic.
__global__ void turn(int loops, float x, float y, Span *out, float *sink) {
  float a[8];
  for (int k = 0; k < 8; k++) a[k] = x + k;
  __syncthreads();
  long long start = clock64();
  for (int l = 0; l < loops; l++)
#pragma unroll
    for (int i = 0; i < 32; i++)
#pragma unroll
      for (int k = 0; k < 8; k++) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a[k]) : "f"(x), "f"(y));
  long long stop = clock64();
  record(out, start, stop);
  float s = 0;
  for (int k = 0; k < 8; k++) s += a[k];
  if (s == 12345.f) *sink = s;
}

static void turns(Buffer<Span> &span, float *sink) {
  const int loops = 512;
  double alone = 0;
  for (int each : {1, 2, 4, 8}) {
    const int warps = each * 4;
    for (int i = 0; i < 2; i++) turn<<<1, warps * 32>>>(loops, 1.01f, 0.5f, span.p, sink);
    double last = cycles(span, warps), mean = 0;
    for (auto &s : span.get(warps)) mean += double(s.stop - s.start) / warps;
    if (each == 1) alone = mean;
    emit("together.turns", Params()("warps_per_scheduler", each)("of", "mean warp"), mean / alone, "times one alone");
    emit("together.turns", Params()("warps_per_scheduler", each)("of", "last warp"), last / alone, "times one alone");
  }
}

int main() {
  Device dev;
  Buffer<unsigned> data((size_t)1024 * 32 * dev.sms()), other((size_t)128 << 20), sink(1);
  Buffer<long long> out(2 * dev.sms());
  Buffer<Span> span(64);
  Buffer<float> f(1);
  shared(dev, data, other, out, sink.p);
  strides(dev, data, other, out, sink.p);
  turns(span, f.p);
}
