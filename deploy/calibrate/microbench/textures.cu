// textures.cu - the texture unit: how many fetches it serves a cycle by format, filter and the shape of a warp's
// accesses, latency, what arrays' tiles do to L2 and DRAM, and how weights are rounded.
#include "harness.cuh"

enum Shape { Row, Wide, Tile, Column, Strided, Same };
static const char *shapes[] = {"32x1", "16x2", "8x4", "1x32", "strided", "same"};

// where the lanes of a warp are: x and y of texels
__device__ inline void place(int shape, int lane, int &x, int &y) {
  switch (shape) {
  case Row: x = lane, y = 0; break;
  case Wide: x = lane % 16, y = lane / 16; break;
  case Tile: x = lane % 8, y = lane / 8; break;
  case Column: x = 0, y = lane; break;
  case Strided: x = lane * 37 % 64, y = lane * 23 % 64; break;
  default: x = y = 3;
  }
}

enum Op { Fetch1D, Point2D, Linear2D, Linear3D, Gather2D };
static const char *ops[] = {"fetch_1d", "point_2d", "linear_2d", "linear_3d", "gather_2d"};

__device__ inline float sum(float v) { return v; }
__device__ inline float sum(float2 v) { return v.x + v.y; }
__device__ inline float sum(float4 v) { return v.x + v.y + v.z + v.w; }

template <int OP, class T> __device__ inline float get(cudaTextureObject_t t, float x, float y) {
  switch (OP) {
  case Fetch1D: return sum(tex1Dfetch<T>(t, int(x) + 64 * int(y)));
  case Linear3D: return sum(tex3D<T>(t, x, y, 1.25f));
  case Gather2D: return sum(tex2Dgather<float4>(t, x, y, 0));
  default: return sum(tex2D<T>(t, x, y));
  }
}

// eight independent fetches a turn, which step through a small image
template <int OP, class T> __global__ void rate(cudaTextureObject_t t, int shape, int n, Span *out, float *sink) {
  int x, y;
  place(shape, threadIdx.x % 32, x, y);
  float fx = x + 0.75f, fy = y + 0.75f, s[8] = {};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 8; k++) s[k] += get<OP, T>(t, fx + k % 4, fy + k / 4);
  __syncthreads();
  long long start = clock64();
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < 8; k++) s[k] += get<OP, T>(t, fx + k % 4, fy + k / 4);
    fx += s[0] * 0; // zero, but not known to be
  }
  long long stop = clock64();
  record(out, start, stop);
  float all = 0;
  for (int k = 0; k < 8; k++) all += s[k];
  sink[threadIdx.x] = all;
}

// each fetch needs the one before
template <int OP, class T> __global__ void latency(cudaTextureObject_t t, int shape, int n, Span *out, float *sink) {
  int x, y;
  place(shape, threadIdx.x % 32, x, y);
  float fx = x + 0.75f, fy = y + 0.75f;
  for (int i = 0; i < 4; i++) fx += get<OP, T>(t, fx, fy);
  long long start = clock64();
  for (int i = 0; i < n; i++) fx += get<OP, T>(t, fx, fy);
  long long stop = clock64();
  record(out, start, stop);
  sink[threadIdx.x] = fx;
}

__global__ void chase(cudaTextureObject_t t, int warm, int n, Span *out, int *sink) {
  int at = 0;
  for (int i = 0; i < warm; i++) at = tex1Dfetch<int>(t, at);
  long long start = clock64();
  for (int i = 0; i < n; i++) at = tex1Dfetch<int>(t, at);
  long long stop = clock64();
  record(out, start, stop);
  sink[0] = at;
}

__global__ void loads(const float *p, int shape, int n, Span *out, float *sink) {
  int x, y;
  place(shape, threadIdx.x % 32, x, y);
  const float *q = p + y * 64 + x;
  float s[8] = {};
  for (int k = 0; k < 8; k++) s[k] += __ldg(q + k % 4 + k / 4 * 64);
  __syncthreads();
  long long start = clock64();
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < 8; k++) s[k] += __ldg(q + k % 4 + k / 4 * 64);
    q += int(s[0] * 0);
  }
  long long stop = clock64();
  record(out, start, stop);
  float all = 0;
  for (int k = 0; k < 8; k++) all += s[k];
  sink[threadIdx.x] = all;
}

// a fetch a thread all over an image
__global__ void sweep(cudaTextureObject_t t, float *sink) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (tex2D<float>(t, x + 0.5f, y + 0.5f) == 12345.f) sink[0] = 1;
}

__global__ void weights(cudaTextureObject_t t, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; // 2048 positions between two texels
  out[i] = tex1D<float>(t, 0.5f + i / 2048.f);
}

// what fetches give at coordinates inside and outside, all four channels
__global__ void fetches(cudaTextureObject_t t, const float *x, float4 *out) { out[threadIdx.x] = tex1D<float4>(t, x[threadIdx.x]); }
__global__ void fetches2D(cudaTextureObject_t t, const float *x, float4 *out) { out[threadIdx.x] = tex2D<float4>(t, x[threadIdx.x], x[threadIdx.x] * 0.75f); }
__global__ void gathers(cudaTextureObject_t t, const float *x, float4 *out) { out[threadIdx.x] = tex2Dgather<float4>(t, x[threadIdx.x], x[threadIdx.x] * 0.75f, 0); }
__global__ void linears(cudaTextureObject_t t, const float *x, float4 *out) { out[threadIdx.x] = tex1Dfetch<float4>(t, int(threadIdx.x) - 8); }

struct Texture {
  cudaArray_t array = nullptr;
  void *linear = nullptr;
  cudaTextureObject_t t = 0;
  Texture(cudaChannelFormatDesc f, int texel, int w, int h, int d, bool filter, const void *host, bool ofLinear) {
    cudaResourceDesc r = {};
    if (ofLinear) {
      size_t bytes = size_t(texel) * w * h;
      CHECK(cudaMalloc(&linear, bytes));
      CHECK(cudaMemset(linear, 0, bytes));
      if (host) CHECK(cudaMemcpy(linear, host, bytes, cudaMemcpyHostToDevice));
      r.resType = cudaResourceTypeLinear;
      r.res.linear.devPtr = linear, r.res.linear.desc = f, r.res.linear.sizeInBytes = bytes;
    } else {
      CHECK(cudaMalloc3DArray(&array, &f, make_cudaExtent(w, h, d), d == 0 && h > 0 ? cudaArrayTextureGather : 0));
      std::vector<char> zeros(size_t(texel) * w * std::max(h, 1) * std::max(d, 1));
      cudaMemcpy3DParms c = {};
      c.srcPtr = make_cudaPitchedPtr(const_cast<void *>(host ? host : zeros.data()), size_t(texel) * w, w, std::max(h, 1));
      c.dstArray = array, c.extent = make_cudaExtent(w, std::max(h, 1), std::max(d, 1)), c.kind = cudaMemcpyHostToDevice;
      CHECK(cudaMemcpy3D(&c));
      r.resType = cudaResourceTypeArray, r.res.array.array = array;
    }
    cudaTextureDesc s = {};
    s.addressMode[0] = s.addressMode[1] = s.addressMode[2] = cudaAddressModeClamp;
    s.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
    s.readMode = f.f == cudaChannelFormatKindFloat || f.x > 16 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&t, &r, &s, nullptr));
  }
  ~Texture() {
    cudaDestroyTextureObject(t);
    if (array) cudaFreeArray(array);
    if (linear) cudaFree(linear);
  }
};

template <int OP, class T> void measure(const char *format, cudaChannelFormatDesc f, int texel) {
  Buffer<Span> out(32);
  Buffer<float> sink(1024);
  Texture t(f, texel, 72, OP == Fetch1D ? 72 : 72, OP == Linear3D ? 4 : 0, OP == Linear2D || OP == Linear3D, nullptr, OP == Fetch1D);
  for (int shape = Row; shape <= Same; shape++)
    for (int warps : {8, 32}) {
      const int n = 64;
      rate<OP, T><<<1, warps * 32>>>(t.t, shape, n, out.p, sink.p);
      CHECK(cudaDeviceSynchronize());
      emit("texture.rate", Params()("op", ops[OP])("format", format)("shape", shapes[shape])("warps", warps), cycles(out, warps) / (n * 8 * warps), "cycles/request");
    }
  latency<OP, T><<<1, 32>>>(t.t, Tile, 256, out.p, sink.p);
  CHECK(cudaDeviceSynchronize());
  emit("texture.latency", Params()("op", ops[OP])("format", format)("shape", "8x4"), cycles(out, 1) / 256, "cycles");
}

template <int OP> void formats() {
  measure<OP, float>("float", cudaCreateChannelDesc<float>(), 4);
  if (OP == Gather2D) return;
  measure<OP, float2>("float2", cudaCreateChannelDesc<float2>(), 8);
  measure<OP, float4>("float4", cudaCreateChannelDesc<float4>(), 16);
  measure<OP, float4>("uchar4", cudaCreateChannelDesc<uchar4>(), 4);
}

static void show(const char *op, const char *format, int mode, int filter, int normalized, void (*k)(cudaTextureObject_t, const float *, float4 *), cudaTextureObject_t t) {
  std::vector<float> x(32);
  for (int i = 0; i < 32; i++) x[i] = (i * 0.097f - 1.03f) * (normalized ? 1 : 5);
  Buffer<float> at(32);
  Buffer<float4> out(32);
  at.put(x);
  k<<<1, 32>>>(t, at.p, out.p);
  CHECK(cudaDeviceSynchronize());
  auto v = out.get(32);
  for (int i = 0; i < 32; i++) {
    const float c[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
    for (int n = 0; n < 4; n++)
      emit("texture.fetch", Params()("op", op)("format", format)("mode", mode)("filter", filter)("normalized", normalized)("x", x[i])("lane", i)("channel", n), c[n], "value");
  }
}

// values fetches from images of 5 and of 5 by 4 texels, whose numbers are squares
static void values() {
  std::vector<float> f(20);
  std::vector<uchar4> u(20);
  for (int i = 0; i < 20; i++) f[i] = float(i * i + 1), u[i] = make_uchar4(i * 12, 255 - i * 12, i * i / 2, 128);
  for (int two = 0; two < 2; two++)
    for (int bytes = 0; bytes < 2; bytes++) {
      cudaChannelFormatDesc c = bytes ? cudaCreateChannelDesc<uchar4>() : cudaCreateChannelDesc<float>();
      cudaArray_t a;
      CHECK(cudaMallocArray(&a, &c, 5, two ? 4 : 0, two ? cudaArrayTextureGather : 0));
      CHECK(cudaMemcpy2DToArray(a, 0, 0, bytes ? (void *)u.data() : (void *)f.data(), 20, 20, two ? 4 : 1, cudaMemcpyHostToDevice));
      for (int mode = 0; mode < 4; mode++)
        for (int filter = 0; filter < 2; filter++)
          for (int normalized = 0; normalized < 2; normalized++) {
            cudaResourceDesc r = {};
            r.resType = cudaResourceTypeArray, r.res.array.array = a;
            cudaTextureDesc s = {};
            s.addressMode[0] = s.addressMode[1] = cudaTextureAddressMode(mode);
            s.filterMode = cudaTextureFilterMode(filter), s.normalizedCoords = normalized;
            s.readMode = bytes ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
            cudaTextureObject_t t;
            CHECK(cudaCreateTextureObject(&t, &r, &s, nullptr));
            const char *format = bytes ? "uchar4" : "float";
            show(two ? "2d" : "1d", format, mode, filter, normalized, two ? fetches2D : fetches, t);
            if (two && !filter) show("gather", format, mode, filter, normalized, gathers, t);
            CHECK(cudaDestroyTextureObject(t));
          }
      CHECK(cudaFreeArray(a));
    }
  Texture t(cudaCreateChannelDesc<float>(), 4, 20, 1, 0, false, f.data(), true);
  show("fetch", "float", 0, 0, 0, linears, t.t);
}

int main() {
  Device d;
  values();
  formats<Fetch1D>();
  formats<Point2D>();
  formats<Linear2D>();
  formats<Linear3D>();
  formats<Gather2D>();
  Buffer<Span> out(32);
  Buffer<float> sink(1024);
  Buffer<float> image(72 * 72);
  for (int shape = Row; shape <= Same; shape++) {
    loads<<<1, 1024>>>(image.p, shape, 64, out.p, sink.p);
    CHECK(cudaDeviceSynchronize());
    emit("texture.rate", Params()("op", "ldg")("format", "float")("shape", shapes[shape])("warps", 32), cycles(out, 32) / (64 * 8 * 32), "cycles/request");
  }
  for (int kib : {16, 4096, 16384}) { // in L1; in L2
    int n = kib * 256, step = 4099;
    std::vector<int> next(n);
    for (int i = 0; i < n; i++) next[i] = (i + step * 32) % n;
    Texture t(cudaCreateChannelDesc<int>(), 4, n, 1, 0, false, next.data(), true);
    Buffer<int> s(1);
    chase<<<1, 1>>>(t.t, kib == 16 ? 4096 : 0, 2048, out.p, s.p);
    CHECK(cudaDeviceSynchronize());
    chase<<<1, 1>>>(t.t, kib == 16 ? 4096 : 0, 2048, out.p, s.p);
    CHECK(cudaDeviceSynchronize());
    emit("texture.chase", Params()("kib", kib), cycles(out, 1) / 2048, "cycles");
  }
  for (int size : {2048, 8192}) {
    Texture t(cudaCreateChannelDesc<float>(), 4, size, size, 0, false, nullptr, false);
    for (int bx : {8, 16, 32, 64, 256, 1024})
      for (int threads : {256, 1024}) {
        if (bx > threads) continue;
        dim3 b(bx, threads / bx), g(size / b.x, size / b.y);
        double us = microseconds([&] { sweep<<<g, b>>>(t.t, sink.p); }, 4, 5);
        emit("texture.sweep", Params()("size", size)("x", bx)("y", threads / bx), us, "us");
      }
  }
  {
    float two[2] = {0, 1};
    Texture t(cudaCreateChannelDesc<float>(), 4, 2, 0, 0, true, two, false);
    Buffer<float> w(2048);
    weights<<<8, 256>>>(t.t, w.p);
    auto v = w.get(2048);
    int nearest = 0, down = 0, step = 0;
    for (int i = 0; i < 2048; i++) {
      nearest += v[i] == float((i + 4) / 8) / 256;
      down += v[i] == float(i / 8) / 256;
      step += v[i] * 256 == float(int(v[i] * 256));
    }
    emit("texture.weights", Params()("rounding", "nearest"), nearest, "of 2048");
    emit("texture.weights", Params()("rounding", "down"), down, "of 2048");
    emit("texture.weights", Params()("rounding", "steps of 1/256"), step, "of 2048");
    for (int i : {3, 4, 5, 11, 12, 13, 2043, 2044, 2047}) emit("texture.weight", Params()("position", i / 2048.), v[i] * 256, "1/256");
  }
}
