// Gradients of tokens added to the rows of their words by atomics; BX lanes a row, each STEP floats that follow each other.
extern "C" __global__ void embedding_grad(const float* __restrict__ grad, const int* __restrict__ token, float* __restrict__ table, int n, int dim) {
#pragma unroll 1
  for (int k = 0; k < TOKENS; ++k) {
    int i = (blockIdx.x * TOKENS + k) * BY + threadIdx.y;
    if (i >= n) return;
    size_t row = (size_t)token[i] * dim;
    for (int c = threadIdx.x * STEP; c < dim; c += BX * STEP)
#pragma unroll
      for (int j = 0; j < STEP; ++j) atomicAdd(table + row + c + j, grad[(size_t)i * dim + c + j]);
  }
}
