extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int n, int m, int k)
{
    int x = (blockIdx.x * BX + threadIdx.x) * COLS, y = blockIdx.y * BY + threadIdx.y;
    if (x >= n || y >= m) return;
    float sum[COLS];
    for (int j = 0; j < COLS; j++) sum[j] = 0.0f;
    for (int i = 0; i < k; i++) {
        float v = TRANS ? a[i * m + y] : a[y * k + i];
        for (int j = 0; j < COLS; j++) sum[j] += v * b[i * n + x + j];
    }
    for (int j = 0; j < COLS; j++) c[y * n + x + j] = sum[j];
}
