// gangs.cu - how long warps wait for DRAM and L2 by what all SMs have under way in loops, and how far apart SMs are in that
// (gangs.loop); how long CTAs and clusters of CTAs hold their slots that do nothing but wait, some longer than others
// (gangs.hold), with a barrier of the cluster at the end or without. Needs compute capability 9.0.
#include "harness.cuh"
#include <cooperative_groups.h>

template <int U, int S> __global__ void loop(uint4 *p, size_t words, int steps, long long *took, unsigned *sink) {
  unsigned s = 0;
  size_t stride = size_t(gridDim.x) * blockDim.x * U, at = size_t(blockIdx.x) * blockDim.x * U + threadIdx.x / 32 * (32 * U) + threadIdx.x % 32;
  long long t = clock64();
#pragma unroll 1
  for (int i = 0; i < steps; i++) {
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++)
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w) : "l"(p + at + u * 32));
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (S) p[words + at + u * 32] = v[u];
      s += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
    }
    at += stride;
    if (at >= words) at -= words;
    if (s == 0x12345678) at = 0; // waits for the loads
  }
  if (s == 0x12345678) sink[0] = s;
  took[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = clock64() - t;
}

__global__ void hold(int ticks, int spread, int barrier) {
  long long t = clock64();
  unsigned x = blockIdx.x * 2654435761u;
  int n = ticks + (spread ? int((x >> 8) % unsigned(spread)) : 0);
  while (clock64() - t < n) {}
  if (barrier) cooperative_groups::this_cluster().sync();
}

static Buffer<uint4> *data;
static Buffer<long long> *took;
static Buffer<unsigned> *sink;

template <int U, int S> void loops(Device &dev) {
  for (size_t mib : {16, 1024})
    for (int warps : {1, 2, 4, 6, 8, 12, 16, 24, 32}) {
      size_t step = size_t(dev.sms()) * warps * U * 512, words = (mib << 20) / step * step / 16;
      int steps = int(std::min<size_t>(400, (size_t(1) << 30) / step));
      auto go = [&] { loop<U, S><<<dev.sms(), warps * 32>>>(data->p, words, steps, took->p, sink->p); };
      double us = microseconds(go, 1, 3), mean = 0, most = 0;
      auto v = took->get(dev.sms() * warps);
      for (auto x : v) mean += double(x) / v.size() / steps, most = std::max(most, double(x) / steps);
      emit("gangs.loop", Params()("loads", double(U))("store", double(S))("warps", warps)("mib", double(mib))("gbs", double(step) * steps * (1 + S) / us * 1e-3)("most", most), mean, "cycles");
    }
}

int main() {
  Device dev;
  Buffer<uint4> d((size_t(2) << 30) / 16 + 4096);
  Buffer<long long> t(1 << 14);
  Buffer<unsigned> s(16);
  data = &d, took = &t, sink = &s;
  loops<1, 0>(dev), loops<4, 0>(dev), loops<1, 1>(dev), loops<4, 1>(dev);
  CHECK(cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dev.prop.sharedMemPerBlockOptin));
  CHECK(cudaFuncSetAttribute(hold, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (int size : {0, 1, 2, 4, 8, 16})
    for (int threads : {128, 1024})
      for (int perSM : {1, 2, 4, 8})
        for (int spread : {0, 1500})
          for (int barrier : {0, 1}) {
            if (threads * perSM > 2048 || (size < 2 && barrier)) continue;
            cudaLaunchConfig_t c = {};
            cudaLaunchAttribute at[1];
            at[0].id = cudaLaunchAttributeClusterDimension, at[0].val.clusterDim.x = size, at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
            c.gridDim = 64 * 128 * perSM, c.blockDim = threads, c.attrs = at, c.numAttrs = size > 0;
            c.dynamicSmemBytes = std::min(dev.prop.sharedMemPerMultiprocessor / perSM - 2048, dev.prop.sharedMemPerBlockOptin) / 256 * 256;
            int n = 0;
            if (size > 0) CHECK(cudaOccupancyMaxActiveClusters(&n, hold, &c));
            double us = microseconds([&] { CHECK(cudaLaunchKernelEx(&c, hold, 3000, spread, barrier)); }, 1, 3);
            double fit = size > 0 ? double(n) * size : double(dev.sms()) * perSM;
            emit("gangs.hold", Params()("cluster", size)("threads", threads)("ctas_per_sm", perSM)("spread", spread)("barrier", barrier)("fit", fit), us * 1e3 / (64 * 128 * perSM / fit), "ns a slot");
          }
}
