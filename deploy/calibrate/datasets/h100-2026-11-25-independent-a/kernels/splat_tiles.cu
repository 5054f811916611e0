// Gaussian splats blended front to back, a CTA a tile of 16x16 pixels with its sorted list, PER pixels a thread; BATCH splats at a time to shared memory (STAGE), or only their numbers; a CTA stops when all its pixels are opaque (VOTE).
#define THREADS (256 / PER)
extern "C" __global__ void splat_tiles(const int* __restrict__ start, const int* __restrict__ list, const float2* __restrict__ centre, const float4* __restrict__ conic, const float4* __restrict__ colour, float* __restrict__ image, int w, int h) {
  __shared__ int id[BATCH];
#if STAGE
  __shared__ float2 sp[BATCH];
  __shared__ float4 sq[BATCH], sc[BATCH];
#endif
  int t = threadIdx.y * 16 + threadIdx.x, tile = blockIdx.y * gridDim.x + blockIdx.x;
  float light[PER], r[PER], g[PER], b[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) light[p] = 1.0f, r[p] = g[p] = b[p] = 0.0f;
  int end = start[tile + 1];
  float px = threadIdx.x + 0.5f, py = threadIdx.y + 0.5f;
  bool done = false;
  for (int from = start[tile]; from < end; from += BATCH) {
    int most = min(BATCH, end - from);
#if VOTE
    if (__syncthreads_and(done)) break;
#else
    __syncthreads();
#endif
    for (int k = t; k < most; k += THREADS) {
      int i = list[from + k];
#if STAGE
      sp[k] = centre[i], sq[k] = conic[i], sc[k] = colour[i];
#endif
      id[k] = i;
    }
    __syncthreads();
    for (int k = 0; k < most && !done; ++k) {
#if STAGE
      float2 c = sp[k];
      float4 q = sq[k];
#else
      float2 c = centre[id[k]];
      float4 q = conic[id[k]];
#endif
      done = true;
#pragma unroll
      for (int p = 0; p < PER; ++p) {
        float dx = c.x - px, dy = c.y - (py + p * (16 / PER));
        float power = -0.5f * (q.x * dx * dx + q.z * dy * dy) - q.y * dx * dy;
        if (power <= 0.0f && light[p] > 0.0001f) {
#if FAST
          float alpha = fminf(0.99f, q.w * __expf(power));
#else
          float alpha = fminf(0.99f, q.w * expf(power));
#endif
          if (alpha >= 1.0f / 255.0f) {
#if STAGE
            float4 l = sc[k];
#else
            float4 l = colour[id[k]];
#endif
            float f = alpha * light[p];
            r[p] += f * l.x, g[p] += f * l.y, b[p] += f * l.z;
            light[p] *= 1.0f - alpha;
          }
        }
        done = done && light[p] <= 0.0001f;
      }
    }
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y + p * (16 / PER);
    if (x < w && y < h) {
      image[y * w + x] = r[p];
      image[(h + y) * w + x] = g[p];
      image[(2 * h + y) * w + x] = b[p];
    }
  }
}
