// Linear interpolation in a table: a gather that the read-only path serves. LOADS says how the compiler learns that the
// inputs never change: 0 not at all (each load stays behind the store before it), 1 by const __restrict__, 2 by __ldg.
#if LOADS == 1
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif
#if LOADS == 2
#define READ(p) __ldg(p)
#else
#define READ(p) (*(p))
#endif
extern "C" __global__ void table_lookup(const float* RESTRICT x, const float* RESTRICT table, float* RESTRICT y, int n, int cells) {
  int base = blockIdx.x * (BLOCK_SIZE * ITEMS) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    int i = base + k * BLOCK_SIZE;
    if (i < n) {
      float p = READ(x + i) * cells;
      int j = (int)p;
      float a = READ(table + j), b = READ(table + j + 1);
      y[i] = a + (p - j) * (b - a);
    }
  }
}
