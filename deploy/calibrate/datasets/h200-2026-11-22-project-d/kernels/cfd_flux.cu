// Fluxes of an unstructured Euler solver (Rodinia's cfd): an element a thread gathers five variables of four neighbours, which lie up to SPAN elements before or behind it.
// LAYOUT 0: an array a variable, 1: five next to each other, 2: eight. Density and energy are stored less those at rest. FAST: approximate divisions and roots.
#define SPAN 2048
#define GAMMA 1.4f
#if FAST
__device__ __forceinline__ float over(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ float root(float a) { return a * rsqrtf(fmaxf(a, 1e-30f)); }
#else
__device__ __forceinline__ float over(float a, float b) { return a / b; }
__device__ __forceinline__ float root(float a) { return sqrtf(a); }
#endif
struct State { float density, x, y, z, energy; };
struct Derived { float vx, vy, vz, square, pressure, sound; };
__device__ __forceinline__ State load(const float* v, int i, int n) {
  State s;
#if LAYOUT == 0
  s.density = v[i], s.x = v[i + n], s.y = v[i + 2 * n], s.z = v[i + 3 * n], s.energy = v[i + 4 * n];
#elif LAYOUT == 1
  s.density = v[5 * i], s.x = v[5 * i + 1], s.y = v[5 * i + 2], s.z = v[5 * i + 3], s.energy = v[5 * i + 4];
#else
  float4 f = *(const float4*)(v + 8 * i);
  s.density = f.x, s.x = f.y, s.y = f.z, s.z = f.w, s.energy = v[8 * i + 4];
#endif
  s.density += 1.4f, s.energy += 3.508f;
  return s;
}
__device__ __forceinline__ Derived derive(const State& s) {
  Derived d;
  d.vx = over(s.x, s.density), d.vy = over(s.y, s.density), d.vz = over(s.z, s.density);
  d.square = d.vx * d.vx + d.vy * d.vy + d.vz * d.vz;
  d.pressure = (GAMMA - 1) * (s.energy - 0.5f * s.density * d.square);
  d.sound = root(over(GAMMA * d.pressure, s.density));
  return d;
}
extern "C" __global__ void cfd_flux(const int* __restrict__ neighbour, const float* __restrict__ normals, const float* __restrict__ variables, float* __restrict__ fluxes, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  State me = load(variables, i, n), f = {0, 0, 0, 0, 0};
  Derived d = derive(me);
  float speed = root(d.square);
#pragma unroll UNROLL
  for (int j = 0; j < 4; ++j) {
    int away = neighbour[i + j * n], nb = i + away - SPAN;
    float nx = normals[i + j * n], ny = normals[i + (j + 4) * n], nz = normals[i + (j + 8) * n];
    if (away < 4) { // a wall
      f.x += nx * d.pressure;
      f.y += ny * d.pressure;
      f.z += nz * d.pressure;
    } else if (nb >= 0 && nb < n) {
      State it = load(variables, nb, n);
      Derived e = derive(it);
      float length = root(nx * nx + ny * ny + nz * nz);
      float smooth = -length * 0.2f * 0.5f * (speed + root(e.square) + d.sound + e.sound);
      f.density += smooth * (me.density - it.density);
      f.energy += smooth * (me.energy - it.energy);
      f.x += smooth * (me.x - it.x);
      f.y += smooth * (me.y - it.y);
      f.z += smooth * (me.z - it.z);
      float gx = 0.5f * nx, gy = 0.5f * ny, gz = 0.5f * nz, he = it.energy + e.pressure, hd = me.energy + d.pressure;
      f.density += gx * (it.x + me.x) + gy * (it.y + me.y) + gz * (it.z + me.z);
      f.energy += gx * (e.vx * he + d.vx * hd) + gy * (e.vy * he + d.vy * hd) + gz * (e.vz * he + d.vz * hd);
      float xy = e.vx * it.y + d.vx * me.y, xz = e.vx * it.z + d.vx * me.z, yz = e.vy * it.z + d.vy * me.z, both = e.pressure + d.pressure;
      f.x += gx * (e.vx * it.x + d.vx * me.x + both) + gy * xy + gz * xz;
      f.y += gx * xy + gy * (e.vy * it.y + d.vy * me.y + both) + gz * yz;
      f.z += gx * xz + gy * yz + gz * (e.vz * it.z + d.vz * me.z + both);
    } else { // the far field: density 1.4, pressure 1, Mach 1.2 along x
      float gx = 0.5f * nx, gy = 0.5f * ny, gz = 0.5f * nz, hd = me.energy + d.pressure;
      f.density += gx * (1.68f + me.x) + gy * me.y + gz * me.z;
      f.energy += gx * (5.4096f + d.vx * hd) + gy * d.vy * hd + gz * d.vz * hd;
      f.x += gx * (3.016f + d.vx * me.x + d.pressure) + gy * d.vx * me.y + gz * d.vx * me.z;
      f.y += gx * d.vx * me.y + gy * (1 + d.vy * me.y + d.pressure) + gz * d.vy * me.z;
      f.z += gx * d.vx * me.z + gy * d.vy * me.z + gz * (1 + d.vz * me.z + d.pressure);
    }
  }
#if LAYOUT == 0
  fluxes[i] = f.density, fluxes[i + n] = f.x, fluxes[i + 2 * n] = f.y, fluxes[i + 3 * n] = f.z, fluxes[i + 4 * n] = f.energy;
#elif LAYOUT == 1
  fluxes[5 * i] = f.density, fluxes[5 * i + 1] = f.x, fluxes[5 * i + 2] = f.y, fluxes[5 * i + 3] = f.z, fluxes[5 * i + 4] = f.energy;
#else
  *(float4*)(fluxes + 8 * i) = make_float4(f.density, f.x, f.y, f.z);
  fluxes[8 * i + 4] = f.energy;
#endif
}
