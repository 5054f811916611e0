// A ray a thread against 32 spheres; hits are shaded, so that lanes part.
extern "C" __global__ void ray_spheres(const float4* __restrict__ s, float* __restrict__ out, int w, int h) {
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  float dx = (x - w / 2) / (float)w, dy = (y - h / 2) / (float)w, dz = 1.0f, l = rsqrtf(dx * dx + dy * dy + 1.0f);
  dx *= l; dy *= l; dz *= l;
  float best = 1e30f, shade = 0;
#pragma unroll UNROLL
  for (int k = 0; k < 32; ++k) {
    float4 q = s[k];
    float cx = q.x - 0.5f, cy = q.y - 0.5f, cz = q.z + 1.0f, r = 0.02f + 0.1f * q.w;
    float b = cx * dx + cy * dy + cz * dz, d = b * b - (cx * cx + cy * cy + cz * cz) + r * r;
    if (d > 0) {
      float t = b - sqrtf(d);
      if (t > 0 && t < best) {
        best = t;
        float nx = (t * dx - cx) / r, ny = (t * dy - cy) / r, nz = (t * dz - cz) / r;
        shade = fmaxf(0.0f, nx * 0.5f + ny * 0.7f - nz * 0.5f);
      }
    }
  }
  out[(size_t)y * w + x] = shade;
}
