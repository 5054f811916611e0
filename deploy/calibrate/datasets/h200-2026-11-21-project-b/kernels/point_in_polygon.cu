// Which points lie in a polygon of 600 vertices: POINTS points a thread, crossings counted three ways.
#define VERTICES 600
__constant__ float2 polygon[VERTICES];
extern "C" __global__ void point_in_polygon(const float2* __restrict__ points, int* __restrict__ inside, int n) {
  int base = blockIdx.x * (BLOCK * POINTS) + threadIdx.x;
  float2 p[POINTS];
  int c[POINTS];
#pragma unroll
  for (int k = 0; k < POINTS; ++k) {
    c[k] = 0;
    if (base + k * BLOCK < n) p[k] = points[base + k * BLOCK]; else p[k] = make_float2(0.0f, 0.0f);
  }
  float2 vk = polygon[VERTICES - 1];
  for (int j = 0; j < VERTICES; ++j) {
    float2 vj = polygon[j];
#if METHOD == 2
    float slope = (vk.x - vj.x) / (vk.y - vj.y);
#endif
#pragma unroll
    for (int k = 0; k < POINTS; ++k) {
#if METHOD == 0
      if ((vj.y > p[k].y) != (vk.y > p[k].y) && p[k].x < (vk.x - vj.x) * (p[k].y - vj.y) / (vk.y - vj.y) + vj.x) c[k] = !c[k];
#elif METHOD == 1
      if ((vj.y > p[k].y) != (vk.y > p[k].y)) {
        float d = (vk.x - vj.x) * (p[k].y - vj.y) - (p[k].x - vj.x) * (vk.y - vj.y);
        if ((d > 0) == (vk.y > vj.y)) c[k] ^= 1;
      }
#else
      c[k] ^= ((vj.y > p[k].y) != (vk.y > p[k].y)) & (p[k].x < slope * (p[k].y - vj.y) + vj.x);
#endif
    }
    vk = vj;
  }
#pragma unroll
  for (int k = 0; k < POINTS; ++k)
    if (base + k * BLOCK < n) inside[base + k * BLOCK] = c[k];
}
