// A stand-in for libcuda.so.1, for tests: device memory is the host's, and a kernel does
// what its name says. fill stores its third parameter to the elements of the buffer that is
// its first; names with
//   wrong    store something else
//   fault    end the context at the next synchronisation
//   hang     never end
//   liar     tell a tenth of the time
//   refused  are refused when they are loaded
//   launch   are refused when they are launched
//   crash    end the process
// With OLD it is of a driver from before clusters.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int32_t result;
enum { launch_us = 200 };

typedef struct { char name[128]; } function;
typedef struct { int count; function *f; uint64_t address; uint32_t n, value; uint32_t threads; } graph;

static result broken;             // every call answers it, once a kernel has faulted
static result pending;            // what the next synchronisation finds
static int hangs, lies;
static double gpu;                // microseconds: when the work so far has ended
static graph *capturing;
static graph captured;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * t.tv_sec + t.tv_nsec / 1e3;
}

static void execute(function *f, uint64_t address, uint32_t n, uint32_t value, uint32_t threads, int times) {
  if (gpu < now()) gpu = now();
  gpu += (double)launch_us * times;
  lies = strstr(f->name, "liar") != NULL;
  if (strstr(f->name, "crash")) abort();
  if (strstr(f->name, "fault")) pending = 700;
  if (strstr(f->name, "hang")) hangs = 1;
  if (strstr(f->name, "wrong")) value++;
  for (uint32_t i = 0; i < n && i < threads; i++) ((uint32_t *)address)[i] = value;
}

static result wait_all(void) {
  while (hangs) sleep(1);
  double left = gpu - now();
  if (left > 0) usleep((useconds_t)left);
  if (pending) { broken = pending; pending = 0; }
  return broken;
}

result cuInit(unsigned flags) { return getenv("STANDIN_INIT") ? atoi(getenv("STANDIN_INIT")) : 0; }
#ifdef OLD
result cuDriverGetVersion(int *v) { *v = 11040; return 0; }
#else
result cuDriverGetVersion(int *v) { *v = 13000; return 0; }
result cuFuncGetParamInfo(function *f, size_t i, size_t *offset, size_t *size) {
  static const size_t sizes[] = {8, 4, 4};
  if (i >= 3) return 1;
  *offset = i == 0 ? 0 : 4 + 4 * i;
  *size = sizes[i];
  return 0;
}
typedef struct { uint32_t grid[3], block[3], shared; void *stream, *attrs; uint32_t n; } config;
result cuLaunchKernel(function *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **params, void **extra);
result cuLaunchKernelEx(const config *c, function *f, void **params, void **extra) {
  if (c->n != 1 || *(uint32_t *)c->attrs != 4) return 1;
  return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, c->stream, params, extra);
}
#endif
result cuGetErrorName(result e, const char **s) {
  *s = e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : e == 100 ? "CUDA_ERROR_NO_DEVICE" : e == 218 ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
result cuGetErrorString(result e, const char **s) { *s = e == 700 ? "an illegal memory access was encountered" : "it failed"; return 0; }
result cuDeviceGetCount(int *n) { *n = 1; return 0; }
result cuDeviceGet(int *d, int i) { *d = i; return 0; }
result cuDeviceGetName(char *s, int n, int d) { snprintf(s, n, "Stand-in"); return 0; }
result cuDeviceGetPCIBusId(char *s, int n, int d) { snprintf(s, n, "0000:01:00.0"); return 0; }
result cuDeviceTotalMem_v2(size_t *n, int d) { *n = 42949672960; return 0; }
result cuDeviceGetAttribute(int *v, int a, int d) {
  *v = a == 16 ? 108 : a == 38 ? 1 << 20 : a == 75 ? 8 : a == 76 ? 0 : -1;
  return 0;
}
result cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)1; return 0; }
result cuCtxSetCurrent(void *c) { return 0; }
result cuCtxSynchronize(void) { return wait_all(); }
result cuMemGetInfo_v2(size_t *f, size_t *t) { *f = *t = 1 << 30; return broken; }
result cuMemAlloc_v2(uint64_t *a, size_t n) {
  if (broken) return broken;
  if (n > (size_t)1 << 30) return 2;
  *a = (uint64_t)malloc(n);
  return 0;
}
result cuMemFree_v2(uint64_t a) { free((void *)a); return broken; }
result cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { memcpy((void *)to, from, n); return broken; }
result cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { memcpy(to, (void *)from, n); return broken; }
result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s) { memcpy((void *)to, (void *)from, n); return broken; }
result cuMemsetD32Async(uint64_t to, uint32_t v, size_t n, void *s) { return broken; }
result cuModuleLoadDataEx(void **m, const void *image, unsigned n, const uint32_t *options, void **values) {
  if (broken) return broken;
  for (unsigned i = 0; i < n && strstr(image, "refused"); i++)
    if (options[i] == 5) snprintf(values[i], 64, "line 7: this is refused");
  *m = (void *)image;
  return strstr(image, "refused") ? 218 : 0;
}
result cuModuleUnload(void *m) { return broken; }
result cuModuleGetFunction(function **f, void *m, const char *name) {
  *f = malloc(sizeof **f);
  snprintf((*f)->name, sizeof (*f)->name, "%s", name);
  return broken;
}
result cuModuleGetGlobal_v2(uint64_t *a, size_t *n, void *m, const char *name) { return 500; }
result cuFuncGetAttribute(int *v, int a, function *f) { *v = a == 4 ? 17 : 0; return 0; }
result cuFuncSetAttribute(function *f, int a, int v) { return 0; }
result cuLaunchKernel(function *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **params, void **extra) {
  if (broken) return broken;
  if (strstr(f->name, "launch")) return 1;
  graph g = {1, f, *(uint64_t *)params[0], *(uint32_t *)params[1], *(uint32_t *)params[2], gx * bx};
  if (capturing) {
    g.count = capturing->count + 1;
    *capturing = g;
    return 0;
  }
  execute(f, g.address, g.n, g.value, g.threads, 1);
  return 0;
}
result cuStreamCreate(void **s, unsigned flags) { *s = (void *)2; return 0; }
result cuStreamSynchronize(void *s) { return wait_all(); }
result cuEventCreate(double **e, unsigned flags) { *e = malloc(sizeof **e); return 0; }
result cuEventRecord(double *e, void *s) { if (gpu < now()) gpu = now(); *e = gpu; return broken; }
result cuEventElapsedTime(float *ms, double *from, double *to) { *ms = (float)((*to - *from) / 1000 / (lies ? 10 : 1)); return broken; }
result cuStreamBeginCapture_v2(void *s, int mode) { memset(&captured, 0, sizeof captured); capturing = &captured; return broken; }
result cuStreamEndCapture(void *s, graph **g) {
  *g = malloc(sizeof **g);
  **g = captured;
  capturing = NULL;
  return broken;
}
result cuGraphInstantiateWithFlags(graph **e, graph *g, uint64_t flags) { *e = g; return broken; }
result cuGraphLaunch(graph *g, void *s) {
  execute(g->f, g->address, g->n, g->value, g->threads, g->count);
  return broken;
}
result cuGraphExecDestroy(graph *g) { return 0; }
result cuGraphDestroy(graph *g) { return 0; }
