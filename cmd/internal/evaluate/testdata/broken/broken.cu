// Kernels that are broken on purpose in one CTA, where: each KIND in another way. Otherwise
// out[i] = a[i] + b[n - 1 - i], by way of shared memory.
extern "C" __global__ void broken(const float* a, const float* b, float* out, int n, int where) {
  __shared__ float s[2 * BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  bool here = blockIdx.x == where;
  s[t] = a[i];
  float extra = 0.f;
#if KIND == 1  // a barrier is missing: a race in shared memory
  if (!here) __syncthreads();
  float v = s[t ^ 32];
#elif KIND == 4  // half of the threads come to another barrier
  if (here && t >= BLOCK / 2) asm volatile("bar.sync 1;");
  else __syncthreads();
  float v = s[t];
#else
  __syncthreads();
  float v = s[t ^ 32];
#endif
#if KIND == 2  // two threads store different values to one element
  if (here && t == BLOCK - 1) out[i - (BLOCK - 1)] = 1.f;
#elif KIND == 3  // so do threads of two CTAs
  if (here && t == 0) out[(i + BLOCK) % n] = -1.f;
#elif KIND == 5  // reads behind the end of a
  if (here && t == BLOCK - 1) extra = a[n + 3];
#elif KIND == 6  // reads before b
  if (here && t == 0) extra = b[-2];
#elif KIND == 7  // writes behind the end of out
  if (here && t == 7) out[n] = 2.f;
#elif KIND == 8 && BLOCK == 128 || KIND == 11 && BLOCK == 64  // computes something else
  if (here && t == 5) extra = 0.5f;
#elif KIND == 9  // reads shared memory that nobody wrote
  if (here && t == 9) extra = s[BLOCK + t];
#elif KIND == 10  // reads so far behind the end of a that it is another buffer
  if (here && t == 0) extra = a[2 * n];
#endif
  out[i] = v + b[n - 1 - i] + extra;
}
