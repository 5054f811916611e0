// Game of life on bytes, PER cells a thread side by side.
extern "C" __global__ void life(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int w, int h) {
  int x0 = (blockIdx.x * BX + threadIdx.x) * PER, y = blockIdx.y * BY + threadIdx.y;
  int up = (y ? y - 1 : h - 1) * w, mid = y * w, down = (y + 1 < h ? y + 1 : 0) * w;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    int x = x0 + k, l = x ? x - 1 : w - 1, r = x + 1 < w ? x + 1 : 0;
    int n = (in[up + l] & 1) + (in[up + x] & 1) + (in[up + r] & 1) + (in[mid + l] & 1) + (in[mid + r] & 1) + (in[down + l] & 1) + (in[down + x] & 1) + (in[down + r] & 1);
    out[mid + x] = n == 3 || (n == 2 && (in[mid + x] & 1));
  }
}
