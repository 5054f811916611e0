// tensor.cu - latency and rate of mma.sync by shape and types, alone, in one warp and
// many, and beside other instructions; latency and rate of ldmatrix and movmatrix.
#include "harness.cuh"

const int loops = 16, turns = 32; // products of a warp: loops * turns

// What one instruction reads and writes: registers of D and C, of A and of B.
#define MMA(NAME, SHAPE, ND, NA, NB)                                                   \
  struct NAME {                                                                        \
    static const int nd = ND, na = NA, nb = NB;                                        \
    static const char *name() { return SHAPE; }                                        \
    static __device__ __forceinline__ void run(unsigned *d, const unsigned *a, const unsigned *b) { CALL_##ND##_##NA##_##NB(SHAPE); } \
  }
#define CALL_4_4_2(S) asm volatile("mma.sync.aligned." S " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define CALL_4_2_1(S) asm volatile("mma.sync.aligned." S " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define CALL_2_4_2(S) asm volatile("mma.sync.aligned." S " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define CALL_2_2_1(S) asm volatile("mma.sync.aligned." S " {%0,%1}, {%2,%3}, {%4}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define CALL_2_1_1(S) asm volatile("mma.sync.aligned." S " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]))

MMA(F16K16, "m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2);
MMA(F16K8, "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1);
MMA(F32K16, "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2);
MMA(F32K8, "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1);
MMA(BF16K16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2);
MMA(BF16K8, "m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1);
MMA(TF32K8, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2);
MMA(TF32K4, "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1);
MMA(S8K32, "m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2);
MMA(S8K16, "m16n8k16.row.col.s32.s8.s8.s32", 4, 2, 1);
MMA(S8SATK32, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 4, 2);
MMA(S8N8, "m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1);
struct F64K4 {
  static const int nd = 4, na = 2, nb = 2; // one double of A and B, two of C and D
  static const char *name() { return "m8n8k4.row.col.f64.f64.f64.f64"; }
  static __device__ __forceinline__ void run(unsigned *d, const unsigned *a, const unsigned *b) {
    double *x = (double *)d;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(x[0]), "+d"(x[1]) : "d"(*(const double *)a), "d"(*(const double *)b));
  }
};

// BESIDE is how many instructions of another kind stand after each product.
enum Kind { NONE, FLOATS, PRODUCTS, INTEGERS, SHARED, ROOTS };
static const char *kindName[] = {"none", "ffma of three registers", "fmul", "lop3", "lds", "mufu"};

template <class M, int CHAINS, int KIND, int BESIDE> __global__ void __launch_bounds__(1024) products(Span *out, unsigned *sink, const unsigned *in) {
  __shared__ unsigned tile[1024];
  __align__(8) unsigned d[CHAINS][4], a[2][4], b[2][2];
  float f[8];
  unsigned w[8];
  tile[threadIdx.x] = in[threadIdx.x];
  for (int c = 0; c < CHAINS; c++)
    for (int i = 0; i < 4; i++) d[c][i] = in[threadIdx.x + c * 4 + i];
  for (int i = 0; i < 8; i++) a[i / 4][i % 4] = in[threadIdx.x + 64 + i], f[i] = in[threadIdx.x + 72 + i], w[i] = in[threadIdx.x + 80 + i];
  for (int i = 0; i < 4; i++) b[i / 2][i % 2] = in[threadIdx.x + 96 + i];
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 32);
  __syncthreads();
  long long begin = clock64();
#pragma unroll 1
  for (int l = 0; l < loops; l++)
#pragma unroll
    for (int c = 0; c < turns; c++) {
      M::run(d[c % CHAINS], a[c & 1], b[c >> 1 & 1]);
#pragma unroll
      for (int k = 0; k < BESIDE; k++) {
        int i = (c * BESIDE + k) & 7;
        if (KIND == FLOATS) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[i]) : "f"(f[(i + 1) & 7]), "f"(f[(i + 3) & 7]));
        if (KIND == PRODUCTS) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(f[i]) : "f"(f[(i + 1) & 7]));
        if (KIND == INTEGERS) asm volatile("xor.b32 %0, %0, %1;" : "+r"(w[i]) : "r"(w[(i + 1) & 7]));
        if (KIND == ROOTS) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));
        if (KIND == SHARED) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(w[i]) : "r"(at));
      }
    }
  long long end = clock64();
  unsigned x = 0;
  for (int c = 0; c < CHAINS; c++)
    for (int i = 0; i < 4; i++) x ^= d[c][i];
  for (int i = 0; i < 8; i++) x ^= (unsigned)f[i] ^ w[i];
  sink[threadIdx.x] = x;
  record(out, begin, end);
}

template <class M, int CHAINS, int KIND, int BESIDE> void rate(const char *name, int warps, Buffer<Span> &span, Buffer<unsigned> &memory) {
  for (int i = 0; i < 2; i++) products<M, CHAINS, KIND, BESIDE><<<1, warps * 32>>>(span.p, memory.p, memory.p + 1024);
  CHECK(cudaDeviceSynchronize());
  double t = cycles(span, warps);
  Params p = Params()("op", M::name())("warps", warps)("chains", CHAINS);
  if (KIND != NONE) p("beside", kindName[KIND])("each", double(BESIDE));
  if (warps == 1 && CHAINS == 1) emit("tensor.latency", p, t / (loops * turns), "cycles");
  else emit(name, p, double(warps) * loops * turns / t, "warp instructions/cycle/SM");
}

template <class M> void alone(Buffer<Span> &span, Buffer<unsigned> &memory) {
  rate<M, 1, NONE, 0>("tensor.rate", 1, span, memory);
  for (int warps : {1, 4, 8, 16, 32}) rate<M, 8, NONE, 0>("tensor.rate", warps, span, memory);
  for (int warps : {4, 8, 16}) rate<M, 1, NONE, 0>("tensor.rate", warps, span, memory);
  for (int warps : {1, 4, 8, 16}) rate<M, 2, NONE, 0>("tensor.rate", warps, span, memory);
  for (int warps : {1, 4, 8, 16}) rate<M, 4, NONE, 0>("tensor.rate", warps, span, memory);
}

template <int KIND> void beside(Buffer<Span> &span, Buffer<unsigned> &memory) {
  rate<F32K16, 8, KIND, 1>("tensor.beside", 16, span, memory);
  rate<F32K16, 8, KIND, 2>("tensor.beside", 16, span, memory);
  rate<F32K16, 8, KIND, 4>("tensor.beside", 16, span, memory);
  rate<F32K16, 8, KIND, 6>("tensor.beside", 16, span, memory);
  rate<F32K16, 8, KIND, 8>("tensor.beside", 16, span, memory);
  rate<F32K8, 8, KIND, 1>("tensor.beside", 16, span, memory);
  rate<F32K8, 8, KIND, 2>("tensor.beside", 16, span, memory);
  rate<F32K8, 8, KIND, 4>("tensor.beside", 16, span, memory);
  rate<F16K16, 8, KIND, 4>("tensor.beside", 16, span, memory);
}

// Matrices: rows of 16 bytes, PITCH bytes apart.
template <int N, bool TRANS> __device__ inline void matrices(unsigned *d, unsigned at) {
  if (N == 1 && !TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(at));
  if (N == 2 && !TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(at));
  if (N == 4 && !TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at));
  if (N == 1 && TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(at));
  if (N == 2 && TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(at));
  if (N == 4 && TRANS) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(at));
}

template <int N, bool TRANS, bool CHAIN> __global__ void __launch_bounds__(1024) loads(Span *out, unsigned *sink, unsigned pitch) {
  extern __shared__ unsigned tile[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) tile[i] = 0;
  __syncthreads();
  unsigned at = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x % 32 * pitch, d[4] = {}, sum = 0;
  matrices<N, TRANS>(d, at);
  long long begin = clock64();
#pragma unroll 1
  for (int l = 0; l < loops; l++)
#pragma unroll
    for (int c = 0; c < turns; c++) {
      matrices<N, TRANS>(d, CHAIN ? at + d[0] : at + c * 512); // ptxas does equal ones once
      if (!CHAIN) sum += d[0] + 3 * d[N - 1];
    }
  long long end = clock64();
  sink[threadIdx.x] = sum ^ d[0];
  record(out, begin, end);
}

template <int N, bool TRANS> void matrixLoads(Buffer<Span> &span, Buffer<unsigned> &memory) {
  for (int i = 0; i < 2; i++) loads<N, TRANS, true><<<1, 32, 32768>>>(span.p, memory.p, 16);
  CHECK(cudaDeviceSynchronize());
  emit("tensor.ldmatrix_latency", Params()("matrices", N)("trans", TRANS), cycles(span, 1) / (loops * turns), "cycles");
  for (int pitch : {16, 32, 64, 80, 128, 144}) {
    for (int i = 0; i < 2; i++) loads<N, TRANS, false><<<1, 512, 32768>>>(span.p, memory.p, pitch);
    CHECK(cudaDeviceSynchronize());
    emit("tensor.ldmatrix", Params()("matrices", N)("trans", TRANS)("pitch", pitch), cycles(span, 16) / (16.0 * loops * turns), "cycles/instruction/SM");
  }
}

// Transpositions in registers, of one word that each is of or of eight in turns.
template <int CHAINS> __global__ void __launch_bounds__(1024) transpositions(Span *out, unsigned *sink) {
  unsigned d[CHAINS];
  for (int c = 0; c < CHAINS; c++) d[c] = threadIdx.x + c;
  long long begin = clock64();
#pragma unroll 1
  for (int l = 0; l < loops; l++)
#pragma unroll
    for (int c = 0; c < turns; c++) asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(d[c % CHAINS]));
  long long end = clock64();
  unsigned x = 0;
  for (int c = 0; c < CHAINS; c++) x ^= d[c];
  sink[threadIdx.x] = x;
  record(out, begin, end);
}

void matrixMoves(Buffer<Span> &span, Buffer<unsigned> &memory) {
  for (int i = 0; i < 2; i++) transpositions<1><<<1, 32>>>(span.p, memory.p);
  CHECK(cudaDeviceSynchronize());
  emit("tensor.movmatrix_latency", Params(), cycles(span, 1) / (loops * turns), "cycles");
  for (int warps : {4, 8, 16, 32}) {
    for (int i = 0; i < 2; i++) transpositions<8><<<1, warps * 32>>>(span.p, memory.p);
    CHECK(cudaDeviceSynchronize());
    emit("tensor.movmatrix", Params()("warps", warps), double(warps) * loops * turns / cycles(span, warps), "warp instructions/cycle/SM");
  }
}

int main() {
  Device dev;
  Buffer<Span> span(64);
  Buffer<unsigned> memory(1 << 13);
  alone<F16K16>(span, memory), alone<F16K8>(span, memory), alone<F32K16>(span, memory), alone<F32K8>(span, memory);
  alone<BF16K16>(span, memory), alone<BF16K8>(span, memory), alone<TF32K8>(span, memory), alone<TF32K4>(span, memory);
  alone<S8K32>(span, memory), alone<S8K16>(span, memory), alone<S8SATK32>(span, memory), alone<S8N8>(span, memory), alone<F64K4>(span, memory);
  beside<FLOATS>(span, memory), beside<PRODUCTS>(span, memory), beside<INTEGERS>(span, memory), beside<SHARED>(span, memory), beside<ROOTS>(span, memory);
  matrixLoads<1, false>(span, memory), matrixLoads<2, false>(span, memory), matrixLoads<4, false>(span, memory);
  matrixLoads<1, true>(span, memory), matrixLoads<2, true>(span, memory), matrixLoads<4, true>(span, memory);
  matrixMoves(span, memory);
}
