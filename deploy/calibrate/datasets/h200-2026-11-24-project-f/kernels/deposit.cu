// Charges of particles spread over the four corners of their cell, by atomics in global memory; particles of a CTA are near each other (BAND rows) as after a sort.
extern "C" __global__ void deposit(const float2* __restrict__ position, float* __restrict__ grid, int n, int width, float rows) {
  int first = blockIdx.x * BLOCK * EACH;
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    int p = first + (STRIDED ? k * BLOCK + threadIdx.x : threadIdx.x * EACH + k);
    if (p >= n) return;
    float2 at = position[p];
    float x = at.x, y = at.y * rows + (float)(p >> 12);
    int i = (int)x, j = (int)y;
    float fx = x - i, fy = y - j;
    float* g = grid + j * width + i;
    atomicAdd(g, (1 - fx) * (1 - fy));
    atomicAdd(g + 1, fx * (1 - fy));
    atomicAdd(g + width, (1 - fx) * fy);
    atomicAdd(g + width + 1, fx * fy);
  }
}
