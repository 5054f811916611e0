// rows.cu - DRAM by how much of what is opened is used: pieces of 32 bytes to 8 KiB
// at random places, and one granule of every so many bytes in order; read, written
// and copied. Large and small spans tell rows from address translation.
#include "harness.cuh"

static const size_t MiB = 1 << 20;

// a permutation of 0…2^bits-1 (an odd multiplier and folds), so that no piece is touched twice
__device__ inline size_t scattered(size_t i, int bits) {
  const size_t mask = (size_t(1) << bits) - 1;
  for (int k = 0; k < 3; k++) {
    i = (i * 0x9e3779b97f4a7c15ull) & mask;
    i ^= i >> (bits / 2);
  }
  return i & mask;
}

// Every group of piece/16 lanes (1 at 16 bytes a lane up to 32) takes a piece;
// larger pieces take several turns of a warp in a row. words is the 16-byte words of a piece.
template <int MODE> __global__ void __launch_bounds__(256) pieces(const uint4 *p, uint4 *q, int bits, int words, size_t count, unsigned *sink) {
  unsigned s = 0;
  size_t lane = threadIdx.x % 32, warp = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / 32, warps = size_t(gridDim.x) * blockDim.x / 32;
  size_t perWarp = words < 32 ? 32 / words : 1, turns = words < 32 ? 1 : words / 32;
  for (size_t i = warp * perWarp; i < count; i += warps * perWarp * 4) {
    uint4 v[4];
    for (size_t t = 0; t < turns; t++) {
      size_t at[4];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        size_t piece = i + k * warps * perWarp + (words < 32 ? lane / words : 0);
        at[k] = piece < count ? scattered(piece, bits) * words + (words < 32 ? lane % words : t * 32 + lane) : ~size_t(0);
      }
#pragma unroll
      for (int k = 0; k < 4; k++) {
        v[k] = make_uint4(1, 2, 3, unsigned(i));
        if (MODE != 1 && at[k] != ~size_t(0))
          asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w) : "l"(p + at[k]));
      }
#pragma unroll
      for (int k = 0; k < 4; k++) {
        if (MODE != 0 && at[k] != ~size_t(0))
          asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(q + at[k]), "r"(v[k].x), "r"(v[k].y), "r"(v[k].z), "r"(v[k].w) : "memory");
        s += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
      }
    }
  }
  if (s == 0x12345678) sink[0] = s;
}

// one granule (a 4-byte word of it) of every stride bytes, in order, by short CTAs
template <int MODE> __global__ void strided(const unsigned *p, unsigned *q, size_t stride, unsigned *sink) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  unsigned v = unsigned(i);
  if (MODE != 1) v = p[i * stride / 4];
  if (MODE == 1) q[i * stride / 4] = v;
  if (MODE == 2) q[i] = v; // gathered into a dense stream
  if (MODE == 0 && v == 0x12345678) sink[0] = v;
}

// A CTA takes chunk bytes of each of 64 rows of a matrix, a word a thread and turn; its neighbours in the row take
// the bytes beside them, at about the same time.
template <int MODE> __global__ void __launch_bounds__(256) tiles(const unsigned *p, unsigned *q, size_t pitch, int words, unsigned *sink) {
  unsigned s = 0, across = threadIdx.x % words, down = threadIdx.x / words, step = 256 / words;
  size_t at = (blockIdx.y * size_t(64) + down) * pitch + blockIdx.x * size_t(words) + across;
#pragma unroll 4
  for (unsigned r = down; r < 64; r += step, at += step * pitch) {
    if (MODE != 1) s += p[at];
    if (MODE == 1) q[at] = r;
    if (MODE == 2) q[at] = s;
  }
  if (s == 0x12345678) sink[0] = s;
}

template <int MODE> void run(Device &dev, uint4 *p, uint4 *q, unsigned *sink) {
  const char *modes[] = {"read", "write", "copy"};
  for (size_t span : {512 * MiB, 4096 * MiB})
    for (int words = 2; words <= 512; words *= 2) {
      int bits = 0;
      while ((size_t(16) * words << (bits + 1)) <= span) bits++;
      // as many pieces as make 512 MiB of 64-byte granules, or all there are
      size_t count = std::min(size_t(1) << bits, 512 * MiB / (16 * size_t(std::max(words, 4))));
      double us = microseconds([&] { pieces<MODE><<<dev.sms() * 8, 256>>>(p, q, bits, words, count, sink); }, 1, 3);
      emit("rows.pieces", Params()("mode", modes[MODE])("piece", words * 16)("span", double(span)), count * words * 16. * (MODE == 2 ? 2 : 1) / us * 1e-3, "GB/s");
    }
  for (size_t pitch : {4096, 32768, 33280})
    for (int words = 16; words <= 256; words *= 2) { // of a GiB
      size_t rows = (size_t(1) << 30) / pitch / 64 * 64, across = pitch / 4 / words;
      double us = microseconds([&] { tiles<MODE><<<dim3(unsigned(across), unsigned(rows / 64)), 256>>>((const unsigned *)p, (unsigned *)q, pitch / 4, words, sink); }, 1, 5);
      emit("rows.tiles", Params()("mode", modes[MODE])("chunk", words * 4)("pitch", double(pitch)), across * words * 4. * rows * (MODE == 2 ? 2 : 1) / us * 1e-3, "GB/s");
    }
  for (size_t stride : {32, 64, 128, 256, 512, 1024}) {
    size_t n = std::min(4096 * MiB / stride, size_t(16) << 20); // many times L2, at a granule each
    double us = microseconds([&] { strided<MODE><<<unsigned(n / 256), 256>>>((const unsigned *)p, (unsigned *)q, stride, sink); }, 1, 3);
    emit("rows.stride", Params()("mode", MODE == 2 ? "gather" : modes[MODE])("stride", double(stride))("elements", double(n)), n / us * 1e-3, "G elements/s");
  }
}

int main() {
  Device dev;
  Buffer<uint4> p(4096 * MiB / 16), q(4096 * MiB / 16);
  Buffer<unsigned> sink(16);
  run<0>(dev, p.p, q.p, sink.p);
  run<1>(dev, p.p, q.p, sink.p);
  run<2>(dev, p.p, q.p, sink.p);
}
