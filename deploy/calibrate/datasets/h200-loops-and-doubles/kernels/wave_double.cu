extern "C" __global__ void wave_double(const double *now, const double *past, double *next, int n, double c)
{
    int x = blockIdx.x * BX + threadIdx.x + 2, y0 = (blockIdx.y * BY + threadIdx.y) * ROWS + 2;
    for (int r = 0; r < ROWS; r++) {
        int y = y0 + r;
        if (x >= n - 2 || y >= n - 2) return;
        int i = y * n + x;
        double l = -5.0 * now[i] + 1.3333333333333333 * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n])
            - 0.083333333333333329 * (now[i - 2] + now[i + 2] + now[i - 2 * n] + now[i + 2 * n]);
        next[i] = 2.0 * now[i] - past[i] + c * l;
    }
}
