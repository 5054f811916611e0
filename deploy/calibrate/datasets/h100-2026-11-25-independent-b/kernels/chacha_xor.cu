// ChaCha20: data combined with the key stream, 64 bytes to a counter; a block a thread, or (LANES 4) a column of it a lane and diagonals by shuffles; bytes turned by shifts or by permutations (PERM); a thread's words straight to memory, or (TURN) by way of shared memory so that a warp's lie together; PER blocks a thread.
#define COUNTERS (BLOCK / LANES)
#define ROL(x, n) ((x) << (n) | (x) >> (32 - (n)))
#if PERM
#define ROL16(x) __byte_perm(x, 0, 0x1032)
#define ROL8(x) __byte_perm(x, 0, 0x2103)
#else
#define ROL16(x) ROL(x, 16)
#define ROL8(x) ROL(x, 8)
#endif
#define QUARTER(a, b, c, d) (a += b, d ^= a, d = ROL16(d), c += d, b ^= c, b = ROL(b, 12), a += b, d ^= a, d = ROL8(d), c += d, b ^= c, b = ROL(b, 7))
__constant__ unsigned start[16];
extern "C" __global__ void __launch_bounds__(BLOCK) chacha_xor(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
#pragma unroll 1
  for (int e = 0; e < PER; ++e) {
    int first = (blockIdx.x * PER + e) * COUNTERS, counter = first + threadIdx.x / LANES;
#if LANES == 4
    int lane = threadIdx.x % 4;
    unsigned a0 = start[lane], b0 = start[4 + lane], c0 = start[8 + lane], d0 = start[12 + lane] + (lane == 0 ? counter : 0);
    unsigned a = a0, b = b0, c = c0, d = d0;
#pragma unroll UNROLL
    for (int r = 0; r < 10; ++r) {
      QUARTER(a, b, c, d);
      b = __shfl_sync(0xffffffffu, b, lane + 1 & 3, 4), c = __shfl_sync(0xffffffffu, c, lane + 2 & 3, 4), d = __shfl_sync(0xffffffffu, d, lane + 3 & 3, 4);
      QUARTER(a, b, c, d);
      b = __shfl_sync(0xffffffffu, b, lane + 3 & 3, 4), c = __shfl_sync(0xffffffffu, c, lane + 2 & 3, 4), d = __shfl_sync(0xffffffffu, d, lane + 1 & 3, 4);
    }
    size_t at = (size_t)counter * 16 + lane;
    out[at] = in[at] ^ (a + a0);
    out[at + 4] = in[at + 4] ^ (b + b0);
    out[at + 8] = in[at + 8] ^ (c + c0);
    out[at + 12] = in[at + 12] ^ (d + d0);
#else
    unsigned x[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] = start[k];
    x[12] += counter;
#pragma unroll UNROLL
    for (int r = 0; r < 10; ++r) {
      QUARTER(x[0], x[4], x[8], x[12]);
      QUARTER(x[1], x[5], x[9], x[13]);
      QUARTER(x[2], x[6], x[10], x[14]);
      QUARTER(x[3], x[7], x[11], x[15]);
      QUARTER(x[0], x[5], x[10], x[15]);
      QUARTER(x[1], x[6], x[11], x[12]);
      QUARTER(x[2], x[7], x[8], x[13]);
      QUARTER(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] += start[k];
    x[12] += counter;
#if TURN
    __shared__ unsigned tile[BLOCK][17];
    int warp = threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 16; ++k) tile[threadIdx.x][k] = x[k];
    __syncwarp();
    size_t at = (size_t)(first + warp) * 16 + lane;
#pragma unroll
    for (int k = 0; k < 16; ++k) out[at + k * 32] = in[at + k * 32] ^ tile[warp + k * 2 + lane / 16][lane % 16];
#else
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint4 q = ((const uint4*)in)[(size_t)counter * 4 + k];
      ((uint4*)out)[(size_t)counter * 4 + k] = make_uint4(q.x ^ x[4 * k], q.y ^ x[4 * k + 1], q.z ^ x[4 * k + 2], q.w ^ x[4 * k + 3]);
    }
#endif
#endif
  }
}
