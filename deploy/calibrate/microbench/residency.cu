// residency.cu - what a launch leaves in L2 for the next: back-to-back launches
// over the same footprint, each byte touched once a launch, read, written, copied
// or read one granule in two; and the pace at which CTAs of real kernels start.
//
// Under ncu (see run.sh) the DRAM bytes of the last launch of each are recorded too.
#include "harness.cuh"

static const size_t MiB = 1 << 20;

enum Mode { READ, WRITE, COPY, ACCUMULATE, SPARSE, MODES };
static const char *modeName[] = {"read", "write", "copy", "accumulate", "read_half"};

// short CTAs in order, as tuned kernels have them: 4 x 16 bytes a thread
template <int MODE> __global__ void __launch_bounds__(256) once(uint4 *p, size_t n, unsigned *sink) {
  size_t base = blockIdx.x * size_t(1024) + threadIdx.x;
  uint4 v[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    size_t i = base + k * 256;
    v[k] = make_uint4(1, 2, 3, 4);
    if (MODE == SPARSE) v[k].x = ((const unsigned *)(p + i * 8))[0]; // a word of every 128 bytes
    else if (MODE != WRITE) v[k] = p[i];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    size_t i = base + k * 256;
    v[k].x += 1;
    if (MODE == WRITE || MODE == ACCUMULATE) p[i] = v[k];
    if (MODE == COPY) p[n + i] = v[k];
    if ((MODE == READ || MODE == SPARSE) && v[k].x == 0x12345678) sink[0] = v[k].x;
  }
}

template <int MODE> void run(uint4 *p, unsigned *sink, bool profiled) {
  for (int mib = 16; mib <= 128; mib += mib >= 96 ? 16 : profiled ? 8 : 4) {
    size_t bytes = mib * MiB, n = bytes / 16; // distinct bytes of granules touched
    if (MODE == COPY) n /= 2;
    if (MODE == SPARSE) n /= 4; // 64 bytes of every 128
    auto launch = [&] { once<MODE><<<unsigned(n / 1024), 256>>>(p, n, sink); };
    if (profiled) { // three launches a line; the profiler's log has them in this order
      for (int i = 0; i < 3; i++) launch();
      CHECK(cudaDeviceSynchronize());
      emit("residency.profiled", Params()("mode", modeName[MODE])("bytes", double(bytes)), 3, "launches");
      continue;
    }
    emit("residency.launch", Params()("mode", modeName[MODE])("bytes", double(bytes)), microseconds(launch, 200, 3), "us");
  }
}

__global__ void empty(int) {}
__global__ void one(unsigned *p) { p[blockIdx.x * size_t(blockDim.x) + threadIdx.x] = 1; }
__global__ void exits(const unsigned *p, unsigned *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = p[i];
}

// the slope from n to 4n CTAs: what a launch costs once is left out
static void pace(unsigned *p, unsigned *q) {
  auto slope = [&](const char *name, int warps, auto call) {
    const int n = 1 << 18;
    double t1 = microseconds([&] { call(n); }, 20, 5), t4 = microseconds([&] { call(4 * n); }, 20, 5);
    emit("launch.pace", Params()("kernel", name)("warps", warps), (t4 - t1) * 1e3 / (3 * n), "ns/CTA");
  };
  for (int warps : {1, 2, 4, 8, 16, 32}) slope("empty", warps, [&](int n) { empty<<<n, warps * 32>>>(0); });
  for (int warps : {1, 2, 4, 8}) slope("exits", warps, [&](int n) { exits<<<n, warps * 32>>>(p, q, 0); });
  for (int warps : {1, 2}) slope("store", warps, [&](int n) { one<<<n, warps * 32>>>(q); });
}

int main(int argc, char **) {
  Device dev;
  Buffer<uint4> p(256 * MiB / 16);
  Buffer<unsigned> q(64 << 20), sink(16);
  bool profiled = argc > 1;
  run<READ>(p.p, sink.p, profiled);
  run<WRITE>(p.p, sink.p, profiled);
  run<COPY>(p.p, sink.p, profiled);
  run<ACCUMULATE>(p.p, sink.p, profiled);
  run<SPARSE>(p.p, sink.p, profiled);
  if (!profiled) pace((unsigned *)p.p, q.p);
}
