// inplace.cu - rows that threads update one after another, in place or into another
// buffer, by whether rows begin with a line; and what it costs others that two warps
// load and store different parts of the same lines, so many cycles apart.
#include "harness.cuh"

// Every thread takes ROWS rows below each other: it loads a word, stores it to, and goes on.
template <int ROWS> __global__ void __launch_bounds__(256) rows(float *from, float *to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS, off = 0;
  if (x >= width) return;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (y + r >= height) return;
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(from + size_t(y + r) * width + x + off) : "memory");
    if (v > 1e30f) off = 1; // the next row waits for this one
    asm volatile("st.global.f32 [%0], %1;" ::"l"(to + size_t(y + r) * width + x), "f"(v + 1e-9f) : "memory");
  }
}

template <int ROWS> void run(Buffer<float> &a, Buffer<float> &b) {
  const int height = 4096;
  for (int width : {6000, 6008, 6016, 6024, 6144})
    for (int bx : {64, 256})
      for (bool same : {false, true}) {
        dim3 block(bx, 256 / bx), grid((width + bx - 1) / bx, (height + block.y * ROWS - 1) / (block.y * ROWS));
        double us = microseconds([&] { rows<ROWS><<<grid, block>>>(a.p, same ? a.p : b.p, width, height); }, 5, 7);
        emit("inplace.rows", Params()("to", same ? "the same" : "another")("width", width)("rows", ROWS)("bx", bx), 8.0 * width * height / us * 1e-3, "GB/s");
      }
}

// Of every two CTAs one has pairs of warps that load and store the halves of a line, the
// second of a pair so many cycles after the first; the other copies whole lines.
__global__ void pairs(float *shared, float *own, unsigned lines, int apart, long long *took) {
  const int lane = threadIdx.x % 32, role = threadIdx.x / 32 % 2;
  const bool other = blockIdx.x & 1;
  long long start = clock64();
  for (unsigned i = blockIdx.x / 2 * (blockDim.x / 64) + threadIdx.x / 64; i < lines; i += gridDim.x / 2 * (blockDim.x / 64)) {
    float *line = (other ? own + size_t(i) * 64 + role * 32 : shared + size_t(i) * 32) + lane;
    if (!other) {
      __syncthreads();
      for (long long t = clock64(); role && clock64() - t < apart;) {}
    }
    if (!other && lane / 16 != role) continue;
    float v;
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(line) : "memory");
    if (v > 1e30f) line++;
    asm volatile("st.global.f32 [%0], %1;" ::"l"(line), "f"(v + 1) : "memory");
  }
  if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
}

int main() {
  Device dev;
  Buffer<float> a(size_t(6144) * 4096), b(size_t(6144) * 4096);
  run<1>(a, b), run<2>(a, b), run<4>(a, b), run<8>(a, b);
  const unsigned ctas = dev.sms() * 16, lines = 192 << 13, turns = lines / ctas; // 128 threads: two pairs each
  Buffer<float> shared(size_t(lines) * 32), own(size_t(lines) * 64);
  Buffer<long long> took(ctas);
  std::vector<long long> t(ctas);
  for (int apart : {0, 200, 400, 600, 800, 1000, 1200, 1400, 1700, 2000, 3000}) {
    for (int i = 0; i < 2; i++) pairs<<<ctas, 128>>>(shared.p, own.p, lines, apart, took.p);
    CHECK(cudaMemcpy(t.data(), took.p, ctas * sizeof t[0], cudaMemcpyDeviceToHost));
    double of[2] = {};
    for (unsigned i = 0; i < ctas; i++) of[i & 1] += double(t[i]) / (ctas / 2) / turns;
    emit("inplace.pairs", Params()("apart", apart)("of", "pairs"), of[0], "cycles/turn");
    emit("inplace.pairs", Params()("apart", apart)("of", "others"), of[1], "cycles/turn");
  }
}
