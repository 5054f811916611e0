// warpgroup.cuh - wgmma, mbarrier, cluster and bulk-copy instructions of sm_90a for the microbenchmarks here.
// PTX ISA 8.0 and later, "Asynchronous warpgroup level matrix instructions", "mbarrier", "cp.async.bulk".
#pragma once
#include "harness.cuh"
#include <cstdint>
#include <cuda.h>
#include <cudaTypedefs.h>

#define DEVICE static __device__ __forceinline__

DEVICE uint32_t sharedAddress(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// ---- wgmma: D (64 x N, in registers) += A (64 x K) * B (K x N) ----
DEVICE void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEVICE void wgmmaWait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// A descriptor of a K-major operand: start, leading and stride offsets in units of 16 bytes, swizzle 0 none, 1 128 bytes, 2 64, 3 32.
DEVICE uint64_t matrixDescriptor(uint32_t at, int leading, int stride, int swizzle) {
  return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)swizzle << 62;
}

#define OPS4(C, i) C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3])
#define OPS8(C, i) OPS4(C, i), OPS4(C, i + 4)
#define OPS16(C, i) OPS8(C, i), OPS8(C, i + 8)
#define OPS32(C, i) OPS16(C, i), OPS16(C, i + 16)
#define OPS64(C, i) OPS32(C, i), OPS32(C, i + 32)
#define OPS96(C, i) OPS64(C, i), OPS32(C, i + 64)
#define OPS128(C, i) OPS64(C, i), OPS64(C, i + 64)

// WGMMA defines a struct of one instruction: its registers of D a thread, columns, bytes of a row of A and B that it reads, and
// the instruction with A from shared memory (shared) or from registers (registers).
#define WGMMA(NAME, SHAPE, TYPES, ACC, C, REGS, COLUMNS, LIST, A, B, R4, TAIL_S, TAIL_R)                                             \
  struct NAME {                                                                                                                    \
    typedef ACC Acc;                                                                                                               \
    static const int registers_of_d = REGS, columns = COLUMNS;                                                                     \
    static const char *name() { return SHAPE "." TYPES; }                                                                          \
    static __device__ __forceinline__ void shared(ACC *d, uint64_t a, uint64_t b) {                                                \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." SHAPE "." TYPES " {" LIST "}, " A ", " B    \
                   ", p" TAIL_S ";}" : OPS##REGS(C, 0) : "l"(a), "l"(b));                                                          \
    }                                                                                                                              \
    static __device__ __forceinline__ void registers(ACC *d, const unsigned *a, uint64_t b) {                                      \
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." SHAPE "." TYPES " {" LIST "}, " R4          \
                   ", p" TAIL_R ";}" : OPS##REGS(C, 0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                      \
    }                                                                                                                              \
  }
#define PLUS_F(x) "+f"(x)
#define PLUS_R(x) "+r"(x)
#define LIST4 "%0, %1, %2, %3"
#define LIST8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define LIST16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define LIST32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LIST64 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LIST96 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define LIST128 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
WGMMA(F16N8, "m64n8k16", "f32.f16.f16", float, PLUS_F, 4, 8, LIST4, "%4", "%5", "{%4, %5, %6, %7}, %8", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(F16N16, "m64n16k16", "f32.f16.f16", float, PLUS_F, 8, 16, LIST8, "%8", "%9", "{%8, %9, %10, %11}, %12", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(F16N32, "m64n32k16", "f32.f16.f16", float, PLUS_F, 16, 32, LIST16, "%16", "%17", "{%16, %17, %18, %19}, %20", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(F16N64, "m64n64k16", "f32.f16.f16", float, PLUS_F, 32, 64, LIST32, "%32", "%33", "{%32, %33, %34, %35}, %36", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(F16N128, "m64n128k16", "f32.f16.f16", float, PLUS_F, 64, 128, LIST64, "%64", "%65", "{%64, %65, %66, %67}, %68", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(F16N192, "m64n192k16", "f32.f16.f16", float, PLUS_F, 96, 192, LIST96, "%96", "%97", "{%96, %97, %98, %99}, %100", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(F16N256, "m64n256k16", "f32.f16.f16", float, PLUS_F, 128, 256, LIST128, "%128", "%129", "{%128, %129, %130, %131}, %132", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(BF16N64, "m64n64k16", "f32.bf16.bf16", float, PLUS_F, 32, 64, LIST32, "%32", "%33", "{%32, %33, %34, %35}, %36", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(BF16N256, "m64n256k16", "f32.bf16.bf16", float, PLUS_F, 128, 256, LIST128, "%128", "%129", "{%128, %129, %130, %131}, %132", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(HalfN64, "m64n64k16", "f16.f16.f16", unsigned, PLUS_R, 16, 64, LIST16, "%16", "%17", "{%16, %17, %18, %19}, %20", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(HalfN256, "m64n256k16", "f16.f16.f16", unsigned, PLUS_R, 64, 256, LIST64, "%64", "%65", "{%64, %65, %66, %67}, %68", ", 1, 1, 0, 0", ", 1, 1, 0");
WGMMA(E4M3N32, "m64n32k32", "f32.e4m3.e4m3", float, PLUS_F, 16, 32, LIST16, "%16", "%17", "{%16, %17, %18, %19}, %20", ", 1, 1", ", 1, 1");
WGMMA(E4M3N64, "m64n64k32", "f32.e4m3.e4m3", float, PLUS_F, 32, 64, LIST32, "%32", "%33", "{%32, %33, %34, %35}, %36", ", 1, 1", ", 1, 1");
WGMMA(E4M3N128, "m64n128k32", "f32.e4m3.e4m3", float, PLUS_F, 64, 128, LIST64, "%64", "%65", "{%64, %65, %66, %67}, %68", ", 1, 1", ", 1, 1");
WGMMA(E4M3N256, "m64n256k32", "f32.e4m3.e4m3", float, PLUS_F, 128, 256, LIST128, "%128", "%129", "{%128, %129, %130, %131}, %132", ", 1, 1", ", 1, 1");
WGMMA(TF32N64, "m64n64k8", "f32.tf32.tf32", float, PLUS_F, 32, 64, LIST32, "%32", "%33", "{%32, %33, %34, %35}, %36", ", 1, 1", ", 1, 1");
WGMMA(TF32N128, "m64n128k8", "f32.tf32.tf32", float, PLUS_F, 64, 128, LIST64, "%64", "%65", "{%64, %65, %66, %67}, %68", ", 1, 1", ", 1, 1");
WGMMA(TF32N256, "m64n256k8", "f32.tf32.tf32", float, PLUS_F, 128, 256, LIST128, "%128", "%129", "{%128, %129, %130, %131}, %132", ", 1, 1", ", 1, 1");
WGMMA(S8N256, "m64n256k32", "s32.s8.s8", unsigned, PLUS_R, 128, 256, LIST128, "%128", "%129", "{%128, %129, %130, %131}, %132", "", "");

// ---- mbarrier ----
DEVICE void barrierInit(uint32_t bar, uint32_t arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory"); }
DEVICE void barrierInitDone() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void barrierExpect(uint32_t bar, uint32_t bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"); }
DEVICE void barrierArrive(uint32_t bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
DEVICE void barrierArriveRemote(uint32_t bar) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory"); }
DEVICE bool barrierTry(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  return done;
}
DEVICE void barrierWait(uint32_t bar, uint32_t parity) {
  while (!barrierTry(bar, parity)) {
  }
}

// ---- clusters ----
DEVICE void clusterSync() { asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory"); }
DEVICE uint32_t clusterRank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
DEVICE uint32_t inCta(uint32_t address, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
  return r;
}

// ---- bulk copies ----
DEVICE void bulkLoad(uint32_t to, const void *from, uint32_t bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
DEVICE void bulkStore(void *to, uint32_t from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
DEVICE void bulkCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> DEVICE void bulkWait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
template <int N> DEVICE void bulkWaitRead() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
DEVICE void tileLoad(uint32_t to, const CUtensorMap *m, int x, int y, uint32_t bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(m), "r"(bar), "r"(x), "r"(y) : "memory");
}
DEVICE void tileLoadMulticast(uint32_t to, const CUtensorMap *m, int x, int y, uint32_t bar, unsigned short ctas) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(to), "l"(m), "r"(bar), "h"(ctas), "r"(x), "r"(y) : "memory");
}
DEVICE void tileStore(const CUtensorMap *m, uint32_t from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(m), "r"(from), "r"(x), "r"(y) : "memory");
}

// tensorMap describes rows of so many 2-byte elements, boxes of box_x by box_y of them.
inline CUtensorMap tensorMap(void *base, uint64_t columns, uint64_t rows, uint32_t box_x, uint32_t box_y, int swizzle) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
  }
  CUtensorMap m;
  cuuint64_t sizes[2] = {columns, rows}, strides[1] = {columns * 2};
  cuuint32_t box[2] = {box_x, box_y}, each[2] = {1, 1};
  CUresult r = encode(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, base, sizes, strides, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", r), exit(1);
  return m;
}
