extern "C" __global__ void column_stats(const float *m, float *mean, float *dev, int rows, int cols)
{
    __shared__ float sum[BY][BX], square[BY][BX];
    int c = blockIdx.x * BX + threadIdx.x;
    float s = 0.0f, q = 0.0f;
    if (c < cols)
        for (int r = blockIdx.y * BY + threadIdx.y; r < rows; r += BY * PARTS) {
            float v = m[r * cols + c];
            s += v;
            q += v * v;
        }
    sum[threadIdx.y][threadIdx.x] = s;
    square[threadIdx.y][threadIdx.x] = q;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        for (int k = 1; k < BY; k++) { s += sum[k][threadIdx.x]; q += square[k][threadIdx.x]; }
        mean[blockIdx.y * cols + c] = s;
        dev[blockIdx.y * cols + c] = q;
    }
}
