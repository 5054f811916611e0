// Boris push of charged particles sorted by cells: electric and magnetic field between the eight nodes around each, kept component by component (FIELDS 0), six (1) or eight numbers to a node (2); relativistic; particles by coordinate or as two float4 (QUADS), PER a thread a block's width apart.
#define SIDE 64
#define NODES (SIDE * SIDE * SIDE)
extern "C" __global__ void boris_push(const float* __restrict__ field, const float* __restrict__ in, float* __restrict__ out, int n, float qm, float dt) {
#pragma unroll
  for (int e = 0; e < PER; ++e) {
    int i = (blockIdx.x * PER + e) * BLOCK + threadIdx.x;
    if (i >= n) return;
    float x, y, z, ux, uy, uz;
#if QUADS
    float4 a = ((const float4*)in)[2 * i], b = ((const float4*)in)[2 * i + 1];
    x = a.x, y = a.y, z = a.z, ux = b.x, uy = b.y, uz = b.z;
#else
    x = in[i], y = in[n + i], z = in[2 * n + i], ux = in[3 * n + i], uy = in[4 * n + i], uz = in[5 * n + i];
#endif
    // Cells lie one after another: eight particles to each.
    int cell = i / 8;
    x = x * 0.999f + (cell & (SIDE - 1)), y = y * 0.999f + (cell / SIDE & (SIDE - 1)), z = z * 0.999f + (cell / (SIDE * SIDE) & (SIDE - 1));
    int ix = (int)x, iy = (int)y, iz = (int)z;
    float fx = x - ix, fy = y - iy, fz = z - iz, f[6];
#pragma unroll
    for (int k = 0; k < 6; ++k) f[k] = 0.0f;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      int dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
      int node = ((iz + dz & (SIDE - 1)) * SIDE + (iy + dy & (SIDE - 1))) * SIDE + (ix + dx & (SIDE - 1));
      float w = (dx ? fx : 1.0f - fx) * (dy ? fy : 1.0f - fy) * (dz ? fz : 1.0f - fz);
#if FIELDS == 0
#pragma unroll
      for (int k = 0; k < 6; ++k) f[k] += w * field[k * NODES + node];
#elif FIELDS == 1
#pragma unroll
      for (int k = 0; k < 6; k += 2) {
        float2 q = *(const float2*)(field + node * 6 + k);
        f[k] += w * q.x, f[k + 1] += w * q.y;
      }
#else
      float4 p = *(const float4*)(field + node * 8), q = *(const float4*)(field + node * 8 + 4);
      f[0] += w * p.x, f[1] += w * p.y, f[2] += w * p.z, f[3] += w * q.x, f[4] += w * q.y, f[5] += w * q.z;
#endif
    }
    float h = 0.5f * qm * dt;
    ux += h * f[0], uy += h * f[1], uz += h * f[2];
    float g = h * rsqrtf(1.0f + ux * ux + uy * uy + uz * uz);
    float tx = g * f[3], ty = g * f[4], tz = g * f[5], s = 2.0f / (1.0f + tx * tx + ty * ty + tz * tz);
    float px = ux + uy * tz - uz * ty, py = uy + uz * tx - ux * tz, pz = uz + ux * ty - uy * tx;
    ux += s * (py * tz - pz * ty) + h * f[0], uy += s * (pz * tx - px * tz) + h * f[1], uz += s * (px * ty - py * tx) + h * f[2];
    g = dt * rsqrtf(1.0f + ux * ux + uy * uy + uz * uz);
    x += g * ux, y += g * uy, z += g * uz;
#if QUADS
    ((float4*)out)[2 * i] = make_float4(x, y, z, 1.0f);
    ((float4*)out)[2 * i + 1] = make_float4(ux, uy, uz, g);
#else
    out[i] = x, out[n + i] = y, out[2 * n + i] = z, out[3 * n + i] = ux, out[4 * n + i] = uy, out[5 * n + i] = uz;
#endif
  }
}
