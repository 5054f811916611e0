// Rays through a volume of bytes, front to back with samples between eight voxels, RAYS rays a thread one after another; a ray stops when little light is left (EARLY 1), looked at every UNROLL samples (2), or not (0).
extern "C" __global__ void volume_cast(const unsigned char* __restrict__ volume, float* __restrict__ image, int side, int w, int h, float opacity) {
  int x = blockIdx.x * block_size_x + threadIdx.x;
  const float dx = 0.36f, dy = 0.28f, dz = 0.889944f;
#pragma unroll 1
  for (int k = 0; k < RAYS; ++k) {
    int y = (blockIdx.y * RAYS + k) * block_size_y + threadIdx.y;
    if (x >= w || y >= h) continue;
    float ox = (x + 0.5f) * side / w - 0.2f * side, oy = (y + 0.5f) * side / h - 0.15f * side, oz = 0.25f;
    float t0 = fmaxf(0.0f, fmaxf(-ox / dx, -oy / dy)), t1 = fminf((side - 1 - oz) / dz, fminf((side - 1 - ox) / dx, (side - 1 - oy) / dy));
    int steps = (int)(t1 - t0);
    float light = 1.0f, sum = 0.0f;
#pragma unroll UNROLL
    for (int s = 0; s < steps; ++s) {
#if EARLY == 1
      if (light < 0.01f) break;
#elif EARLY == 2
      if (s % UNROLL == 0 && light < 0.01f) break;
#endif
      float t = t0 + s, fx = ox + t * dx, fy = oy + t * dy, fz = oz + t * dz;
      int ix = min(max((int)fx, 0), side - 2), iy = min(max((int)fy, 0), side - 2), iz = min(max((int)fz, 0), side - 2);
      fx -= ix, fy -= iy, fz -= iz;
      const unsigned char* v = volume + (iz * side + iy) * side + ix;
      const unsigned char* u = v + side * side;
      float a = v[0] + fx * (v[1] - v[0]), b = v[side] + fx * (v[side + 1] - v[side]), c = u[0] + fx * (u[1] - u[0]), d = u[side] + fx * (u[side + 1] - u[side]);
      a += fy * (b - a), c += fy * (d - c), a += fz * (c - a);
      float alpha = fmaxf(a * (1.0f / 255.0f) - 0.5f, 0.0f) * opacity;
      sum += light * alpha * a;
      light *= 1.0f - alpha;
    }
    image[y * w + x] = sum;
  }
}
