// Kernels of which each has an array of a thread's own, ZLEN elements, that a loop unrolled
// UFAC times or data indexes: what simengine/ir/heldworth.go says of them was not derived
// from them (indexed_kernels.py).

#ifndef ZLEN
#define ZLEN 8
#endif
#define PRAGMA(x) _Pragma(#x)
#define UNROLL_(n) PRAGMA(unroll n)
#define UNROLL(n) UNROLL_(n)
extern "C" __global__ void hist(const unsigned* in, unsigned* out, int n) {
    unsigned c[ZLEN];
    for (int i = 0; i < ZLEN; i++) c[i] = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[in[i] % ZLEN]++;
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = c[i];
}
extern "C" __global__ void topk(const float* in, float* out, int n) {
    float k[ZLEN];
    for (int i = 0; i < ZLEN; i++) k[i] = -1e30f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = in[i];
        UNROLL(UFAC) for (int j = 0; j < ZLEN; j++) if (v > k[j]) { float t = k[j]; k[j] = v; v = t; }
    }
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = k[i];
}
extern "C" __global__ void ring(const float* in, float* out, int n) {
    float r[ZLEN]; float sum = 0;
    for (int i = 0; i < ZLEN; i++) r[i] = 0;
    for (int i = 0; i < n; i++) {
        float v = in[i * 256 + threadIdx.x];
        int at = i & (ZLEN - 1);
        sum += v - r[at]; r[at] = v;
        out[i * 256 + threadIdx.x] = sum * (1.0f / ZLEN);
    }
}
extern "C" __global__ void matvec(const float* a, const float* b, float* out, int n) {
    __shared__ float s[1024];
    float acc[ZLEN];
    for (int i = 0; i < ZLEN; i++) acc[i] = 0;
    for (int k = 0; k < n; k++) {
        s[threadIdx.x] = a[k * 256 + threadIdx.x]; __syncthreads();
        float x = b[k * 256 + threadIdx.x];
        UNROLL(UFAC) for (int j = 0; j < ZLEN; j++) acc[j] += s[(threadIdx.x + j) & 255] * x;
        __syncthreads();
    }
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = acc[i];
}
extern "C" __global__ void swaps(const int* in, int* out, int n) {
    int p[ZLEN];
    for (int i = 0; i < ZLEN; i++) p[i] = i;
    for (int i = 0; i < n; i++) {
        int w = in[i * 256 + threadIdx.x], x = w % ZLEN, y = (w >> 8) & (ZLEN - 1);
        if (x < 0) x = 0;
        int t = p[x]; p[x] = p[y]; p[y] = t;
    }
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = p[i];
}
extern "C" __global__ void cplx(const float2* a, float2* out, int n) {
    float2 acc[ZLEN];
    for (int i = 0; i < ZLEN; i++) acc[i] = make_float2(0, 0);
    for (int k = 0; k < n; k++) {
        float2 x = a[k * 256 + threadIdx.x]; float c = x.x, s = x.y;
        UNROLL(UFAC) for (int j = 0; j < ZLEN; j++) { acc[j].x += c * x.x - s * x.y; acc[j].y += c * x.y + s * x.x; float t = c * x.x - s * x.y; s = c * x.y + s * x.x; c = t; }
    }
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = acc[i];
}
extern "C" __global__ void dbl(const double* a, double* out, int n) {
    double acc[ZLEN];
    for (int i = 0; i < ZLEN; i++) acc[i] = 0;
    for (int k = 0; k < n; k++) {
        double x = a[k * 256 + threadIdx.x], y = x;
        UNROLL(UFAC) for (int j = 0; j < ZLEN; j++) { acc[j] += y; y *= x; }
    }
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = acc[i];
}
extern "C" __global__ void stack(const int* in, int* out, int n) {
    int s[ZLEN]; int top = 0, r = 0;
    for (int i = 0; i < n; i++) {
        int v = in[i * 256 + threadIdx.x];
        if ((v & 1) && top < ZLEN) s[top++] = v; else if (top > 0) r += s[--top] * 3;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = r;
}
extern "C" __global__ void poly(const float* c, const float* in, float* out, int n) {
    float k[ZLEN];
    for (int i = 0; i < ZLEN; i++) k[i] = c[i * 256 + threadIdx.x];
    for (int i = 0; i < n; i++) {
        float x = in[i * 256 + threadIdx.x], y = 0;
        UNROLL(UFAC) for (int j = 0; j < ZLEN; j++) y = y * x + k[j];
        out[i * 256 + threadIdx.x] = y;
    }
}
extern "C" __global__ void dist(const float* c, const float* in, float* out, int n) {
    float best[ZLEN], px[ZLEN];
    for (int i = 0; i < ZLEN; i++) { best[i] = 1e30f; px[i] = c[i * 256 + threadIdx.x]; }
    for (int i = 0; i < n; i++) {
        float x = in[2 * i], y = in[2 * i + 1];
        UNROLL(UFAC) for (int j = 0; j < ZLEN; j++) { float d = x - px[j]; d = sqrtf(d * d + y * y) / (1.0f + fabsf(d)); best[j] = fminf(best[j], expf(-d)); }
    }
    for (int i = 0; i < ZLEN; i++) out[(blockIdx.x * ZLEN + i) * blockDim.x + threadIdx.x] = best[i];
}
