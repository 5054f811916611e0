"""A scan by decoupled look-back: its time, the mean of 4 launches, the median of 9 such, us, by threads of a CTA, 16-byte
loads of a thread, CTAs and how many CTAs' values a warp looks at together (0: it does not wait). Needs CuPy.

  python3 lookback.py > lookback.jsonl
"""
import cupy as c

SOURCE = r'''
typedef unsigned long long u64;
constexpr u64 ownSum = 1ull << 32, wholeSum = 2ull << 32; // of a CTA's word: it has the sum of its own data, of all data up to it

__device__ u64 look(u64 *p) {
  u64 v;
  asm volatile("ld.relaxed.gpu.global.u64 %0,[%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
__device__ void publish(u64 *p, u64 v) { asm volatile("st.relaxed.gpu.global.u64 [%0],%1;" ::"l"(p), "l"(v) : "memory"); }

// before is the sum of all data before a CTA's, in lane 0.
__device__ int before(u64 *words, int turn, int lane) {
  int sum = 0;
  if (VALUES == 32) {
    for (int k = turn - 1;; k -= 32) {
      u64 v;
      do v = k - lane >= 0 ? look(words + k - lane) : wholeSum;
      while (!__all_sync(~0u, v >> 32 != 0));
      unsigned complete = __ballot_sync(~0u, v >> 32 == 2);
      int part = (int)v;
      if (complete && lane > __ffs(complete) - 1) part = 0;
      sum += __reduce_add_sync(~0u, part);
      if (complete) break;
    }
  } else if (!lane) {
    for (int k = turn - 1;; --k) {
      u64 v;
      while ((v = look(words + k)) >> 32 == 0);
      sum += (int)v;
      if (v >> 32 == 2) break;
    }
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) scan(int4 *in, int4 *out, u64 *words, int *counters, int ctas) {
  __shared__ int sums[32], drawn, ahead, last;
  int t = threadIdx.x, lane = t & 31;
  if (!t) drawn = atomicAdd(counters, 1);
  __syncthreads();
  int turn = drawn, sum = 0;
  int4 x[LOADS];
#pragma unroll
  for (int i = 0; i < LOADS; i++) x[i] = in[(turn * LOADS + i) * THREADS + t];
#pragma unroll
  for (int i = 0; i < LOADS; i++) sum += x[i].x + x[i].w;
  sum = __reduce_add_sync(~0u, sum);
  if (!lane) sums[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = __reduce_add_sync(~0u, lane < THREADS / 32 ? sums[lane] : 0);
    int earlier = 0;
    if (!lane) publish(words + turn, (turn ? ownSum : wholeSum) | (unsigned)sum);
    if (turn && VALUES) {
      earlier = before(words, turn, lane);
      if (!lane) publish(words + turn, wholeSum | (unsigned)(earlier + sum));
    }
    if (!lane) ahead = earlier;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < LOADS; i++) {
    x[i].x += ahead;
    out[(turn * LOADS + i) * THREADS + t] = x[i];
  }
  if (!t) last = atomicAdd(counters + 1, 1) == ctas - 1;
  __syncthreads();
  if (last) { // as it was before the launch
    for (int i = t; i < ctas; i += THREADS) words[i] = 0;
    if (t < 2) counters[t] = 0;
  }
}'''

data, sums, words_of_ctas, counters = c.zeros(1 << 25, 'i4'), c.zeros(1 << 25, 'i4'), c.zeros(1 << 20, 'i8'), c.zeros(2, 'i4')
for threads, loads in [(64, 1), (128, 1), (256, 1), (512, 1), (1024, 1), (256, 2), (1024, 2), (64, 4), (256, 4), (1024, 4)]:
    for values in 0, 1, 32:
        f = c.RawKernel(SOURCE, 'scan', ('-DTHREADS=%d' % threads, '-DLOADS=%d' % loads, '-DVALUES=%d' % values))
        for words in 1 << 20, 1 << 22, 1 << 25:
            n, times = words // 4 // threads // loads, []
            for _ in range(9):
                first, last = c.cuda.Event(), c.cuda.Event()
                first.record()
                for _ in range(4):
                    f((n,), (threads,), (data, sums, words_of_ctas, counters, n))
                last.record()
                last.synchronize()
                times.append(c.cuda.get_elapsed_time(first, last) * 250)
            print('{"name": "lookback", "params": {"threads": %d, "loads": %d, "values": %d, "ctas": %d}, "value": %.1f, "unit": "us"}' % (threads, loads, values, n, sorted(times)[4]), flush=True)
