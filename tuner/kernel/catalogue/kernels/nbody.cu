// Accelerations of n bodies: every body sums over all others, a shared tile of BLOCK_SIZE bodies at a time, which all
// threads read at the same address (broadcast). Bound by arithmetic and by the special-function unit (rsqrt).
extern "C" __global__ void nbody(const float* __restrict__ px, const float* __restrict__ py, const float* __restrict__ pz, const float* __restrict__ mass,
                                 float* __restrict__ ax, float* __restrict__ ay, float* __restrict__ az, int n) {
  __shared__ float tx[BLOCK_SIZE], ty[BLOCK_SIZE], tz[BLOCK_SIZE], tm[BLOCK_SIZE];
  int first = blockIdx.x * (BLOCK_SIZE * BODIES) + threadIdx.x;
  float x[BODIES], y[BODIES], z[BODIES], sx[BODIES], sy[BODIES], sz[BODIES];
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    int i = first + b * BLOCK_SIZE;
    x[b] = px[i]; y[b] = py[i]; z[b] = pz[i];
    sx[b] = sy[b] = sz[b] = 0.f;
  }
  for (int j0 = 0; j0 < n; j0 += BLOCK_SIZE) {
    int j = j0 + threadIdx.x;
    tx[threadIdx.x] = px[j]; ty[threadIdx.x] = py[j]; tz[threadIdx.x] = pz[j]; tm[threadIdx.x] = mass[j];
    __syncthreads();
#pragma unroll UNROLL
    for (int k = 0; k < BLOCK_SIZE; ++k) {
#pragma unroll
      for (int b = 0; b < BODIES; ++b) {
        float dx = tx[k] - x[b], dy = ty[k] - y[b], dz = tz[k] - z[b];
        float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float f = tm[k] * inv * inv * inv;
        sx[b] += f * dx; sy[b] += f * dy; sz[b] += f * dz;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    int i = first + b * BLOCK_SIZE;
    ax[i] = sx[b]; ay[i] = sy[b]; az[i] = sz[b];
  }
}
