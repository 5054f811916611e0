// atomics - global atomics that meet at one address, by operation: L2 applies
// an integer addition of a whole warp at once, other operations lane by lane.
#include "harness.cuh"

enum Op { ADD_U32, ADD_F32, ADD_F64, ADD_U64, MAX_U32, INC_U32, EXCH_B32, CAS_B32, OPS };
static const char *names[OPS] = {"add.u32", "add.f32", "add.f64", "add.u64", "max.u32", "inc.u32", "exch.b32", "cas.b32"};

template <int OP> __device__ void one(void *p) {
  unsigned v = 0;
  if (OP == ADD_U32) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
  if (OP == ADD_F32) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.f) : "memory");
  if (OP == ADD_F64) asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(1.) : "memory");
  if (OP == ADD_U64) asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(1ll) : "memory");
  if (OP == MAX_U32) asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p), "r"(threadIdx.x) : "memory");
  if (OP == INC_U32) asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1000000) : "memory");
  if (OP == EXCH_B32) asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(threadIdx.x) : "memory");
  if (OP == CAS_B32) asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "l"(p), "r"(0), "r"(threadIdx.x) : "memory");
}

// lanes of each warp take part; spread: 0 all at one address, 1 an address a warp
template <int OP> __global__ void meet(double *p, int lanes, int spread, int loops) {
  if (threadIdx.x % 32 >= lanes) return;
  double *at = p + (spread ? (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16 : 0);
  for (int i = 0; i < loops; i++) one<OP>(at);
}

template <int OP> void run(int sms, double *p) {
  for (int lanes : {1, 4, 32})
    for (int spread : {0, 1}) {
      const int ctas = sms * 4, threads = 256, loops = spread ? 128 : 16;
      double us = microseconds([&] { meet<OP><<<ctas, threads>>>(p, lanes, spread, loops); }, 1, 5);
      emit("atomic.meet", Params()("op", names[OP])("lanes", lanes)("where", spread ? "address_per_warp" : "one_address"),
           double(ctas) * threads / 32 * lanes * loops / us * 1e-3, "G lanes/s");
    }
}

int main() {
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  Buffer<double> p(size_t(1) << 22);
  run<ADD_U32>(prop.multiProcessorCount, p.p);
  run<ADD_F32>(prop.multiProcessorCount, p.p);
  run<ADD_F64>(prop.multiProcessorCount, p.p);
  run<ADD_U64>(prop.multiProcessorCount, p.p);
  run<MAX_U32>(prop.multiProcessorCount, p.p);
  run<INC_U32>(prop.multiProcessorCount, p.p);
  run<EXCH_B32>(prop.multiProcessorCount, p.p);
  run<CAS_B32>(prop.multiProcessorCount, p.p);
}
