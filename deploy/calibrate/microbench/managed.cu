// managed.cu - managed memory: what first touches on the GPU cost by page and by bytes, from the host and of pages that
// nobody has, with and without a prefetch, and the way back.
#include "harness.cuh"
#include <chrono>
#include <cstring>

__global__ void sum(const float *p, size_t n, float *sink) {
  float s = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) s += p[i];
  if (s == 12345.f) sink[0] = s;
}

__global__ void fill(float *p, size_t n, float v) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) p[i] = v;
}

// one thread touches one word of each page, one after another
__global__ void touch(const char *p, size_t stride, int n, int *sink) {
  int s = 0;
  for (int i = 0; i < n; i++) s += *(volatile const int *)(p + i * stride + (s & 0));
  sink[0] = s;
}

static double milli() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static void prefetch(void *p, size_t bytes, bool toDevice) {
#if CUDART_VERSION >= 13000
  cudaMemLocation where = {toDevice ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost, 0};
  CHECK(cudaMemPrefetchAsync(p, bytes, where, 0, 0));
#else
  CHECK(cudaMemPrefetchAsync(p, bytes, toDevice ? 0 : cudaCpuDeviceId, 0));
#endif
}

template <class F> double once(F f) {
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(a));
  f();
  CHECK(cudaEventRecord(b));
  CHECK(cudaEventSynchronize(b));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, a, b));
  CHECK(cudaGetLastError());
  return ms * 1e3;
}

int main() {
  Device d;
  Buffer<float> sink(64);
  int grid = d.sms() * 8;
  emit("managed.access", Params()("attribute", "pageable"), d.prop.pageableMemoryAccess, "flag");
  emit("managed.access", Params()("attribute", "concurrent"), d.prop.concurrentManagedAccess, "flag");
  sum<<<grid, 256>>>(sink.p, 64, sink.p);
  for (size_t mib : {2, 16, 64, 256, 1024})
    for (int rep = 0; rep < 2; rep++) {
      size_t n = mib << 18;
      float *p;
      CHECK(cudaMallocManaged(&p, n * 4));
      auto on = [&](const char *what, double us) { emit("managed.launch", Params()("what", what)("mib", double(mib))("rep", rep), us, "us"); };
      on("nobody's, written", once([&] { fill<<<grid, 256>>>(p, n, 1); }));
      on("there, written", once([&] { fill<<<grid, 256>>>(p, n, 2); }));
      on("there, read", once([&] { sum<<<grid, 256>>>(p, n, sink.p); }));
      double t = milli();
      memset(p, 0, n * 4);
      on("written by the host, from the GPU", (milli() - t) * 1e3);
      t = milli();
      memset(p, 0, n * 4);
      on("written by the host, there", (milli() - t) * 1e3);
      on("the host's, read", once([&] { sum<<<grid, 256>>>(p, n, sink.p); }));
      memset(p, 0, n * 4);
      on("the host's, written", once([&] { fill<<<grid, 256>>>(p, n, 3); }));
      memset(p, 0, n * 4);
      on("prefetch to the GPU", once([&] { prefetch(p, n * 4, true); }));
      on("prefetched, read", once([&] { sum<<<grid, 256>>>(p, n, sink.p); }));
      on("prefetch to the host", once([&] { prefetch(p, n * 4, false); }));
      CHECK(cudaFree(p));
    }
  for (size_t kib : {4, 64, 256, 2048})
    for (int n : {1, 2, 8, 32}) {
      char *p;
      size_t bytes = kib * 1024 * 64 + (4 << 20);
      CHECK(cudaMallocManaged(&p, bytes));
      memset(p, 0, bytes);
      double us = once([&] { touch<<<1, 1>>>(p, kib * 1024, n, (int *)sink.p); });
      double warm = once([&] { touch<<<1, 1>>>(p, kib * 1024, n, (int *)sink.p); });
      emit("managed.touch", Params()("kib", double(kib))("pages", n)("state", "the host's"), us, "us");
      emit("managed.touch", Params()("kib", double(kib))("pages", n)("state", "there"), warm, "us");
      CHECK(cudaFree(p));
    }
}
