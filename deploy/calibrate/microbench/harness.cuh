// harness.cuh - what every microbenchmark here needs: checked calls, timing by
// device events or by the SM's own clock, and one JSON line per result on stdout:
// {"name": ..., "params": {...}, "value": ..., "unit": ...}.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t e_ = (call);                                                              \
    if (e_ != cudaSuccess) {                                                              \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)

// Params builds the params object: Params()("stride", 4)("op", "ld").
struct Params {
  std::string text;
  Params &add(const char *k, const std::string &v) {
    text += (text.empty() ? "\"" : ", \"") + std::string(k) + "\": " + v;
    return *this;
  }
  Params &operator()(const char *k, double v) {
    char b[40];
    snprintf(b, sizeof b, "%.10g", v);
    return add(k, b);
  }
  Params &operator()(const char *k, const char *v) { return add(k, "\"" + std::string(v) + "\""); }
};

inline void emit(const char *name, const Params &p, double value, const char *unit) {
  printf("{\"name\": \"%s\", \"params\": {%s}, \"value\": %.10g, \"unit\": \"%s\"}\n", name, p.text.c_str(), value, unit);
  fflush(stdout);
}

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// microseconds is the median over reps of the time of one call of f, after one
// call for warm-up; n calls are timed together.
template <class F> double microseconds(F f, int n = 1, int reps = 5) {
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  f();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<double> t;
  for (int r = 0; r < reps; r++) {
    CHECK(cudaEventRecord(a));
    for (int i = 0; i < n; i++) f();
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, a, b));
    t.push_back(ms * 1e3 / n);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(a));
  CHECK(cudaEventDestroy(b));
  return median(t);
}

template <class T> struct Buffer {
  T *p = nullptr;
  size_t n;
  explicit Buffer(size_t n_) : n(n_) {
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    CHECK(cudaMemset(p, 0, n * sizeof(T)));
  }
  ~Buffer() { cudaFree(p); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  void put(const std::vector<T> &v) { CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  std::vector<T> get(size_t count) {
    std::vector<T> v(count);
    CHECK(cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

// Span is what one CTA took on its SM's clock: first start to last end of its
// warps. Warps write it through record(); cycles() reads it back.
struct Span {
  long long start, stop;
};

__device__ inline void record(Span *out, long long start, long long stop) {
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = Span{start, stop};
}

inline double cycles(Buffer<Span> &b, int warps) {
  CHECK(cudaGetLastError());
  auto v = b.get(warps);
  long long lo = v[0].start, hi = v[0].stop;
  for (auto &s : v) lo = std::min(lo, s.start), hi = std::max(hi, s.stop);
  return double(hi - lo);
}

struct Device {
  cudaDeviceProp prop;
  Device() {
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDeviceProperties(&prop, 0));
  }
  int sms() const { return prop.multiProcessorCount; }
};
