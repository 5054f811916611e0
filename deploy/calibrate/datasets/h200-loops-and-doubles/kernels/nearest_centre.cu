extern "C" __global__ void nearest_centre(const float *points, const float *centres, int *out, int n, int dims, int count)
{
    int p = blockIdx.x * BLOCK + threadIdx.x;
    if (p >= n) return;
    float least = 3.4e38f;
    int best = 0;
    for (int c = 0; c < count; c++) {
        float d = 0.0f;
        for (int i = 0; i < dims; i++) {
            float x = (LAYOUT ? points[p * dims + i] : points[i * n + p]) - centres[c * dims + i];
#if WEIGHTED
            d += x * x * (1.0f + 0.125f * x);
#else
            d += x * x;
#endif
        }
        if (d < least) { least = d; best = c; }
    }
    out[p] = best;
}
