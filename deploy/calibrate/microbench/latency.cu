// latency.cu - load-to-use latency of every level by pointer chase, the spread of
// L2 latencies (near and far half), constant cache levels, barriers, fences and
// returning atomics.
#include "harness.cuh"
#include <random>

using Address = unsigned long long; // every link of a chain holds the next address itself

__global__ void chaseGlobal(Address at, int warm, int steps, Span *out, Address *sink) {
  for (int i = 0; i < warm; i++) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
  long long start = clock64();
  for (int i = 0; i < steps; i++) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
  long long stop = clock64();
  record(out, start, stop);
  sink[0] = at;
}

// each load timed alone: the distribution over lines that are in L2. The branch
// on what was loaded keeps the second clock behind the load.
__global__ void eachLine(Address at, int lines, unsigned *cost, Address *sink) {
  for (int i = 0; i < lines; i++) {
    long long t0 = clock64();
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    if (at == 0) break;
    long long t1 = clock64();
    cost[blockIdx.x * lines + i] = unsigned(t1 - t0);
  }
  sink[0] = at;
}

// the chase on one chosen SM: launched with a CTA for every SM
__global__ void chaseOn(unsigned sm, Address at, int steps, Span *out, Address *sink) {
  unsigned here;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
  if (here != sm) return;
  long long start = clock64();
  for (int i = 0; i < steps; i++) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
  long long stop = clock64();
  record(out, start, stop);
  sink[0] = at;
}

__global__ void readAll(const uint4 *p, size_t n, Address *sink) {
  unsigned s = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint4 v = p[i];
    s += v.x + v.y + v.z + v.w;
  }
  if (s == 0x12345678) sink[0] = s;
}

__global__ void chaseShared(int steps, Span *out, Address *sink) {
  __shared__ unsigned next[1024];
  unsigned at = (unsigned)__cvta_generic_to_shared(next);
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = at + ((i + 33) % 1024) * 4;
  __syncthreads();
  long long start = clock64();
  for (int i = 0; i < steps; i++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  long long stop = clock64();
  record(out, start, stop);
  sink[0] = at;
}

__constant__ unsigned table[16384];

// one address instruction (a shift) stands between two loads
__global__ void chaseConstant(unsigned at, int warm, int steps, Span *out, Address *sink) {
  at += threadIdx.x; // 0, but not known to be the same in all lanes: LDC, not ULDC
  for (int i = 0; i < warm; i++) at = table[at];
  long long start = clock64();
#pragma unroll 8
  for (int i = 0; i < steps; i++) at = table[at];
  long long stop = clock64();
  record(out, start, stop);
  sink[0] = at;
}

__global__ void barriers(int n, Span *out) {
  __syncthreads();
  long long start = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) __syncthreads();
  long long stop = clock64();
  record(out, start, stop);
}

template <int KIND> __global__ void fences(int n, unsigned *p, Span *out) {
  long long start = clock64();
  for (int i = 0; i < n; i++) {
    if (KIND % 2) p[threadIdx.x] = i; // with a store in flight
    if (KIND / 2 == 0) __threadfence_block();
    if (KIND / 2 == 1) __threadfence();
  }
  long long stop = clock64();
  record(out, start, stop);
}

__global__ void chainAtomic(unsigned *global, int shared, int n, Span *out, Address *sink) {
  __shared__ unsigned cell[32];
  cell[threadIdx.x % 32] = 0;
  __syncthreads();
  unsigned v = 0, base = (unsigned)__cvta_generic_to_shared(cell);
  long long start = clock64();
  if (shared)
    for (int i = 0; i < n; i++) asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(v) : "r"(base), "r"(v | 1) : "memory");
  else
    for (int i = 0; i < n; i++) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(global), "r"(v | 1) : "memory");
  long long stop = clock64();
  record(out, start, stop);
  sink[0] = v;
}

// a random cycle through one element in every `stride` of n: element -> next element
static std::vector<unsigned> randomCycle(size_t n, size_t stride, unsigned seed) {
  size_t links = n / stride;
  std::vector<unsigned> order(links), next(n, 0);
  for (size_t i = 0; i < links; i++) order[i] = unsigned(i);
  std::mt19937 rng(seed);
  std::shuffle(order.begin() + 1, order.end(), rng);
  for (size_t i = 0; i < links; i++) next[size_t(order[i]) * stride] = unsigned(order[(i + 1) % links] * stride);
  return next;
}

// a random cycle through one address in every 128-byte line of the buffer
static void fillChain(Buffer<Address> &buf, unsigned seed) {
  auto next = randomCycle(buf.n, 16, seed);
  std::vector<Address> v(buf.n);
  for (size_t i = 0; i < v.size(); i++) v[i] = Address(buf.p + next[i]);
  buf.put(v);
}

static void globalByFootprint(Device &dev, Buffer<Span> &span, Buffer<Address> &sink) {
  for (double mib : {1 / 64., 1 / 16., 1 / 8., 3 / 16., 7 / 32., 1 / 4., 1 / 2., 1., 4., 8., 16., 20., 24., 28., 32., 40., 48., 56., 64., 96., 128., 256., 512.}) {
    size_t words = size_t(mib * (1 << 17)), lines = words / 16;
    Buffer<Address> buf(words);
    fillChain(buf, 1);
    int warm = mib <= 0.5 ? int(2 * lines) : 0, steps = 1 << 14;
    // larger footprints are brought into L2 by all SMs
    for (int i = 0; i < 2; i++) readAll<<<dev.sms() * 2, 512>>>((const uint4 *)buf.p, words / 2, sink.p);
    chaseGlobal<<<1, 1>>>(Address(buf.p), warm, steps, span.p, sink.p);
    CHECK(cudaDeviceSynchronize());
    emit("latency.global", Params()("bytes", double(words) * 8), cycles(span, 1) / steps, "cycles");
  }
}

static void l2Spread(Device &dev, Buffer<Address> &sink) {
  const size_t words = 4 << 17;
  const int lines = 2048, ctas = dev.sms();
  Buffer<Address> buf(words);
  Buffer<unsigned> cost(size_t(lines) * ctas);
  fillChain(buf, 2);
  for (int i = 0; i < 2; i++) readAll<<<ctas * 2, 512>>>((const uint4 *)buf.p, words / 2, sink.p);
  eachLine<<<ctas, 1>>>(Address(buf.p), lines, cost.p, sink.p); // warm
  eachLine<<<1, 1>>>(Address(buf.p), lines, cost.p, sink.p);
  CHECK(cudaDeviceSynchronize());
  auto v = cost.get(lines);
  std::sort(v.begin(), v.end());
  for (int pct : {1, 10, 25, 40, 50, 60, 75, 90, 99})
    emit("latency.l2_percentile", Params()("percentile", pct)("sms", 1), v[size_t(lines - 1) * pct / 100], "cycles");
  eachLine<<<ctas, 1>>>(Address(buf.p), lines, cost.p, sink.p);
  v = cost.get(size_t(lines) * ctas);
  std::sort(v.begin(), v.end());
  for (int pct : {1, 10, 25, 40, 50, 60, 75, 90, 99})
    emit("latency.l2_percentile", Params()("percentile", pct)("sms", ctas), v[(v.size() - 1) * pct / 100], "cycles");
}

// What one SM waits for lines that only one other SM has read: the near half of
// L2, the far half, or, with no reader before it, DRAM. No line is used twice.
static void firstTouch(Device &dev, Buffer<Span> &span, Buffer<Address> &sink) {
  const size_t lines = 4096, links = lines * 16, regions = 64;
  Buffer<Address> buf(links * regions);
  Buffer<uint4> other((256 << 20) / 16);
  std::vector<Address> v(buf.n);
  for (size_t r = 0; r < regions; r++) {
    auto next = randomCycle(links, 16, unsigned(r) + 7);
    for (size_t i = 0; i < links; i++) v[r * links + i] = Address(buf.p + r * links + next[i]);
  }
  buf.put(v);
  for (int i = 0; i < 2; i++) readAll<<<dev.sms() * 2, 512>>>(other.p, other.n, sink.p); // push it all out of L2
  size_t r = 0;
  auto chase = [&](int sm, size_t region) {
    chaseOn<<<dev.sms() * 4, 1>>>(unsigned(sm), Address(buf.p + region * links), int(lines), span.p, sink.p);
    CHECK(cudaDeviceSynchronize());
    return cycles(span, 1) / lines;
  };
  chase(0, r++);
  for (int i = 0; i < 3; i++) emit("latency.dram_fresh", Params()("lines", double(lines)), chase(0, r++), "cycles");
  for (int reader = 0; reader < dev.sms() && r < regions; reader += 5, r++) {
    chase(reader, r);
    emit("latency.l2_first_touch", Params()("read_before_by", reader), chase(0, r), "cycles");
  }
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<Address> sink(64);
  Buffer<unsigned> cell(1 << 16);
  for (int i = 0; i < 2; i++) chaseShared<<<1, 32>>>(4096, span.p, sink.p);
  emit("latency.shared", Params(), cycles(span, 1) / 4096, "cycles");
  globalByFootprint(dev, span, sink);
  l2Spread(dev, sink);
  firstTouch(dev, span, sink);
  for (int kib : {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64}) {
    auto t = randomCycle(size_t(kib) * 256, 16, 3); // one word in each 64 bytes
    CHECK(cudaMemcpyToSymbol(table, t.data(), t.size() * 4));
    int n = kib * 16;
    chaseConstant<<<1, 1>>>(0, 2 * n, 4096, span.p, sink.p);
    emit("latency.constant", Params()("bytes", kib * 1024), cycles(span, 1) / 4096, "cycles");
  }
  for (int w = 1; w <= 32; w *= 2) {
    for (int i = 0; i < 2; i++) barriers<<<1, 32 * w>>>(1024, span.p);
    emit("latency.barrier", Params()("warps", w), cycles(span, w) / 1024, "cycles");
  }
  auto fence = [&](auto kernel, const char *scope, const char *pending) {
    for (int i = 0; i < 2; i++) kernel<<<1, 32>>>(256, cell.p, span.p);
    emit("latency.fence", Params()("scope", scope)("pending", pending), cycles(span, 1) / 256, "cycles");
  };
  fence(fences<0>, "cta", "none");
  fence(fences<1>, "cta", "store");
  fence(fences<2>, "gpu", "none");
  fence(fences<3>, "gpu", "store");
  for (int shared : {1, 0}) {
    for (int i = 0; i < 2; i++) chainAtomic<<<1, 1>>>(cell.p, shared, 1024, span.p, sink.p);
    emit("latency.atomic", Params()("space", shared ? "shared" : "global"), cycles(span, 1) / 1024, "cycles");
  }
}
