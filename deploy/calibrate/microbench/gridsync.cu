// gridsync.cu - barriers of the grid: time of a cooperative launch with n times grid.sync(), the median of 15, us, by CTAs
// and threads of each. A barrier takes the slope of n.
//   nvcc -O3 -std=c++17 -arch=native -o gridsync gridsync.cu && ./gridsync
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>
#include <algorithm>
namespace cg = cooperative_groups;
__global__ void k(int *x, int n) {
  cg::grid_group g = cg::this_grid();
  for (int i = 0; i < n; ++i) g.sync();
  x[blockIdx.x] = n;
}
int main() {
  int sms; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  int *x; cudaMalloc(&x, 1 << 20);
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
  for (int per : {1, 2, 4, 8}) for (int threads : {32, 128, 256}) for (int n : {0, 1, 11, 101}) {
    int grid = sms * per; void *args[] = {&x, &n};
    std::vector<float> t;
    for (int r = 0; r < 15; ++r) {
      cudaEventRecord(a);
      cudaError_t e = cudaLaunchCooperativeKernel((void *)k, dim3(grid), dim3(threads), args, 0, 0);
      cudaEventRecord(b); cudaEventSynchronize(b);
      float ms; cudaEventElapsedTime(&ms, a, b); if (e == cudaSuccess) t.push_back(ms * 1000);
    }
    if (t.empty()) continue;
    std::sort(t.begin(), t.end());
    printf("{\"name\": \"gridsync\", \"params\": {\"ctas\": %d, \"threads\": %d, \"n\": %d}, \"value\": %.3f, \"unit\": \"us\"}\n", grid, threads, n, t[t.size() / 2]);
  }
}
