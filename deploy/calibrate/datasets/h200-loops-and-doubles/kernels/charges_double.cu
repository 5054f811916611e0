extern "C" __global__ void charges_double(const double4 *charge, double *out, int n, int count)
{
    __shared__ double4 tile[TILE];
    double x[EACH], v[EACH];
    int i = blockIdx.x * BLOCK * EACH + threadIdx.x;
    for (int e = 0; e < EACH; e++) { x[e] = (i + e * BLOCK) * 1e-3; v[e] = 0.0; }
    for (int t = 0; t < count; t += TILE) {
        __syncthreads();
        for (int k = threadIdx.x; k < TILE; k += BLOCK) tile[k] = charge[t + k];
        __syncthreads();
#pragma unroll UNROLL
        for (int k = 0; k < TILE; k++) {
            double4 c = tile[k];
            for (int e = 0; e < EACH; e++) {
                double dx = x[e] - c.x;
                v[e] += c.w * (1.0 - 0.3333333333333333 * (dx * dx + c.y * c.y + c.z * c.z));
            }
        }
    }
    for (int e = 0; e < EACH; e++) if (i + e * BLOCK < n) out[i + e * BLOCK] = v[e];
}
