// A product of matrices of bits, rows of A and of B packed into words along the depth; counts of equal bits by tiles in shared memory.
#define TX 16
#define TY 16
extern "C" __global__ void xnor_gemm(const unsigned* __restrict__ a, const unsigned* __restrict__ b, int* __restrict__ c, int n, int words) {
  __shared__ unsigned sa[DEPTH][TY * RI + PAD], sb[DEPTH][TX * CJ + PAD];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * TX + tx;
  int s[RI][CJ];
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) s[i][j] = 0;
  for (int k0 = 0; k0 < words; k0 += DEPTH) {
    for (int q = t; q < TY * RI * DEPTH; q += TX * TY) sa[q % DEPTH][q / DEPTH] = a[(blockIdx.y * TY * RI + q / DEPTH) * words + k0 + q % DEPTH];
    for (int q = t; q < TX * CJ * DEPTH; q += TX * TY) sb[q % DEPTH][q / DEPTH] = b[(blockIdx.x * TX * CJ + q / DEPTH) * words + k0 + q % DEPTH];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      unsigned x[RI], y[CJ];
#pragma unroll
      for (int i = 0; i < RI; ++i) x[i] = sa[k][ty + i * TY];
#pragma unroll
      for (int j = 0; j < CJ; ++j) y[j] = sb[k][tx + j * TX];
#pragma unroll
      for (int i = 0; i < RI; ++i)
#pragma unroll
        for (int j = 0; j < CJ; ++j) s[i][j] += __popc(~(x[i] ^ y[j]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < RI; ++i)
#pragma unroll
    for (int j = 0; j < CJ; ++j) c[(blockIdx.y * TY * RI + ty + i * TY) * n + blockIdx.x * TX * CJ + tx + j * TX] = 2 * s[i][j] - 32 * words;
}
