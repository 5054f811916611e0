// clusters.cu - barriers in shared memory (mbarrier), clusters, shared memory of another CTA, setmaxnreg, stmatrix and elect. sm_90a.
#include "warpgroup.cuh"

// Two warps hand a token to and fro over two barriers: half of a turn is from an arrival to the other's going on.
__global__ void pingPong(int turns, int lanes, Span *span) {
  __shared__ __align__(8) unsigned long long bars[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t mine = sharedAddress(bars + warp), other = sharedAddress(bars + (warp ^ 1));
  if (threadIdx.x == 0) barrierInit(mine, lanes), barrierInit(other, lanes), barrierInitDone();
  __syncthreads();
  long long begin = clock64();
  for (int i = 0; i < turns; i++) {
    if (warp == 0) {
      if (lane < lanes) barrierArrive(other);
      barrierWait(mine, i & 1);
    } else {
      barrierWait(mine, i & 1);
      if (lane < lanes) barrierArrive(other);
    }
  }
  record(span, begin, clock64());
}

// The same between CTAs of a cluster, one warp each.
__global__ void remotePingPong(int turns, Span *span) {
  __shared__ __align__(8) unsigned long long bar;
  uint32_t mine = sharedAddress(&bar), rank = clusterRank();
  if (threadIdx.x == 0) barrierInit(mine, 1), barrierInitDone();
  clusterSync();
  uint32_t other = inCta(mine, rank ^ 1);
  long long begin = clock64();
  if (rank < 2)
    for (int i = 0; i < turns; i++) {
      if (rank == 0 && threadIdx.x == 0) barrierArriveRemote(other);
      barrierWait(mine, i & 1);
      if (rank == 1 && threadIdx.x == 0) barrierArriveRemote(other);
    }
  long long end = clock64();
  if (rank == 0) record(span, begin, end);
  clusterSync();
}

// Arrivals one after another, by so many warps; waits for what is done.
template <int WHAT> __global__ void instructions(int turns, Span *span, unsigned *sink) {
  __shared__ __align__(8) unsigned long long bar;
  __shared__ __align__(128) unsigned char rows[32 * 1024];
  uint32_t b = sharedAddress(&bar), at = sharedAddress(rows) + threadIdx.x / 32 * 1024 + threadIdx.x % 32 * 16, x = 0;
  if (threadIdx.x == 0) barrierInit(b, 1 << 19), barrierInitDone();
  __syncthreads();
  long long begin = clock64();
#pragma unroll 8
  for (int i = 0; i < turns; i++) {
    if (WHAT == 0) barrierArrive(b);
    if (WHAT == 1 && threadIdx.x % 32 == 0) barrierArrive(b);
    if (WHAT == 2) x += barrierTry(b, 1);
    if (WHAT == 3) {
      unsigned who;
      asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(who));
      x += who;
    }
    if (WHAT == 4) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(x) : "memory");
    if (WHAT == 5) asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%1};" ::"r"(at), "r"(x) : "memory");
    if (WHAT == 6) asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(x) : "memory");
    if (WHAT == 7) asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(x) : "memory");
    if (WHAT == 8) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (WHAT == 9) asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at + i % 2 * 512), "r"(i) : "memory");
  }
  long long end = clock64();
  sink[threadIdx.x] = x;
  record(span, begin, end);
}

const char *what[] = {"mbarrier.arrive, 32 lanes", "mbarrier.arrive, one lane", "mbarrier.try_wait that is done", "elect.sync", "stmatrix.x1", "stmatrix.x2", "stmatrix.x4", "stmatrix.x4.trans", "fence.proxy.async", "st.shared.v4"};

template <int WHAT> void instruction(Buffer<Span> &span, Buffer<unsigned> &sink) {
  const int turns = 512;
  for (int warps : {1, 2, 4, 8, 16}) {
    for (int i = 0; i < 2; i++) instructions<WHAT><<<1, warps * 32>>>(turns, span.p, sink.p);
    CHECK(cudaDeviceSynchronize());
    emit("hopper.instruction", Params()("op", what[WHAT])("warps", warps), cycles(span, warps) / turns / warps, "cycles/instruction/SM");
  }
}

// Rows of 16 bytes PITCH apart, matrices of a warp one behind the other.
__global__ void matrixStores(int pitch, int turns, Span *span) {
  extern __shared__ __align__(128) unsigned char tile[];
  uint32_t at = sharedAddress(tile) + threadIdx.x % 32 * pitch;
  __syncthreads();
  long long begin = clock64();
#pragma unroll 8
  for (int i = 0; i < turns; i++) asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(pitch) : "memory");
  record(span, begin, clock64());
}

// What is waited for: 0 the cluster's barrier with release and acquire, 4 without; 1 to 3 loads of 4 bytes of another CTA in a chain, of 16 bytes
// by all lanes at a rate, stores of 16 bytes. Eight in a row differ, since ptxas merges equal ones.
template <int WHAT> __global__ void neighbours(int turns, Span *span, unsigned *sink) {
  __shared__ __align__(128) unsigned tile[8192];
  uint32_t rank = clusterRank(), size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) tile[i] = 0;
  __syncthreads();
  clusterSync();
  uint32_t at = inCta(sharedAddress(tile) + (WHAT == 1 ? 0 : threadIdx.x * 16), (rank + 1) % size), x = 0, y, z, w, sum = 0;
  long long begin = clock64();
#pragma unroll 8
  for (int i = 0; i < turns; i++) {
    if (WHAT == 0) clusterSync();
    if (WHAT == 1) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(at + x) : "memory");
    if (WHAT == 2) {
      asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at + i % 8 * 4096) : "memory");
      sum += x + y + z + w;
    }
    if (WHAT == 3) asm volatile("st.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at + i % 8 * 4096), "r"(i) : "memory");
    if (WHAT == 4) asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
  }
  long long end = clock64();
  clusterSync();
  sink[threadIdx.x] = x + sum;
  if (blockIdx.x == 0) record(span, begin, end);
}

template <class F, class... A> void launch(F f, int ctas, int threads, int size, int shared, A... args) {
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeClusterDimension, a.val.clusterDim.x = size, a.val.clusterDim.y = a.val.clusterDim.z = 1;
  CHECK(cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  if (shared) CHECK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  c.gridDim = ctas, c.blockDim = threads, c.dynamicSmemBytes = shared, c.attrs = &a, c.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&c, f, args...));
}

template <int WHAT> void neighbour(const char *name, int threads, const char *unit, double each, Buffer<Span> &span, Buffer<unsigned> &sink, int sms) {
  const int turns = 256;
  for (int size : {1, 2, 4, 8, 16})
    for (int ctas : {size, sms / size * size}) {
      if (size == 16 && ctas > 16) ctas = 64;
      for (int i = 0; i < 2; i++) launch(neighbours<WHAT>, ctas, threads, size, 0, turns, span.p, sink.p);
      CHECK(cudaDeviceSynchronize());
      double t = cycles(span, threads / 32) / turns;
      emit(name, Params()("cluster", size)("ctas", ctas)("threads", threads), each > 0 ? each * threads / t : t, unit);
    }
}

// How registers that are given back and taken again hold up a warpgroup.
__global__ void __launch_bounds__(384, 1) registers(int turns, Span *span) {
  long long begin = clock64();
  if (threadIdx.x < 128) {
    for (int i = 0; i < turns; i++) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      asm volatile("setmaxnreg.inc.sync.aligned.u32 168;");
    }
  }
  record(span, begin, clock64());
}

// How many clusters of CTAs with so much shared memory the GPU holds, and what a launch of nothing takes.
__global__ void nothing() {}
__global__ void __launch_bounds__(128) where(unsigned *sm) {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  if (threadIdx.x == 0) sm[blockIdx.x] = id;
  long long t = clock64();
  while (clock64() - t < 100000) {
  }
}

void placement() {
  Buffer<unsigned> sm(4096);
  for (int shared : {0, 65536, 200000})
    for (int size : {1, 2, 4, 8, 16}) {
      cudaLaunchConfig_t c = {};
      cudaLaunchAttribute a = {};
      a.id = cudaLaunchAttributeClusterDimension, a.val.clusterDim.x = size, a.val.clusterDim.y = a.val.clusterDim.z = 1;
      CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
      CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, std::max(shared, 1)));
      c.gridDim = size * 128, c.blockDim = 128, c.dynamicSmemBytes = shared, c.attrs = &a, c.numAttrs = 1;
      int n = 0;
      CHECK(cudaOccupancyMaxActiveClusters(&n, where, &c));
      emit("cluster.resident", Params()("cluster", size)("shared", shared), n, "clusters");
      if (shared == 200000) { // one CTA an SM: which SMs the first clusters take
        CHECK(cudaLaunchKernelEx(&c, where, sm.p));
        CHECK(cudaDeviceSynchronize());
        auto v = sm.get(size * 128);
        for (int i = 0; i < std::min(132, size * n); i++) emit("cluster.sm", Params()("cluster", size)("cta", i), v[i], "SM");
      }
    }
  for (int size : {1, 2, 4, 8})
    for (int ctas : {132, 132 * 8, 132 * 64}) {
      double t = microseconds([&] { launch(nothing, ctas / size * size, 128, size, 0); }, 50, 7);
      emit("cluster.launch", Params()("cluster", size)("ctas", ctas / size * size), t, "us");
    }
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<unsigned> sink(4096);
  const int turns = 512;
  for (int lanes : {1, 32}) {
    for (int i = 0; i < 2; i++) pingPong<<<1, 64>>>(turns, lanes, span.p);
    CHECK(cudaDeviceSynchronize());
    emit("mbarrier.handover", Params()("lanes", lanes), cycles(span, 2) / turns / 2, "cycles");
  }
  for (int size : {2, 4, 8}) {
    for (int i = 0; i < 2; i++) launch(remotePingPong, size, 32, size, 0, turns, span.p);
    CHECK(cudaDeviceSynchronize());
    emit("mbarrier.handover_remote", Params()("cluster", size), cycles(span, 1) / turns / 2, "cycles");
  }
  instruction<0>(span, sink), instruction<1>(span, sink), instruction<2>(span, sink), instruction<3>(span, sink), instruction<4>(span, sink);
  instruction<5>(span, sink), instruction<6>(span, sink), instruction<7>(span, sink), instruction<8>(span, sink), instruction<9>(span, sink);
  for (int pitch : {16, 32, 64, 80, 128, 144})
    for (int warps : {1, 16}) {
      for (int i = 0; i < 2; i++) matrixStores<<<1, warps * 32, 8192>>>(pitch, turns, span.p);
      CHECK(cudaDeviceSynchronize());
      emit("hopper.stmatrix_pitch", Params()("pitch", pitch)("warps", warps), cycles(span, warps) / turns / warps, "cycles/instruction/SM");
    }
  neighbour<0>("cluster.barrier", 128, "cycles", 0, span, sink, dev.sms());
  neighbour<4>("cluster.barrier_relaxed", 128, "cycles", 0, span, sink, dev.sms());
  neighbour<1>("cluster.load_latency", 32, "cycles", 0, span, sink, dev.sms());
  neighbour<2>("cluster.load_rate", 256, "bytes/cycle/SM", 16, span, sink, dev.sms());
  neighbour<3>("cluster.store_rate", 256, "bytes/cycle/SM", 16, span, sink, dev.sms());
  for (int i = 0; i < 2; i++) registers<<<1, 384>>>(64, span.p);
  CHECK(cudaDeviceSynchronize());
  emit("setmaxnreg.pair", Params(), cycles(span, 4) / 64, "cycles");
  placement();
}
