// streamed.cu - how fast CTAs go through rows of DRAM, by what differs between configurations of one kernel: threads, bytes of a
// load, loads a thread, CTAs an SM, a CTA for each row or as many as are resident in a loop, sums by the whole CTA between a row's
// loads and its stores, a chain of multiply-adds there, rows in order or not, buffers read and written (streamed.rows). With few
// bytes under way, also from L2 (streamed.few). With an L1 of two sizes (streamed.steps). Of whole waves of rows (streamed.ends).
#include "harness.cuh"

const size_t BYTES = size_t(1) << 27; // of each buffer

template <int V> struct Words { float w[V]; };
template <> struct alignas(8) Words<2> { float w[2]; };
template <> struct alignas(16) Words<4> { float w[4]; };

// The sum of all threads' v: what each warp has goes through part.
template <int T> __device__ __forceinline__ float sum(float v, float *part) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
#pragma unroll
  for (int i = 0; i < T / 32; i++) v += part[i];
  return v;
}

// Rows of T * V * E words: loads, SUMS sums by the whole CTA, stores. A row's number is multiplied by `in` where it is read and by `out` where it is written.
template <int T, int V, int E, int SUMS, int IN, int OUT>
__global__ void __launch_bounds__(T) rows(const Words<V> *x, const Words<V> *x2, Words<V> *y, Words<V> *y2, int count, int mask, int in, int out, int chain) {
  __shared__ float part[2][2][T / 32];
  int turn = 0;
#pragma unroll 1
  for (int row = blockIdx.x; row < count; row += gridDim.x, turn ^= 1) {
    Words<V> v[E];
    size_t from = size_t(row * in & mask) * (T * E) + threadIdx.x, to = size_t(row * out & mask) * (T * E) + threadIdx.x;
    float all = 0;
#pragma unroll
    for (int e = 0; e < E; e++) {
      if (IN == 0)
        for (int k = 0; k < V; k++) v[e].w[k] = row;
      if (IN > 0) v[e] = x[from + e * T];
      if (IN > 1) {
        Words<V> o = x2[from + e * T];
        for (int k = 0; k < V; k++) v[e].w[k] += o.w[k];
      }
    }
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      float mine = 0;
#pragma unroll
      for (int e = 0; e < E; e++)
        for (int k = 0; k < V; k++) mine += v[e].w[k];
      mine = sum<T>(mine, part[turn][s]);
#pragma unroll
      for (int e = 0; e < E; e++)
        for (int k = 0; k < V; k++) v[e].w[k] -= mine;
    }
    if (SUMS == 2) {
      float last = v[0].w[0];
#pragma unroll 1
      for (int i = 0; i < chain; i++) {
#pragma unroll
        for (int k = 0; k < 16; k++) last = last * 0.5f + 1.0f;
      }
      v[0].w[0] = last;
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      if (OUT > 0) y[to + e * T] = v[e];
      if (OUT > 1) y2[to + e * T] = v[e];
      if (OUT == 0)
        for (int k = 0; k < V; k++) all += v[e].w[k];
    }
    if (OUT == 0 && all == 12345) y[threadIdx.x] = v[0];
  }
}

struct Buffers {
  Buffer<float> x, x2, y, y2;
  Buffers() : x(BYTES / 4), x2(BYTES / 4), y(BYTES / 4), y2(BYTES / 4) {}
};

// One launch: ctas an SM at most by shared memory, of which as little or as much as does that; rows in order or not; of `span` bytes
// of each buffer, count rows.
template <int T, int V, int E, int SUMS, int IN, int OUT>
void one(const char *what, const Device &dev, Buffers &b, int ctas, bool limit, bool wide, bool loop, int in, int out, size_t span, int count, int chain = 0) {
  auto kernel = rows<T, V, E, SUMS, IN, OUT>;
  int resident, shared = 0, mask = int(span / 4 / (T * V * E)) - 1;
  if (limit && ctas * T < 2048 && ctas < 32) {
    shared = wide ? 227 * 1024 / ctas - 1024 - 4 * T / 8 : 227 * 1024 / (ctas + 1) + 128;
    shared = std::max(shared, 0) / 128 * 128;
  }
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, T, shared));
  if (limit && resident != ctas) return;
  int grid = loop ? ctas * dev.sms() : count;
  using W = Words<V>;
  double us = microseconds([&] { kernel<<<grid, T, shared>>>((const W *)b.x.p, (const W *)b.x2.p, (W *)b.y.p, (W *)b.y2.p, count, mask, in, out, chain); }, 4, 5);
  emit(what, Params()("threads", T)("words", V)("loads", E)("sums", double(SUMS))("in", double(IN))("out", double(OUT))("ctas", ctas)("grid", grid)("loop", loop)("shared", shared)("wide", wide)("in_order", in)("out_order", out)("mask", mask)("count", count)("chain", chain), us, "us");
}

// Few bytes under way: rows of DRAM in order and not, rows of L2.
template <int T, int E, int OUT> void few(const Device &dev, Buffers &b) {
  int count = int(BYTES / 4 / (T * 4 * E));
  for (int ctas : {1, 2, 4}) {
    if (ctas * T > 1024) continue;
    for (bool loop : {false, true}) {
      one<T, 4, E, 0, 1, OUT>("streamed.few", dev, b, ctas, true, false, loop, 1, 1, BYTES, count);
      one<T, 4, E, 0, 1, OUT>("streamed.few", dev, b, ctas, true, false, loop, 1237, 1, BYTES, count);
      one<T, 4, E, 0, 1, OUT>("streamed.few", dev, b, ctas, true, false, loop, 1, 1, size_t(1) << 23, count);
    }
  }
}

// Sums between loads and stores, with an L1 of two sizes.
template <int T, int E, int SUMS> void steps(const Device &dev, Buffers &b) {
  int count = 0;
  for (int ctas : {1, 2, 4}) {
    if (ctas * T > 2048) continue;
    count = int(BYTES / 4 / (T * 4 * E)) / (dev.sms() * ctas) * dev.sms() * ctas;
    for (bool wide : {false, true})
      for (bool loop : {false, true}) one<T, 4, E, SUMS, 1, 1>("streamed.steps", dev, b, ctas, true, wide, loop, 1, 1, BYTES, count);
  }
}

// Whole waves of rows by loops and by CTAs of a row each.
template <int T, int E, int SUMS, int IN, int OUT> void ends(const Device &dev, Buffers &b) {
  for (int ctas : {1, 2, 4, 8, 16, 32}) {
    if (ctas * T > 2048) continue;
    int count = int(BYTES / 4 / (T * 4 * E)) / (dev.sms() * ctas) * dev.sms() * ctas;
    one<T, 4, E, SUMS, IN, OUT>("streamed.ends", dev, b, ctas, false, false, true, 1, 1, BYTES, count);
  }
  one<T, 4, E, SUMS, IN, OUT>("streamed.ends", dev, b, 0, false, false, false, 1, 1, BYTES, int(BYTES / 4 / (T * 4 * E)) / dev.sms() * dev.sms());
}

template <int T, int E> void allEnds(const Device &dev, Buffers &b) {
  ends<T, E, 0, 1, 1>(dev, b);
  ends<T, E, 2, 1, 1>(dev, b);
  ends<T, E, 0, 1, 0>(dev, b);
  ends<T, E, 0, 2, 1>(dev, b);
  ends<T, E, 0, 1, 2>(dev, b);
  ends<T, E, 0, 0, 1>(dev, b);
}

// Every combination of threads, CTAs an SM and loops.
template <int T, int V, int E, int SUMS, int IN, int OUT> void all(const Device &dev, Buffers &b) {
  const int most = std::min(2048 / T, 32), count = int(BYTES / 4 / (T * V * E));
  for (int ctas = std::max(256 / T, 1); ctas <= most; ctas *= 2)
    for (bool loop : {false, true}) one<T, V, E, SUMS, IN, OUT>("streamed.rows", dev, b, ctas, true, true, loop, 1, 1, BYTES, count);
  if (V == 4 && IN == 1 && OUT == 1 && SUMS != 1)
    for (int in : {1, 1237})
      for (int out : {1, 1237}) one<T, V, E, SUMS, IN, OUT>("streamed.rows", dev, b, most, true, true, false, in, out, BYTES, count);
  if (V == 4 && SUMS == 2)
    for (int chain : {4, 16, 64})
      for (bool loop : {false, true}) one<T, V, E, SUMS, IN, OUT>("streamed.rows", dev, b, most, true, true, loop, 1, 1, BYTES, count, chain);
}

template <int V, int E, int SUMS, int IN, int OUT> void sizes(const Device &dev, Buffers &b) {
  all<32, V, E, SUMS, IN, OUT>(dev, b), all<64, V, E, SUMS, IN, OUT>(dev, b), all<128, V, E, SUMS, IN, OUT>(dev, b);
  all<256, V, E, SUMS, IN, OUT>(dev, b), all<512, V, E, SUMS, IN, OUT>(dev, b), all<1024, V, E, SUMS, IN, OUT>(dev, b);
}

template <int SUMS> void loads(const Device &dev, Buffers &b) {
  sizes<4, 1, SUMS, 1, 1>(dev, b), sizes<4, 2, SUMS, 1, 1>(dev, b), sizes<4, 4, SUMS, 1, 1>(dev, b), sizes<4, 8, SUMS, 1, 1>(dev, b);
}

int main() {
  Device dev;
  Buffers b;
  loads<0>(dev, b), loads<1>(dev, b), loads<2>(dev, b);
  sizes<1, 1, 0, 1, 1>(dev, b), sizes<1, 4, 0, 1, 1>(dev, b), sizes<2, 2, 0, 1, 1>(dev, b), sizes<2, 8, 0, 1, 1>(dev, b);
  sizes<1, 4, 2, 1, 1>(dev, b), sizes<2, 8, 2, 1, 1>(dev, b);
  sizes<4, 1, 0, 1, 0>(dev, b), sizes<4, 2, 0, 1, 0>(dev, b), sizes<4, 4, 0, 1, 0>(dev, b), sizes<4, 4, 2, 1, 0>(dev, b), sizes<4, 2, 0, 0, 1>(dev, b);
  sizes<4, 2, 0, 2, 1>(dev, b), sizes<4, 4, 2, 2, 1>(dev, b), sizes<4, 2, 0, 1, 2>(dev, b), sizes<4, 4, 2, 1, 2>(dev, b);
  few<64, 1, 0>(dev, b), few<64, 2, 0>(dev, b), few<64, 4, 0>(dev, b);
  few<128, 1, 0>(dev, b), few<128, 2, 0>(dev, b), few<128, 4, 0>(dev, b);
  few<256, 1, 0>(dev, b), few<256, 2, 0>(dev, b), few<256, 4, 0>(dev, b);
  few<1024, 1, 0>(dev, b), few<1024, 2, 0>(dev, b);
  few<64, 1, 1>(dev, b), few<64, 4, 1>(dev, b), few<128, 1, 1>(dev, b), few<128, 4, 1>(dev, b);
  few<256, 1, 1>(dev, b), few<256, 4, 1>(dev, b), few<1024, 1, 1>(dev, b), few<1024, 2, 1>(dev, b);
  steps<256, 1, 0>(dev, b), steps<256, 1, 1>(dev, b), steps<256, 1, 2>(dev, b);
  steps<256, 4, 0>(dev, b), steps<256, 4, 1>(dev, b), steps<256, 4, 2>(dev, b);
  steps<512, 2, 0>(dev, b), steps<512, 2, 1>(dev, b), steps<512, 2, 2>(dev, b);
  steps<512, 4, 0>(dev, b), steps<512, 4, 1>(dev, b), steps<512, 4, 2>(dev, b);
  steps<1024, 1, 0>(dev, b), steps<1024, 1, 1>(dev, b), steps<1024, 1, 2>(dev, b);
  steps<1024, 2, 0>(dev, b), steps<1024, 2, 1>(dev, b), steps<1024, 2, 2>(dev, b);
  steps<1024, 4, 0>(dev, b), steps<1024, 4, 1>(dev, b), steps<1024, 4, 2>(dev, b);
  allEnds<64, 2>(dev, b), allEnds<128, 2>(dev, b), allEnds<256, 2>(dev, b), allEnds<512, 2>(dev, b), allEnds<1024, 2>(dev, b);
  allEnds<64, 4>(dev, b), allEnds<128, 4>(dev, b), allEnds<256, 4>(dev, b), allEnds<512, 4>(dev, b), allEnds<1024, 4>(dev, b);
}
