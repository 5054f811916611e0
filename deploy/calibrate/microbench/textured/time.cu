// time.cu - times of the kernels beside it, by block; nvcc -std=c++17 -arch=native -I.. time.cu
#include "harness.cuh"
#include <cstring>
#include "bilinear.cu"
#include "stencil.cu"
#include "vecsum.cu"

static cudaTextureObject_t texture(int w, int h, bool filter, cudaArray_t *array) {
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(array, &f, w, h));
  std::vector<float> v(size_t(w) * h);
  for (size_t i = 0; i < v.size(); i++) v[i] = float(i % 1000) / 1000;
  CHECK(cudaMemcpy2DToArray(*array, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = *array;
  cudaTextureDesc s = {};
  s.addressMode[0] = s.addressMode[1] = cudaAddressModeClamp;
  s.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &r, &s, nullptr));
  return t;
}

static void say(const char *kernel, dim3 b, const char *state, double us) {
  emit("kernel.time", Params()("kernel", kernel)("x", b.x)("y", b.y)("state", state), us, "us");
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
  return ms * 1e3;
}

int main() {
  Device d;
  const int w = 4096, h = 4096;
  Buffer<float> out(size_t(w) * h);
  cudaArray_t a, b;
  cudaTextureObject_t small = texture(3072, 3072, true, &a), large = texture(w, h, false, &b);
  for (dim3 k : {dim3(8, 32), dim3(16, 16), dim3(32, 4), dim3(32, 8), dim3(32, 32), dim3(64, 4), dim3(256, 1)}) {
    dim3 g((w + k.x - 1) / k.x, (h + k.y - 1) / k.y);
    say("bilinear", k, "warm", microseconds([&] { bilinear<<<g, k>>>(small, out.p, w, h, 0.75f); }, 10, 7));
    say("stencil", k, "warm", microseconds([&] { stencil<<<g, k>>>(large, out.p, w, h); }, 4, 7));
  }
  const int n = 1 << 24;
  for (int k : {128, 256, 512, 1024}) {
    std::vector<double> cold, warm;
    for (int rep = 0; rep < 3; rep++) {
      float *p[3];
      for (auto &q : p) {
        CHECK(cudaMallocManaged(&q, n * 4ul));
        memset(q, 1, n * 4ul);
      }
      cold.push_back(once([&] { vecsum<<<n / k, k>>>(p[0], p[1], p[2], n); }));
      warm.push_back(microseconds([&] { vecsum<<<n / k, k>>>(p[0], p[1], p[2], n); }, 10, 5));
      for (auto q : p) CHECK(cudaFree(q));
    }
    say("vecsum", dim3(k), "cold", median(cold));
    say("vecsum", dim3(k), "warm", median(warm));
  }
}
