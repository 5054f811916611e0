// Half a sweep of the Ising model over one colour of a checkerboard, colours in arrays of their own, a spin a word or a byte (SPIN), random numbers by hashing.
extern "C" __global__ void ising(const SPIN* __restrict__ other, SPIN* __restrict__ mine, int nx, int ny, float beta, unsigned seed) {
  int x = blockIdx.x * BX + threadIdx.x, y0 = (blockIdx.y * BY + threadIdx.y) * ROWS;
  if (x >= nx) return;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    int y = y0 + r;
    if (y >= ny) return;
    int up = y ? y - 1 : ny - 1, down = y + 1 < ny ? y + 1 : 0, side = y & 1 ? (x + 1 < nx ? x + 1 : 0) : (x ? x - 1 : nx - 1);
    int s = (other[up * nx + x] & 1) + (other[down * nx + x] & 1) + (other[y * nx + x] & 1) + (other[y * nx + side] & 1);
    unsigned h = (y * nx + x) * 2654435761u + seed;
    h ^= h >> 16, h *= 0x85ebca6b, h ^= h >> 13, h *= 0xc2b2ae35, h ^= h >> 16;
    int m = mine[y * nx + x] & 1;
    float de = beta * (float)((2 * m - 1) * (2 * s - 4));
    if ((float)h * 2.3283064e-10f < __expf(-de)) m ^= 1;
    mine[y * nx + x] = (SPIN)m;
  }
}
