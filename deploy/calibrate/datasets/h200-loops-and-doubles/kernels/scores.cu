extern "C" __global__ void scores(const float *q, const float *key, float *out, int queries, int keys, int dim)
{
    int j = blockIdx.x * BX + threadIdx.x, i0 = (blockIdx.y * BY + threadIdx.y) * ROWS;
    if (j >= keys) return;
    for (int r = 0; r < ROWS; r++) {
        int i = i0 + r;
        if (i >= queries) return;
        float s = 0.0f;
        for (int d = 0; d < dim; d++) s += q[i * dim + d] * (KT ? key[d * keys + j] : key[j * dim + d]);
        out[i * keys + j] = EXP ? __expf(s * 0.125f) : s;
    }
}
