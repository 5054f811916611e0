// releases.cu - arrivals at an mbarrier that release at the scope of the cluster, which ptxas makes a fence of the device of, beside what
// else the SM has on its way: bulk copies, loads of other warps. sm_90a.
#include "warpgroup.cuh"

struct Beside {
  int depth, bytes; // bulk copies in flight and the bytes of one
  int loaders;      // warps that read L2, 16 bytes a lane, four loads under way each
  int wrap;         // bytes that a CTA copies or reads again and again
};

// Warps 0 to releasing-1 release; the next one copies; the others read. All but the first end when those are done.
__global__ void releases(const char *from, Beside b, int releasing, int turns, bool fence, Span *span, long long *copied, unsigned *sink) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ __align__(8) unsigned long long own, bars[16];
  __shared__ volatile int left;
  int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&own), 1 << 19);
    for (int i = 0; i < 16; i++) barrierInit(sharedAddress(bars + i), 1);
    barrierInitDone();
    left = releasing;
  }
  __syncthreads();
  from += (long long)blockIdx.x * b.wrap;
  if (warp < releasing) {
    uint32_t bar = sharedAddress(&own);
    for (int i = 0; i < 20; i++) __nanosleep(1000); // what is beside is under way
    long long begin = clock64();
    if (threadIdx.x % 32 == 0)
      for (int i = 0; i < turns; i++) {
        if (fence) __threadfence();
        else barrierArriveRemote(bar);
      }
    __syncwarp();
    if (warp == 0 && threadIdx.x == 0) span[blockIdx.x] = Span{begin, clock64()};
    if (threadIdx.x % 32 == 0) atomicSub((int *)&left, 1);
  } else if (warp == releasing) {
    if (threadIdx.x % 32 == 0 && b.depth > 0) {
      uint32_t bar0 = sharedAddress(bars), base = sharedAddress(tile), at = 0, parity = 0;
      int n = 0, copies = b.wrap / b.bytes;
      long long i = 0, begin = clock64();
      for (; left > 0 || i % b.depth; i++) {
        uint32_t bar = bar0 + 8 * at;
        if (i >= b.depth) barrierWait(bar, parity ^ 1);
        barrierExpect(bar, b.bytes);
        bulkLoad(base + at * b.bytes, from + (long long)n * b.bytes, b.bytes, bar);
        if (++n == copies) n = 0;
        if (++at == b.depth) at = 0, parity ^= 1;
      }
      copied[blockIdx.x] = i * b.bytes * 1000 / (clock64() - begin);
      for (int k = 0; k < b.depth; k++) barrierWait(bar0 + 8 * k, parity ^ 1);
    }
  } else {
    uint4 sum = {};
    int n = (warp - releasing - 1) * 512 * 4, step = b.loaders * 512 * 4;
    while (left > 0) {
      for (int k = 0; k < 4; k++) {
        uint4 v;
        asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from + (n + k * 512) % b.wrap + threadIdx.x % 32 * 16));
        sum.x ^= v.x ^ v.y ^ v.z ^ v.w;
      }
      n = (n + step) % b.wrap;
    }
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum.x;
  }
}

int main() {
  Device dev;
  Buffer<char> memory(size_t(64) << 20);
  Buffer<Span> span(1024);
  Buffer<long long> copied(1024);
  Buffer<unsigned> sink(1 << 20);
  const int turns = 64;
  auto one = [&](const char *name, Beside b, int releasing, int ctas, bool fence) {
    int threads = 32 * (releasing + 1 + b.loaders), shared = std::max(b.depth * b.bytes, 1);
    b.wrap = 131072; // of all CTAs in L2
    CHECK(cudaFuncSetAttribute(releases, cudaFuncAttributeMaxDynamicSharedMemorySize, shared + 1024));
    for (int i = 0; i < 2; i++) releases<<<ctas, threads, shared + 1024>>>(memory.p, b, releasing, turns, fence, span.p, copied.p, sink.p);
    CHECK(cudaDeviceSynchronize());
    double sum = 0, rate = 0;
    auto c = copied.get(ctas);
    int n = 0;
    for (auto &s : span.get(ctas)) sum += double(s.stop - s.start), rate += b.depth ? double(c[n++]) / 1000 : 0;
    emit(name, Params()("depth", b.depth)("bytes", b.bytes)("loaders", b.loaders)("warps", releasing)("ctas", ctas)("fence", fence ? 1 : 0), sum / ctas / turns, "cycles");
    if (b.depth) emit("release.copied", Params()("depth", b.depth)("bytes", b.bytes)("loaders", b.loaders)("warps", releasing)("ctas", ctas)("fence", fence ? 1 : 0), rate / ctas, "bytes/cycle/SM");
  };
  for (int ctas : {1, dev.sms()}) {
    for (bool fence : {false, true})
      for (int warps : {1, 4, 8}) one("release.beside", {0, 8192, 0}, warps, ctas, fence);
    for (int depth : {1, 2, 4, 8})
      for (int bytes : {4096, 16384}) one("release.beside", {depth, bytes, 0}, 1, ctas, false);
    for (int warps : {4, 8}) one("release.beside", {8, 16384, 0}, warps, ctas, false);
    one("release.beside", {8, 16384, 0}, 1, ctas, true);
    for (int loaders : {1, 4, 8}) one("release.beside", {0, 8192, loaders}, 1, ctas, false);
  }
}
