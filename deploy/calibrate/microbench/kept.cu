// kept.cu - what L1 still has, access by access: one lane reads a word of lines in a given
// order, from the clock of each read it is told whether it was found. A line of output for
// each part of an order: the share of its reads that were found. The order itself comes by
// loads that leave nothing in L1, what was found goes to shared memory.
#include <cstdint>
#include <numeric>
#include <random>
#include "harness.cuh"

static const int MOST = 30000; // reads in an order

template <int NC> __global__ void trace(const unsigned *in, const uint32_t *lines, int n, uint32_t *bits, unsigned *sink) {
  __shared__ uint32_t found[MOST / 32 + 1];
  for (int i = 0; i <= n / 32; i++) found[i] = 0;
  unsigned s = 0;
  uint32_t next = __ldcg(lines);
  for (int i = 0; i < n; i++) {
    const unsigned *p = in + size_t(next + s) * 32;
    next = __ldcg(lines + (i + 1 < n ? i + 1 : i));
    asm volatile("" ::"r"(next));
    unsigned go = next == 0xffffffff;
    long long t0 = clock64();
    unsigned v;
    if (NC) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p + go) : "memory");
    else asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + go) : "memory");
    s += v;
    asm volatile("" ::"r"(s));
    long long t1 = clock64() + s;
    if (t1 - t0 < 120) found[i / 32] |= 1u << (i % 32);
  }
  for (int i = 0; i <= n / 32; i++) bits[i] = found[i];
  if (s) sink[0] = s;
}

// Order is lines in the order they are read, in parts.
struct Order {
  std::vector<uint32_t> lines;
  std::vector<size_t> ends;
  void add(uint32_t line) { lines.push_back(line); }
  void range(uint32_t first, int n) {
    for (int i = 0; i < n; i++) add(first + i);
  }
  void end() { ends.push_back(lines.size()); }
  void part(uint32_t first, int n) {
    range(first, n);
    end();
  }
};

struct Bench {
  Buffer<unsigned> in{size_t(1) << 26}, sink{16};
  Buffer<uint32_t> lines{MOST}, bits{MOST / 32 + 1};

  template <int NC> void launch(int n) {
    CHECK(cudaFuncSetAttribute(trace<NC>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    trace<NC><<<1, 1>>>(in.p, lines.p, n, bits.p, sink.p);
    CHECK(cudaDeviceSynchronize());
  }

  void run(const std::string &name, Order o, bool nc = false) {
    size_t n = o.lines.size(), from = 0;
    if (n > size_t(MOST)) {
      fprintf(stderr, "%s: more than %d reads\n", name.c_str(), MOST);
      exit(1);
    }
    CHECK(cudaMemcpy(lines.p, o.lines.data(), n * 4, cudaMemcpyHostToDevice));
    nc ? launch<1>(n) : launch<0>(n);
    auto b = bits.get(n / 32 + 1);
    if (o.ends.empty() || o.ends.back() != n) o.end();
    for (size_t k = 0; k < o.ends.size(); from = o.ends[k++]) {
      int found = 0;
      for (size_t i = from; i < o.ends[k]; i++) found += b[i / 32] >> (i % 32) & 1;
      double reads = double(o.ends[k] - from);
      emit("kept.found", Params()("order", name.c_str())("nc", nc)("part", k)("reads", reads), found / reads, "share");
    }
  }
};

// sets of n lines one after the other, each so many times
static Order sets(int n, int times, int most) {
  Order o;
  for (int k = 0; k < most; k++)
    for (int t = 0; t < times; t++) o.part(k * 4096, n);
  return o;
}

// a stream in which each line comes back after d others
static Order back(int d) {
  Order o;
  for (int i = 0; i < 14000; i++) {
    o.add(i);
    if (i >= d) o.add(i - d);
    if (i % 2000 == 1999) o.end();
  }
  return o;
}

// who goes: 1,728 lines, in order, shuffled (1) or half of them again (2), then more, of
// which 64 have room, then the former backwards
static Order victims(int order, int more) {
  std::vector<uint32_t> fill(1728);
  std::iota(fill.begin(), fill.end(), 0);
  if (order) std::shuffle(fill.begin(), fill.end(), std::mt19937(5));
  Order o{fill, {fill.size()}};
  if (order == 2) {
    o.lines.insert(o.lines.end(), fill.begin(), fill.begin() + 864);
    o.end();
  }
  o.part(50000, 64 + more);
  o.lines.insert(o.lines.end(), fill.rbegin(), fill.rend());
  return o;
}

// lines drawn from so many times 1,792, beside a stream or not
static Order drawn(double of, bool stream) {
  std::mt19937 rng(9);
  Order o{{}, {4000, 9000, 14000, 19000, 24000}};
  int n = of * 1792, at = 100000;
  for (int i = 0; i < 29000; i++) o.add(stream && rng() % 2 == 0 ? at++ : rng() % n);
  return o;
}

static std::string name(const char *format, double a, double b = 0) {
  char text[40];
  snprintf(text, sizeof text, format, a, b);
  return text;
}

int main() {
  Bench b;
  for (int n : {200, 400, 900, 1200, 1400, 1600, 1700})
    for (bool nc : {false, true}) b.run(name("twice n=%.0f", n), sets(n, 2, std::min(12, MOST / n / 2 - 1)), nc);
  for (int n : {400, 900, 1400})
    for (int times : {3, 4, 6}) b.run(name("times=%.0f n=%.0f", times, n), sets(n, times, std::min(6, MOST / n / times)));
  for (int n : {900, 1400}) { // others first, once
    Order o;
    o.part(100000, 1792);
    for (int k = 0; k < 10; k++) o.part(k / 2 * 4096, n);
    b.run(name("once, then twice n=%.0f", n), o);
  }
  for (int d : {1, 8, 64, 200, 400, 800, 1200, 1500}) b.run(name("back after %.0f", d), back(d));
  for (int order : {0, 1, 2})
    for (int more : {1, 4, 16, 64, 256}) b.run(name("victims order=%.0f k=%.0f", order, more), victims(order, more));
  for (double of : {1.15, 1.3, 1.6, 2.0, 3.0}) b.run(name("uniform %.2f", of), drawn(of, false));
  for (double of : {0.3, 0.6, 0.9}) b.run(name("hot %.2f", of), drawn(of, true));
  for (int n : {1760, 1856, 2048, 2304}) b.run(name("cycle %.0f", n), sets(n, 10, 1));
}
