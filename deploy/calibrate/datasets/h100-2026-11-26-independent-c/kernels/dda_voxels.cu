// Rays through a grid of voxels kept as bits, by the walk of Amanatides and Woo: from the eye through a pixel to the first full voxel, and from there towards the light. Bits lie along rows or in bricks of 4 by 4 by 2 (BRICK); the last word stays in a register until another is needed (KEEP); both walks are loops of their own or one loop (FUSED), so that lanes need not wait for one another; RAYS pixels a thread.
#define SIDE 256
__device__ __forceinline__ int where(int x, int y, int z) {
#if BRICK
  return ((z >> 1) * (SIDE / 4) + (y >> 2)) * (SIDE / 4) + (x >> 2);
#else
  return (z * SIDE + y) * (SIDE / 32) + (x >> 5);
#endif
}
__device__ __forceinline__ int bit(int x, int y, int z) {
#if BRICK
  return (z & 1) * 16 + (y & 3) * 4 + (x & 3);
#else
  return x & 31;
#endif
}
struct walk {
  int x, y, z, sx, sy, sz, word;
  float tx, ty, tz, dx, dy, dz, t;
  unsigned hold;
};
__device__ __forceinline__ void begin(walk& w, float ox, float oy, float oz, float vx, float vy, float vz) {
  w.x = (int)ox, w.y = (int)oy, w.z = (int)oz;
  w.sx = vx < 0.0f ? -1 : 1, w.sy = vy < 0.0f ? -1 : 1, w.sz = vz < 0.0f ? -1 : 1;
  w.dx = 1.0f / fmaxf(fabsf(vx), 1e-6f), w.dy = 1.0f / fmaxf(fabsf(vy), 1e-6f), w.dz = 1.0f / fmaxf(fabsf(vz), 1e-6f);
  w.tx = (vx < 0.0f ? ox - w.x : w.x + 1 - ox) * w.dx;
  w.ty = (vy < 0.0f ? oy - w.y : w.y + 1 - oy) * w.dy;
  w.tz = (vz < 0.0f ? oz - w.z : w.z + 1 - oz) * w.dz;
  w.t = 0.0f, w.word = -1, w.hold = 0;
}
// One step: 0 goes on, 1 a full voxel, 2 outside.
__device__ __forceinline__ int step(walk& w, const unsigned* __restrict__ grid) {
  if (w.tx < w.ty && w.tx < w.tz) w.x += w.sx, w.t = w.tx, w.tx += w.dx;
  else if (w.ty < w.tz) w.y += w.sy, w.t = w.ty, w.ty += w.dy;
  else w.z += w.sz, w.t = w.tz, w.tz += w.dz;
  if ((unsigned)(w.x | w.y | w.z) >= SIDE) return 2;
  int at = where(w.x, w.y, w.z);
#if KEEP
  if (at != w.word) w.hold = __ldg(grid + at), w.word = at;
  unsigned bits = w.hold;
#else
  unsigned bits = __ldg(grid + at);
#endif
  return bits >> bit(w.x, w.y, w.z) & 1u;
}
extern "C" __global__ void __launch_bounds__(BX * BY) dda_voxels(const unsigned* __restrict__ grid, float2* __restrict__ out, int wide, int high) {
  int px = blockIdx.x * BX + threadIdx.x;
  const float lx = 0.48f, ly = 0.6f, lz = -0.64f;
#pragma unroll 1
  for (int r = 0; r < RAYS; ++r) {
    int py = (blockIdx.y * RAYS + r) * BY + threadIdx.y, state;
    float vx = (px + 0.5f) / wide - 0.5f, vy = (py + 0.5f) / high - 0.5f, norm = rsqrtf(vx * vx + vy * vy + 1.0f), depth = -1.0f, dark = 0.0f;
    vx *= norm, vy *= norm;
    walk w;
    begin(w, 128.3f, 127.6f, 0.5f, vx, vy, norm);
#if FUSED
    bool second = false;
    for (;;) {
      state = step(w, grid);
      if (state == 0) continue;
      if (second) {
        dark = state == 1 ? 1.0f : 0.0f;
        break;
      }
      if (state == 2) break;
      depth = w.t, second = true;
      begin(w, w.x + 0.5f, w.y + 0.5f, w.z + 0.5f, lx, ly, lz);
    }
#else
    do state = step(w, grid);
    while (state == 0);
    if (state == 1) {
      depth = w.t;
      begin(w, w.x + 0.5f, w.y + 0.5f, w.z + 0.5f, lx, ly, lz);
      do state = step(w, grid);
      while (state == 0);
      dark = state == 1 ? 1.0f : 0.0f;
    }
#endif
    out[(size_t)py * wide + px] = make_float2(depth, dark);
  }
}
