// Compiled with clang 19 to what testdata/clang-*.ptx holds:
// clang++ -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 \
//   -Xclang -target-feature -Xclang +ptx63 -O0 or -O3 -S, with the device header
// that the compile driver uses.
#include "minicuda.h"
struct Pair { float a; int b; double c; };
struct Big { float v[6]; short s; char c; };
__device__ float table[4] = {1.f,2.f,3.f,4.f};
__device__ float *ptrs[2] = {table, table+2};
__constant__ int lut[16];
__device__ __noinline__ float sq(float x, int n) { float r = 1; for (int i=0;i<n;i++) r*=x; return r; }
__device__ __noinline__ Pair mk(float x, int n) { Pair p; p.a = x*2; p.b = n+1; p.c = x; return p; }
__device__ __noinline__ float bigsum(Big b, int i) { float s=0; for (int k=0;k<6;k++) s+=b.v[k]; return s*b.s+b.c + b.v[i%6]; }
__device__ __noinline__ signed char schar(signed char c, unsigned char d, bool e, short s) { return e ? c : (signed char)(d+s); }
__device__ __noinline__ int sw(int x) { switch (x) { case 0: return 17; case 1: return lut[3]; case 2: return lut[x+4]*3; case 3: return -1; case 4: return lut[0]; case 5: return lut[1]^x; case 6: return 99; case 7: return lut[7]%5; default: return x; } }
__device__ __noinline__ int nested(int a) { return sw(a) + sw(a+1); }
__device__ int sharedCount() { __shared__ int c[33]; c[threadIdx.x%33] = threadIdx.x; __syncthreads(); return c[(threadIdx.x*7)%33]; }
extern "C" __global__ void calls(float *o, const Pair *in, Big big, int n) {
  int i = blockIdx.x*blockDim.x+threadIdx.x;
  if (i >= n) return;
  Pair p = mk(o[i], i);
  float s = sq(p.a, p.b) + (float)p.c + bigsum(big, i);
  s += nested(i&7) + schar((signed char)i, 3, i&1, 7) + sharedCount();
  Big c = big; c.v[i%6] = 4; c.s = i;
  o[i] = s + in[i].a + bigsum(c, 2) + table[i&3] + *ptrs[i&1];
}
extern "C" __global__ void localarr(int *o, int n) {
  int a[16]; for (int k=0;k<16;k++) a[k] = o[k*n+threadIdx.x];
  int s = 0; for (int k=0;k<n;k++) s += a[(k*s+o[k]) & 15];
  o[threadIdx.x] = s;
}
extern "C" __global__ void ints(unsigned long long *o, unsigned a, unsigned b, long long c, short h) {
  unsigned long long x = (unsigned long long)a*b; 
  o[0] = x + __builtin_popcount(a) + __builtin_clz(b|1) + __builtin_popcountll(c) + __builtin_clzll(c|1);
  o[1] = (a << 7 | a >> 25) + (b / 7) + (c / 11) + (c % 13) + (a % 10u);
  o[2] = (unsigned)((int)a >> 3) + h*3 + (short)(h/5); o[3] = c < 0 ? -c : c; o[4]= a>b?a:b; o[5] = ((long long)(int)a*(int)b)>>32;
  o[6] = __builtin_bswap32(a) + __builtin_bitreverse32(b); o[7] = (unsigned char)a + (signed char)b; o[8] = ((unsigned __int128)x*c)>>64;
}
extern "C" __global__ void dbl(double *o, float *f, int n) {
  int i = threadIdx.x; double d = o[i]; 
  o[i] = d*d + d/3.0 + __builtin_sqrt(d) + (double)f[i] + n; f[i] = (float)d + (int)d + (unsigned)f[i] + (long long)d;
  f[i+1] = __builtin_floorf(f[i]) + __builtin_ceilf(d) + __builtin_truncf(f[i+2]) + __builtin_rintf(f[i+3]) + __builtin_fabsf(d)+ __builtin_copysignf(f[i+9], f[i+8]) + (__builtin_isnan(f[i]) ? 1 : 2) + __builtin_fmaxf(f[1],f[2]) + f[i]/f[i+2] + __builtin_sqrtf(f[i]);
}
extern "C" __global__ void atom(int *o, float *f, unsigned long long *u, double *d) {
  __shared__ int s[32];
  __nvvm_atom_add_gen_f(f, 1.f); __nvvm_atom_add_gen_d(d, 1.0);
  o[1] = __sync_fetch_and_add(o, 3); __sync_fetch_and_max(o+2, 4); __sync_fetch_and_xor(o+1, 9); u[3] = __sync_val_compare_and_swap(u, 1ull, 2ull);
  __sync_fetch_and_add(&s[threadIdx.x], 1); __syncthreads(); o[7] = s[3]; __sync_lock_test_and_set(o+6, 1);
  __nvvm_membar_gl(); __nvvm_membar_cta(); __nvvm_membar_sys();
  o[9] = __nvvm_vote_ballot_sync(-1, o[3] > 1) + __nvvm_vote_any_sync(-1, o[4]) + __nvvm_vote_all_sync(-1,o[2]);
  o[10] = __nvvm_shfl_sync_idx_i32(-1, o[1], 3, 31) + __nvvm_shfl_sync_bfly_i32(-1, o[2], 16, 31) + __nvvm_match_any_sync_i32(-1, o[2]);
  o[11] = __nvvm_bar0_popc(o[3]) + __nvvm_bar0_and(o[4]) + __nvvm_bar0_or(o[5]);
  __nvvm_barrier_sync(1); __nvvm_barrier_sync_cnt(2, 64); __nvvm_bar_warp_sync(-1);
  volatile int *v = o; v[3] = v[4]; *(volatile int *)s = 3;
}
typedef _Float16 half; typedef half half2 __attribute__((ext_vector_type(2))); 
extern "C" __global__ void halfs(half *o, half2 *p, float *f) { int i = threadIdx.x; o[i] = o[i]*o[i+1]+(half)2.5f; p[i] = p[i]*p[i+1]+p[i+2]; f[i] = o[i] + p[i].x; o[3] = (half)f[7]; o[9] = o[i] < o[i+1] ? o[2] : -o[i]; o[10] = (half)(int)f[3]; f[2] = (int)o[11]; }
extern "C" __global__ void dyn(float *o) { extern __shared__ float sm[]; __shared__ float st[5]; sm[threadIdx.x] = o[threadIdx.x]; st[threadIdx.x&3]=1; __syncthreads(); o[threadIdx.x] = sm[threadIdx.x^1]+st[1]; }
extern "C" __global__ __launch_bounds__(128, 3) void bounds(int *o) { o[threadIdx.x] = (int)clock64(); }
template <class T> __global__ void tmpl(T *o) { o[threadIdx.x] += T(1); }
template __global__ void tmpl<float>(float*); template __global__ void tmpl<unsigned char>(unsigned char*);
