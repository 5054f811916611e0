extern "C" __global__ void viterbi_step(const float *prev, const float *trans, const float *emit, float *next, int *from, int states, int seqs)
{
    int s = blockIdx.x * BX + threadIdx.x, q = blockIdx.y * BY + threadIdx.y;
    if (s >= states || q >= seqs) return;
    float best = -3.4e38f;
    int at = 0;
    for (int i = 0; i < states; i++) {
        float p = prev[q * states + i] + (BYROW ? trans[s * states + i] : trans[i * states + s]);
        if (p > best) { best = p; at = i; }
    }
    next[q * states + s] = best + emit[s];
    from[q * states + s] = at;
}
