extern "C" __global__ void great_circle(const double *lat, const double *lon, const double *to, double *out, int n, int targets)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    double a = lat[i] * 0.017453292519943295, b = lon[i] * 0.017453292519943295;
    double ca = cos(a), best = 1e30;
#pragma unroll UNROLL
    for (int k = 0; k < targets; k++) {
        double p = to[2 * k], q = to[2 * k + 1];
        double u = sin(0.5 * (p - a)), v = sin(0.5 * (q - b));
        double h = u * u + ca * (0.75 + 0.25 * p) * v * v;
        best = h < best ? h : best;
    }
    out[i] = 12742.0 * asin(sqrt(fmin(best, 1.0)));
}
