extern "C" __global__ void band_rows(const float *m, const float *x, float *y, int n, int width)
{
    int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (row >= n) return;
    float s = 0.0f;
    for (int j = lane; j < width; j += LANES) s += (COLUMN ? m[j * n + row] : m[row * width + j]) * x[row + j];
    for (int o = LANES / 2; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (lane == 0) y[row] = s;
}
