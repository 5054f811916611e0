// Rays through a binary tree of boxes kept as a heap, node k above nodes 2k and 2k+1, down to leaves with a small sphere or none: the nearest hit of each pixel. The nearer child comes first, the farther waits on a stack in local (STACK 0) or shared memory (1), with the distance to its box or without (KEEPT), or as a bit of a trail by which the heap is climbed again (2). The tree's first 256 nodes may lie in shared memory (TOP); one loop for nodes and leaves alike, or one that goes down to a leaf first (LOOP).
#define LEAVES 32768
#define DEPTH 15
#define THREADS (BX * BY)
#define TOPS 256
struct ray {
  float ox, oy, oz, vx, vy, vz, ix, iy, iz;
};
__device__ __forceinline__ float enter(const ray& r, float4 lo, float4 hi, float best) {
  float ax = (lo.x - r.ox) * r.ix, bx = (hi.x - r.ox) * r.ix, ay = (lo.y - r.oy) * r.iy, by = (hi.y - r.oy) * r.iy, az = (lo.z - r.oz) * r.iz, bz = (hi.z - r.oz) * r.iz;
  float in = fmaxf(fmaxf(fminf(ax, bx), fminf(ay, by)), fmaxf(fminf(az, bz), 0.0f));
  float out = fminf(fminf(fmaxf(ax, bx), fmaxf(ay, by)), fminf(fmaxf(az, bz), best));
  return in <= out ? in : 3e38f;
}
__device__ __forceinline__ float turned(float v) { return 1.0f / (fabsf(v) < 1e-6f ? 1e-6f : v); }
extern "C" __global__ void __launch_bounds__(THREADS) bvh_rays(const float4* __restrict__ box, const float4* __restrict__ sphere, float2* __restrict__ out, int wide, int high) {
  extern __shared__ __align__(16) unsigned char raw[];
  int t = threadIdx.y * BX + threadIdx.x, px = blockIdx.x * BX + threadIdx.x, py = blockIdx.y * BY + threadIdx.y;
#if TOP
  float4* top = (float4*)raw;
  for (int k = t; k < 2 * TOPS; k += THREADS) top[k] = box[k];
  __syncthreads();
#endif
#if STACK == 0
  int node[DEPTH];
#if KEEPT
  float dist[DEPTH];
#endif
#define NODE(s) node[s]
#define DIST(s) dist[s]
#elif STACK == 1
  int* node = (int*)(raw + TOP * TOPS * 32) + t;
#if KEEPT
  float* dist = (float*)(node + DEPTH * THREADS);
#endif
#define NODE(s) node[(s) * THREADS]
#define DIST(s) dist[(s) * THREADS]
#endif
#if STACK < 2
  int held = 0;
#else
  unsigned trail = 0;
#endif
  ray r;
  r.ox = 15.7f, r.oy = 16.2f, r.oz = -20.0f;
  r.vx = (px + 0.5f) / wide - 0.5f, r.vy = (py + 0.5f) / high - 0.5f;
  r.vz = rsqrtf(fmaf(r.vx, r.vx, fmaf(r.vy, r.vy, 1.0f)));
  r.vx *= r.vz, r.vy *= r.vz;
  r.ix = turned(r.vx), r.iy = turned(r.vy), r.iz = turned(r.vz);
  float best = 1e30f;
  int k = enter(r, __ldg(box + 2), __ldg(box + 3), best) < best ? 1 : 0, hit = -1;
#pragma unroll 1
  while (k) {
    bool back = false;
#if LOOP == 0
#pragma unroll 1
    while (k < LEAVES)
#else
    if (k < LEAVES)
#endif
    {
      float4 l0, h0, l1, h1;
#if TOP
      if (k < TOPS / 2)
        l0 = top[4 * k], h0 = top[4 * k + 1], l1 = top[4 * k + 2], h1 = top[4 * k + 3];
      else
#endif
        l0 = __ldg(box + 4 * k), h0 = __ldg(box + 4 * k + 1), l1 = __ldg(box + 4 * k + 2), h1 = __ldg(box + 4 * k + 3);
      float a = enter(r, l0, h0, best), b = enter(r, l1, h1, best);
      bool ina = a < 1e30f, inb = b < 1e30f;
      k *= 2;
      back = false;
      if (ina && inb) {
        k += b < a;
#if STACK == 2
        trail = trail * 2 + 1;
#else
        NODE(held) = k ^ 1;
#if KEEPT
        DIST(held) = fmaxf(a, b);
#endif
        ++held;
#endif
      } else if (ina || inb) {
        k += inb;
#if STACK == 2
        trail *= 2;
#endif
      } else {
#if STACK == 2
        k /= 2;
#endif
        back = true;
#if LOOP == 0
        break;
#endif
      }
    }
#if LOOP == 0
    if (!back)
#else
    else
#endif
    {
      float4 s = __ldg(sphere + k - LEAVES), lo = __ldg(box + 2 * k);
      float size = s.w - 0.7f;
      if (size > 0.0f) {
        float x = lo.x + fmaf(0.4f, s.x, 0.3f) - r.ox, y = lo.y + fmaf(0.4f, s.y, 0.3f) - r.oy, z = lo.z + fmaf(0.4f, s.z, 0.3f) - r.oz;
        float along = fmaf(x, r.vx, fmaf(y, r.vy, z * r.vz)), cx = fmaf(-along, r.vx, x), cy = fmaf(-along, r.vy, y), cz = fmaf(-along, r.vz, z);
        float in = size * size - fmaf(cx, cx, fmaf(cy, cy, cz * cz));
        if (in > 0.0f) {
          float d = along - sqrtf(in);
          if (d < best) best = d, hit = k - LEAVES;
        }
      }
      back = true;
    }
    if (back) {
#if STACK == 2
      if (trail == 0)
        k = 0;
      else {
        int up = __ffs(trail) - 1;
        k = k >> up ^ 1;
        trail = trail >> up ^ 1u;
      }
#elif KEEPT
      k = 0;
      while (held > 0 && k == 0) {
        --held;
        if (DIST(held) < best) k = NODE(held);
      }
#else
      k = held > 0 ? NODE(--held) : 0;
#endif
    }
  }
  out[(size_t)py * wide + px] = make_float2(best, (float)hit);
}
