// constants.cu - what loads from tables in constant memory cost: while warps are at the
// same place of a table, where CTAs are at places of their own, and where they come to
// be by themselves, in launches of several waves.
//
// ptxas 13.0 loads float4 with FMAS of 4 and more and float with 16 and more into uniform
// registers (ULDC), through the small caches that this is about, else with LDC.
#include "harness.cuh"

__constant__ float4 table[4096];

// use adds what is loaded to sums.
__device__ inline void use(float v, float *a) { a[0] += v; }
__device__ inline void use(float4 v, float *a) { a[0] += v.x, a[1] += v.y, a[2] += v.z, a[3] += v.w; }

// walk has each warp load so many elements in a row, passes times, from a place that is
// its CTA's: the n-th CTA of an SM begins n times apart elements into the table. FMAS
// products and sums follow each.
template <class T, int FMAS> __global__ void walk(int apart, int passes, int loads, Span *out, float *sink) {
  int from = blockIdx.y * apart, at = blockIdx.y * gridDim.x + blockIdx.x;
  float a[4] = {1, 2, 3, 4};
  long long start = clock64();
  for (int p = 0; p < passes; p++)
#pragma unroll 4
    for (int i = 0; i < loads; i++) {
      use(reinterpret_cast<const T *>(table)[from + i], a);
#pragma unroll
      for (int k = 0; k < FMAS; k++) a[k % 4] = fmaf(a[k % 4], a[(k + 1) % 4], a[(k + 2) % 4]);
    }
  long long stop = clock64();
  if (threadIdx.x == 0) out[at] = Span{0, stop - start};
  if (a[0] + a[1] + a[2] + a[3] == 12345.f) *sink = 1;
}

static Params where(int bytes, int fmas, int warps, int ctas) {
  return Params()("bytes", bytes)("fmas", fmas)("warps", warps)("ctas", ctas);
}

// each is what a load takes of the SM, by the median CTA of a grid.
static double each(Buffer<Span> &span, int grid, double loads) {
  std::vector<double> v;
  for (auto &s : span.get(grid)) v.push_back(double(s.stop));
  return median(v) / loads;
}

// places: all CTAs of an SM walk 8 KB of the table again and again, each its own as far as
// 64 KB go or all the same.
template <class T, int FMAS> void places(Device &dev, Buffer<Span> &span, float *sink) {
  const int region = 8192 / sizeof(T), passes = 16;
  for (int warps : {1, 2, 4, 8, 16})
    for (int ctas : {1, 2, 4, 8, 12, 16, 20, 24, 32}) {
      if (ctas * warps > 64) continue;
      for (int apart : {0, int((65536 - 8192) / sizeof(T)) / ctas}) {
        walk<T, FMAS><<<dim3(dev.sms(), ctas), warps * 32>>>(apart, passes, region, span.p, sink);
        CHECK(cudaGetLastError());
        emit("constants.places", where(sizeof(T), FMAS, warps, ctas)("apart", apart * (int)sizeof(T)),
             each(span, dev.sms() * ctas, double(region) * passes * ctas * warps), "cycles of the SM a load");
      }
    }
}

// waves: launches of so many waves of CTAs, each of which walks a table from its beginning
// to its end, as kernels do; the grid is whole waves.
template <class T, int FMAS> void waves(Device &dev, Buffer<Span> &span, float *sink) {
  for (int loads : {256, 2048})
    for (int warps : {1, 2, 4, 8, 16})
      for (int waves : {1, 4, 16}) {
        int ctas = std::min(32, 64 / warps);
        double us = microseconds([&] { walk<T, FMAS><<<dim3(dev.sms(), ctas * waves), warps * 32>>>(0, 1, loads, span.p, sink); }, 1, 3);
        emit("constants.waves", where(sizeof(T), FMAS, warps, ctas)("loads", loads)("waves", waves), us * 1e3 / (double(loads) * ctas * warps * waves), "ns of the SM a load");
      }
}

template <class T> void all(Device &dev, Buffer<Span> &span, float *sink) {
  places<T, 0>(dev, span, sink);
  places<T, 16>(dev, span, sink);
  waves<T, 4>(dev, span, sink);
  waves<T, 16>(dev, span, sink);
  waves<T, 64>(dev, span, sink);
}

// apart: each lane of a warp reads a word of its own, so many bytes from the next one's, of a table of so
// many bytes, and goes on by as much as the warp reads; warps and SMs begin elsewhere.
__global__ void lanes(unsigned *sink, int reading, int words, int stride, long long *took) {
  const unsigned *t = reinterpret_cast<const unsigned *>(table);
  unsigned at = (threadIdx.x % 32 % reading + threadIdx.x / 32 * 97 + blockIdx.x * 41) * stride % words, s = 0;
  __syncthreads();
  long long start = clock64();
  for (int i = 0; i < 64; i++) {
    unsigned v = t[at];
    s += v, at = (at + stride * reading + v) % words;
  }
  __syncthreads();
  if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
  if (s == 12345) *sink = 1;
}

void apart(Device &dev, unsigned *sink) {
  Buffer<long long> took(dev.sms());
  for (int sms : {1, dev.sms()})
    for (int warps : {1, 32})
      for (int stride : {4, 16, 64, 128})
        for (int size = 1024; size <= 65536; size *= 2)
          for (int reading : {1, 2, 4, 8, 16, 32}) {
            for (int i = 0; i < 2; i++) lanes<<<sms, 32 * warps>>>(sink, reading, size / 4, stride / 4, took.p);
            CHECK(cudaGetLastError());
            std::vector<double> v;
            for (long long t : took.get(sms)) v.push_back(t / (64.0 * warps));
            emit("constants.apart", Params()("stride", stride)("table", size)("lanes", reading)("warps", warps)("sms", sms), median(v), "cycles of the SM a load");
          }
}

// drawn: each lane of a warp reads at a place drawn at random of a table of so many bytes, BYTES at a time, and then where
// what it read says, too.
template <class T> __global__ void draws(unsigned *sink, unsigned size, long long *took) {
  const T *t = reinterpret_cast<const T *>(table);
  unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345u, s = 0;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < 64; i++) {
    r = r * 1664525u + 1013904223u + s;
    s += t[(r >> 8) & (size - 1)];
  }
  __syncthreads();
  if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
  if (s == 12345) *sink = 1;
}

template <class T> void drawn(Device &dev, unsigned *sink) {
  Buffer<long long> took(dev.sms());
  for (int sms : {1, dev.sms()})
    for (int warps : {1, 8, 32})
      for (int size = 512; size <= 65536; size *= 2) {
        for (int i = 0; i < 2; i++) draws<T><<<sms, 32 * warps>>>(sink, size / sizeof(T), took.p);
        CHECK(cudaGetLastError());
        std::vector<double> v;
        for (long long t : took.get(sms)) v.push_back(t / (64.0 * warps));
        emit("constants.drawn", Params()("bytes", (int)sizeof(T))("table", size)("warps", warps)("sms", sms), median(v), "cycles of the SM a load");
      }
}

int main(int argc, char **argv) {
  Device dev;
  Buffer<Span> span(dev.sms() * 32 * 16);
  Buffer<unsigned> word(1);
  apart(dev, word.p);
  drawn<unsigned char>(dev, word.p);
  drawn<unsigned>(dev, word.p);
  if (argc > 1) return 0; // apart alone
  Buffer<float> sink(1);
  all<float>(dev, span, sink.p);
  all<float4>(dev, span, sink.p);
}
