extern "C" __global__ void filter_3d(const float *in, const float *w, float *out, int n, int r)
{
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int side = 2 * r + 1, row = n + 2 * r;
    for (int k = 0; k < DEPTH; k++) {
        int z = blockIdx.z * DEPTH + k;
        if (x >= n || y >= n || z >= n) continue;
        float sum = 0.0f;
        for (int c = 0; c < side; c++)
            for (int b = 0; b < side; b++)
                for (int a = 0; a < side; a++)
                    sum += in[((z + c) * row + y + b) * row + x + a] * w[(c * side + b) * side + a];
        out[(z * n + y) * n + x] = sum;
    }
}
