// The product of a stiffness matrix with a vector, element by element: a hexahedron gathers its eight nodes' values, multiplies by its matrix and adds the results to the nodes by atomics. On a brick the matrix depends on i xor j only: it is kept whole in shared memory (MATRIX 0), as eight numbers in registers (1), or the product is taken by Walsh and Hadamard's transform (2). One thread or eight (LANES) have an element, PER elements each; nodes' numbers are stored element by element or corner by corner (CORNERS); where neighbours in a warp share a face along x, its sums pass by shuffle and one of the two does the adding (MERGE).
#define MINE (BLOCK * PER / LANES)
extern "C" __global__ void __launch_bounds__(BLOCK) fem_scatter(const int* __restrict__ by_element, const int* __restrict__ by_corner, const float* __restrict__ stiff, const float* __restrict__ density, const float* __restrict__ in, float* __restrict__ out, int elements) {
  int t = threadIdx.x;
#if MATRIX == 0
  __shared__ __align__(16) float whole[64];
  if (t < 64) whole[t] = stiff[t / 8 ^ t % 8];
  __syncthreads();
#else
  float k[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) k[i] = __ldg(stiff + i);
#if MATRIX == 2
#pragma unroll
  for (int d = 1; d < 8; d *= 2)
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (!(i & d)) {
        float a = k[i], b = k[i ^ d];
        k[i] = a + b, k[i ^ d] = a - b;
      }
#pragma unroll
  for (int i = 0; i < 8; ++i) k[i] *= 0.125f;
#endif
#endif
#if LANES == 8
  int c = t % 8;
#if MATRIX == 0
  float row[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) row[j] = whole[c * 8 + (c ^ j)];
#elif MATRIX == 1
#define row k
#else
  float mine = k[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) mine = c == i ? k[i] : mine;
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int e = blockIdx.x * MINE + p * (BLOCK / 8) + t / 8;
#if CORNERS
    int node = by_corner[(size_t)c * elements + e];
#else
    int node = by_element[(size_t)e * 8 + c];
#endif
    float x = in[node] * density[e], y;
#if MATRIX == 2
    y = x;
#pragma unroll
    for (int d = 1; d < 8; d *= 2) {
      float o = __shfl_xor_sync(0xffffffffu, y, d);
      y = c & d ? o - y : y + o;
    }
    y *= mine;
#pragma unroll
    for (int d = 1; d < 8; d *= 2) {
      float o = __shfl_xor_sync(0xffffffffu, y, d);
      y = c & d ? o - y : y + o;
    }
#else
    y = row[0] * x;
#pragma unroll
    for (int j = 1; j < 8; ++j) y = fmaf(row[j], __shfl_xor_sync(0xffffffffu, x, j), y);
#endif
    atomicAdd(out + node, y);
  }
#else
#pragma unroll 1
  for (int p = 0; p < PER; ++p) {
    int e = blockIdx.x * MINE + p * BLOCK + t, node[8];
#if CORNERS
#pragma unroll
    for (int i = 0; i < 8; ++i) node[i] = by_corner[(size_t)i * elements + e];
#else
    int4 a = ((const int4*)by_element)[(size_t)e * 2], b = ((const int4*)by_element)[(size_t)e * 2 + 1];
    node[0] = a.x, node[1] = a.y, node[2] = a.z, node[3] = a.w;
    node[4] = b.x, node[5] = b.y, node[6] = b.z, node[7] = b.w;
#endif
    float x[8], y[8], rho = density[e];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = in[node[i]] * rho;
#if MATRIX == 2
#pragma unroll
    for (int i = 0; i < 8; ++i) y[i] = x[i];
#pragma unroll
    for (int turn = 0; turn < 2; ++turn) {
#pragma unroll
      for (int d = 1; d < 8; d *= 2)
#pragma unroll
        for (int i = 0; i < 8; ++i)
          if (!(i & d)) {
            float a = y[i], b = y[i ^ d];
            y[i] = a + b, y[i ^ d] = a - b;
          }
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (turn == 0) y[i] *= k[i];
    }
#else
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      y[i] = 0.0f;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#if MATRIX == 0
        y[i] = fmaf(whole[i * 8 + j], x[j], y[i]);
#else
        y[i] = fmaf(k[i ^ j], x[j], y[i]);
#endif
      }
    }
#endif
#if MERGE
    // Corners 1, 3, 5, 7 of a lane against 0, 2, 4, 6 of the next.
    bool given = true;
#pragma unroll
    for (int i = 0; i < 8; i += 2) given = __shfl_down_sync(0xffffffffu, node[i], 1) == node[i + 1] && given;
    given = given && t % 32 != 31;
    bool taken = __shfl_up_sync(0xffffffffu, (int)given, 1) != 0 && t % 32 != 0;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      float o = __shfl_up_sync(0xffffffffu, y[i + 1], 1);
      atomicAdd(out + node[i], taken ? y[i] + o : y[i]);
      if (!given) atomicAdd(out + node[i + 1], y[i + 1]);
    }
#else
#pragma unroll
    for (int i = 0; i < 8; ++i) atomicAdd(out + node[i], y[i]);
#endif
  }
#endif
}
