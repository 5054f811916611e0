// stores.cu - what stores of parts of sectors cost beyond L1, and which of them are taken
// there together: each lane stores words in a row, one an instruction, and lanes begin so
// many words apart.
#include "harness.cuh"

// A warp goes on to places of its own; where lanes are more than a line apart, eight warps
// share lines, as those of a transposition do.
__global__ void partial(unsigned *p, unsigned words, unsigned apart, int each, int rounds) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; r++) {
    unsigned place = warp + r * warps, within = apart > 32 ? apart / 8 : 1;
    unsigned from = (place % within * 8 + place / within * 32 * apart) % words + lane * apart;
#pragma unroll 1
    for (int k = 0; k < each; k++) p[(from + k) % words] = k;
  }
}

// Every thread stores a structure of so many words, one after another, and is done.
template <int WORDS> __global__ void structs(float *p, int n, float x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < WORDS; k++) p[i * WORDS + k] = x + k;
}

template <int WORDS> void storeStructs(float *p) {
  const int n = 60000000 / WORDS;
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    double us = microseconds([&] { structs<WORDS><<<(n + threads - 1) / threads, threads>>>(p, n, 1.f); }, 5, 7);
    emit("stores.structs", Params()("words", WORDS)("threads", threads), us, "us for 240 MB");
  }
}

// A lane stores to a sector, WORDS words of its eight; lanes store to sectors so many words apart, up and
// down an array that is larger than L2, and then to the next sectors. One that was written in part
// must be read before it is written back.
template <int WORDS> __global__ void spilled(unsigned *p, unsigned words, unsigned apart, unsigned sectors) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, places = words / apart;
  if (i >= sectors) return;
  unsigned *q = p + size_t(i % places) * apart + i / places * 8 % apart;
  if (WORDS == 8) {
    *(uint4 *)q = make_uint4(i, i, i, i), *(uint4 *)(q + 4) = make_uint4(i, i, i, i);
  } else if (WORDS == 4) {
    *(uint4 *)q = make_uint4(i, i, i, i);
  } else {
    *q = i;
  }
}

template <int WORDS> void spill(unsigned *p, unsigned words) {
  const unsigned sectors = 32 << 20;
  for (unsigned apart : {8, 16, 32, 64, 128, 256, 1024, 4096}) {
    double us = microseconds([&] { spilled<WORDS><<<sectors / 256, 256>>>(p, words, apart, sectors); }, 2, 5);
    emit("stores.spilled", Params()("words", WORDS)("apart", apart), us * 1e6 / sectors, "ps a sector");
  }
}

int main() {
  Device dev;
  const unsigned words = 4 << 20; // 16 MiB, which L2 holds
  Buffer<unsigned> p(words);
  for (int warps : {8, 32})
    for (int apart : {1, 2, 4, 8, 16, 32, 64, 128, 1024, 8192})
      for (int each : {1, 2, 4, 8}) {
        if (each > apart) continue;
        int rounds = 512 / each;
        double us = microseconds([&] { partial<<<dev.sms() * warps / 8, 256>>>(p.p, words, apart, each, rounds); }, 2, 5);
        emit("stores.partial", Params()("warps", warps)("apart", apart)("each", each), us * 1e3 / (double(rounds) * each * warps), "ns of the SM a store");
      }
  Buffer<float> q(60000000);
  storeStructs<1>(q.p), storeStructs<2>(q.p), storeStructs<3>(q.p), storeStructs<4>(q.p), storeStructs<6>(q.p);
  storeStructs<8>(q.p), storeStructs<12>(q.p), storeStructs<18>(q.p), storeStructs<32>(q.p);
  Buffer<unsigned> r(256 << 20); // 1 GiB
  spill<1>(r.p, 256 << 20), spill<4>(r.p, 256 << 20), spill<8>(r.p, 256 << 20);
}
