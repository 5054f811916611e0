extern "C" __global__ void bonds_double(const double *rate, const double *time, double *out, int n, double face, double coupon)
{
    for (int k = 0; k < ITEMS; k++) {
        int i = (blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
        if (i >= n) return;
        double r = rate[i], t = time[i];
        double d = exp(-r * t);
        double s = face * d + coupon * (1.0 - d) / (r + 0.015625);
        if (VOL) s += 0.3989422804014327 * sqrt(t) * exp(-0.5 * r * r);
        out[i] = s;
    }
}
