#include <cuda_fp16.h>
extern "C" __global__ void half_dots(const __half *a, const __half *b, __half *out, int rows, int dim)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= rows) return;
#if PAIRS
    __half2 s = __float2half2_rn(0.0f);
    const __half2 *p = (const __half2 *)a, *q = (const __half2 *)b;
    for (int d = 0; d < dim / 2; d++) s = __hadd2(s, __hmul2(p[d * rows + i], q[d]));
    out[i] = __hadd(__low2half(s), __high2half(s));
#else
    __half s = __float2half(0.0f);
    for (int d = 0; d < dim; d++) s = __hadd(s, __hmul(a[d * rows + i], b[d]));
    out[i] = s;
#endif
}
