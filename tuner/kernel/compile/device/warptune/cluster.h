// Clusters of thread blocks (sm_90): barriers, ranks, and addresses in the shared memory of other blocks.
#pragma once
#if __CUDA_ARCH__ >= 900
WARPTUNE_FN void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
WARPTUNE_FN void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
WARPTUNE_FN void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
#define WARPTUNE_CLUSTER_REGISTER(NAME, PTX) \
  WARPTUNE_FN unsigned NAME() { unsigned r; asm("mov.u32 %0, %%" PTX ";" : "=r"(r)); return r; }
#define WARPTUNE_CLUSTER_DIM(NAME, PTX)               \
  WARPTUNE_CLUSTER_REGISTER(warptune_##NAME##X, PTX ".x") \
  WARPTUNE_CLUSTER_REGISTER(warptune_##NAME##Y, PTX ".y") \
  WARPTUNE_CLUSTER_REGISTER(warptune_##NAME##Z, PTX ".z") \
  WARPTUNE_FN dim3 __##NAME() { return dim3(warptune_##NAME##X(), warptune_##NAME##Y(), warptune_##NAME##Z()); }
WARPTUNE_CLUSTER_DIM(clusterDim, "cluster_nctaid")
WARPTUNE_CLUSTER_DIM(clusterRelativeBlockIdx, "cluster_ctaid")
WARPTUNE_CLUSTER_DIM(clusterGridDimInClusters, "nclusterid")
WARPTUNE_CLUSTER_DIM(clusterIdx, "clusterid")
WARPTUNE_CLUSTER_REGISTER(__clusterRelativeBlockRank, "cluster_ctarank")
WARPTUNE_CLUSTER_REGISTER(__clusterSizeInBlocks, "cluster_nctarank")
#undef WARPTUNE_CLUSTER_DIM
#undef WARPTUNE_CLUSTER_REGISTER
WARPTUNE_FN void *__cluster_map_shared_rank(const void *p, unsigned rank) {
  void *r;
  asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
  return r;
}
WARPTUNE_FN unsigned __cluster_query_shared_rank(const void *p) {
  unsigned r;
  asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(p));
  return r;
}
#endif
