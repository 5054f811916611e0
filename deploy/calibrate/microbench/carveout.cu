// carveout.cu - launches kernels over threads, registers, shared memory and
// preferred carve-out. It prints what the occupancy query answers; under
// "ncu --metrics launch__shared_mem_config_size" (see run.sh) the profiler's log
// says, launch by launch in the same order, which carve-out the driver picked.
#include "harness.cuh"

// R values live across a barrier: about R + 8 registers a thread
template <int R> __global__ void load(unsigned *p) {
  extern __shared__ unsigned s[];
  unsigned v[R];
#pragma unroll
  for (int i = 0; i < R; i++) v[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < R; i++) p[i * 1024 + threadIdx.x] = v[i] * v[(i + 7) % R];
}

static int launched = 0;

template <int R> void one(Device &dev, unsigned *p, int threads, int shared, int percent) {
  auto kernel = load<R>;
  cudaFuncAttributes at;
  CHECK(cudaFuncGetAttributes(&at, kernel));
  if (shared > 48 << 10)
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dev.prop.sharedMemPerBlockOptin));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
  int ctas = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, shared));
  if (ctas == 0) return;
  kernel<<<1, threads, shared>>>(p);
  CHECK(cudaGetLastError());
  emit("carveout.occupancy", Params()("launch", launched++)("threads", threads)("registers", at.numRegs)("shared", shared)("percent", percent), ctas, "CTAs/SM");
}

template <int R> void sweep(Device &dev, unsigned *p) {
  for (int threads : {32, 64, 128, 192, 256, 384, 512, 768, 1024})
    for (int shared : {0, 128, 512, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192, 10240, 12288, 16384, 20480, 24576, 32768, 40960, 49152, 65536, 98304, 131072, 196608})
      one<R>(dev, p, threads, shared, -1);
  for (int percent : {0, 10, 25, 50, 75, 100})
    for (int threads : {32, 128, 256, 512, 1024})
      for (int shared : {0, 1024, 4096, 16384, 32768}) one<R>(dev, p, threads, shared, percent);
}

// fine steps, to find the rule: carveout fine
template <int R> void fine(Device &dev, unsigned *p, std::initializer_list<int> threads) {
  for (int t : threads) {
    for (int shared = 0; shared <= 4096; shared += 128) one<R>(dev, p, t, shared, -1);
    for (int shared = 4608; shared <= 40960; shared += 512) one<R>(dev, p, t, shared, -1);
  }
}

int main(int argc, char **) {
  Device dev;
  Buffer<unsigned> p(1 << 20);
  if (argc > 1) {
    fine<8>(dev, p.p, {32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024});
    fine<48>(dev, p.p, {64, 128, 256, 512, 768});
    fine<100>(dev, p.p, {64, 128, 256, 512});
    return 0;
  }
  sweep<8>(dev, p.p);
  sweep<24>(dev, p.p);
  sweep<48>(dev, p.p);
  sweep<100>(dev, p.p);
  CHECK(cudaDeviceSynchronize());
}
