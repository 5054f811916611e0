// Steps of the Collatz sequence of numbers, in 32 bits or in 64 (WIDE).
#if WIDE
typedef unsigned long long number;
#else
typedef unsigned number;
#endif
extern "C" __global__ void collatz(int* __restrict__ steps, int n) {
  for (int k = 0; k < PER; ++k) {
    int i = (blockIdx.x * PER + k) * BLOCK + threadIdx.x;
    if (i >= n) return;
    number v = i % 100000 + 1;
    int s = 0;
    while (v != 1 && s < 200) {
      v = v & 1 ? 3 * v + 1 : v >> 1;
      ++s;
    }
    steps[i] = s;
  }
}
