// What host code beside kernels uses most, so that it can be read: it is for sources that cannot be
// compiled without it. It only has to be valid; none of it runs. What is missing is left out with the statement
// that names it.
#pragma once
#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#define WARPTUNE_HOST(R, NAME) template <class... _As> __host__ R NAME(_As &&...) { return (R)0; }
#define WARPTUNE_BOTH(R, NAME) template <class... _As> __host__ __device__ R NAME(_As &&...) { return (R)0; }

// What a kernel prints is left out.
WARPTUNE_BOTH(int, printf)
namespace std { using ::printf; }

extern "C" __host__ int cudaConfigureCall(dim3, dim3, size_t = 0, void * = 0);
extern "C" __host__ unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeNonPortableClusterSizeAllowed = 13 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming, cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaMemAttachGlobal = 1, cudaDeviceMapHost = 8, cudaDeviceScheduleAuto = 0, cudaSharedmemCarveoutMaxShared = 100 };
typedef struct CUstream_st *cudaStream_t, *CUstream;
typedef struct CUevent_st *cudaEvent_t, *CUevent;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUfunc_st *CUfunction, *cudaFunction_t;
typedef struct CUmod_st *CUmodule;
typedef struct CUctx_st *CUcontext;
typedef struct cudaArray *cudaArray_t;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
enum CUresult { CUDA_SUCCESS = 0 };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem, memPitch, textureAlignment;
  int regsPerBlock, regsPerMultiprocessor, maxThreadsPerBlock, maxThreadsPerMultiProcessor, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, major, minor,
      multiProcessorCount, maxBlocksPerMultiProcessor, concurrentKernels, cooperativeLaunch, canMapHostMemory, integrated, managedMemory, concurrentManagedAccess, unifiedAddressing, computeMode, deviceOverlap, asyncEngineCount, ECCEnabled, pciBusID, pciDeviceID;
};
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes; };
#define WARPTUNE_RUNTIME(NAME) WARPTUNE_HOST(cudaError_t, NAME)
WARPTUNE_RUNTIME(cudaMalloc) WARPTUNE_RUNTIME(cudaMallocManaged) WARPTUNE_RUNTIME(cudaMallocHost) WARPTUNE_RUNTIME(cudaHostAlloc) WARPTUNE_RUNTIME(cudaMallocPitch) WARPTUNE_RUNTIME(cudaMallocAsync)
WARPTUNE_RUNTIME(cudaFree) WARPTUNE_RUNTIME(cudaFreeHost) WARPTUNE_RUNTIME(cudaFreeAsync) WARPTUNE_RUNTIME(cudaMemcpy) WARPTUNE_RUNTIME(cudaMemcpyAsync) WARPTUNE_RUNTIME(cudaMemcpy2D) WARPTUNE_RUNTIME(cudaMemcpy2DAsync)
WARPTUNE_RUNTIME(cudaMemcpyToSymbol) WARPTUNE_RUNTIME(cudaMemcpyFromSymbol) WARPTUNE_RUNTIME(cudaMemcpyToSymbolAsync) WARPTUNE_RUNTIME(cudaGetSymbolAddress) WARPTUNE_RUNTIME(cudaMemset) WARPTUNE_RUNTIME(cudaMemsetAsync) WARPTUNE_RUNTIME(cudaMemset2D)
WARPTUNE_RUNTIME(cudaMemGetInfo) WARPTUNE_RUNTIME(cudaMemPrefetchAsync) WARPTUNE_RUNTIME(cudaMemAdvise) WARPTUNE_RUNTIME(cudaHostGetDevicePointer) WARPTUNE_RUNTIME(cudaHostRegister) WARPTUNE_RUNTIME(cudaHostUnregister)
WARPTUNE_RUNTIME(cudaDeviceSynchronize) WARPTUNE_RUNTIME(cudaThreadSynchronize) WARPTUNE_RUNTIME(cudaThreadExit) WARPTUNE_RUNTIME(cudaDeviceReset) WARPTUNE_RUNTIME(cudaSetDevice) WARPTUNE_RUNTIME(cudaGetDevice) WARPTUNE_RUNTIME(cudaGetDeviceCount)
WARPTUNE_RUNTIME(cudaGetDeviceProperties) WARPTUNE_RUNTIME(cudaDeviceGetAttribute) WARPTUNE_RUNTIME(cudaSetDeviceFlags) WARPTUNE_RUNTIME(cudaDeviceSetLimit) WARPTUNE_RUNTIME(cudaDeviceSetCacheConfig) WARPTUNE_RUNTIME(cudaDeviceSetSharedMemConfig)
WARPTUNE_RUNTIME(cudaDriverGetVersion) WARPTUNE_RUNTIME(cudaRuntimeGetVersion) WARPTUNE_RUNTIME(cudaGetLastError) WARPTUNE_RUNTIME(cudaPeekAtLastError) WARPTUNE_RUNTIME(cudaEventCreate) WARPTUNE_RUNTIME(cudaEventCreateWithFlags) WARPTUNE_RUNTIME(cudaEventRecord)
WARPTUNE_RUNTIME(cudaEventSynchronize) WARPTUNE_RUNTIME(cudaEventElapsedTime) WARPTUNE_RUNTIME(cudaEventDestroy) WARPTUNE_RUNTIME(cudaEventQuery) WARPTUNE_RUNTIME(cudaStreamCreate) WARPTUNE_RUNTIME(cudaStreamCreateWithFlags) WARPTUNE_RUNTIME(cudaStreamDestroy)
WARPTUNE_RUNTIME(cudaStreamSynchronize) WARPTUNE_RUNTIME(cudaStreamWaitEvent) WARPTUNE_RUNTIME(cudaFuncSetAttribute) WARPTUNE_RUNTIME(cudaFuncSetCacheConfig) WARPTUNE_RUNTIME(cudaFuncGetAttributes) WARPTUNE_RUNTIME(cudaLaunchKernel) WARPTUNE_RUNTIME(cudaLaunchCooperativeKernel)
WARPTUNE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor) WARPTUNE_RUNTIME(cudaOccupancyMaxPotentialBlockSize) WARPTUNE_RUNTIME(cudaProfilerStart) WARPTUNE_RUNTIME(cudaProfilerStop)
WARPTUNE_HOST(const char *, cudaGetErrorString) WARPTUNE_HOST(const char *, cudaGetErrorName)

// Of cuBLAS and its kin, the types that functions of the host take.
typedef struct cublasContext *cublasHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct curandGenerator_st *curandGenerator_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };

// Of C's library.
typedef struct warptune_FILE FILE;
extern FILE *stdin, *stdout, *stderr;
#define WARPTUNE_C(R, NAME) WARPTUNE_HOST(R, NAME) namespace std { using ::NAME; }
WARPTUNE_C(int, fprintf) WARPTUNE_C(int, sprintf) WARPTUNE_C(int, snprintf) WARPTUNE_C(int, puts) WARPTUNE_C(int, putchar) WARPTUNE_C(int, fputs) WARPTUNE_C(int, scanf) WARPTUNE_C(int, fscanf) WARPTUNE_C(int, sscanf) WARPTUNE_C(FILE *, fopen) WARPTUNE_C(int, fclose)
WARPTUNE_C(size_t, fread) WARPTUNE_C(size_t, fwrite) WARPTUNE_C(char *, fgets) WARPTUNE_C(int, fflush) WARPTUNE_C(int, fseek) WARPTUNE_C(long, ftell) WARPTUNE_C(void, exit) WARPTUNE_C(void, abort) WARPTUNE_C(int, atoi) WARPTUNE_C(double, atof) WARPTUNE_C(long, strtol)
WARPTUNE_C(int, rand) WARPTUNE_C(void, srand) WARPTUNE_C(long, time) WARPTUNE_C(void *, malloc) WARPTUNE_C(void *, calloc) WARPTUNE_C(void *, realloc) WARPTUNE_C(void, free) WARPTUNE_C(int, strcmp) WARPTUNE_C(int, strncmp) WARPTUNE_C(size_t, strlen)
WARPTUNE_C(char *, strcpy) WARPTUNE_C(char *, strcat) WARPTUNE_C(char *, strstr) WARPTUNE_C(char *, getenv) WARPTUNE_C(int, memcmp)
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647

// Of C++'s library, the types that functions of the host take, and structures hold: of the sizes that they have.
namespace std {
template <class _A, class... _As> struct vector {
  typedef _A value_type;
  template <class... _Bs> vector(_Bs &&...);
  vector(size_t, const _A &);
  _A *data() const, *begin() const, *end() const, &operator[](size_t) const, &at(size_t) const, &back() const, &front() const;
  size_t size() const;
  bool empty() const;
  template <class... _Bs> void push_back(_Bs &&...);
  template <class... _Bs> void emplace_back(_Bs &&...);
  template <class... _Bs> void resize(_Bs &&...);
  template <class... _Bs> void reserve(_Bs &&...);
  template <class... _Bs> void clear(_Bs &&...);
  template <class... _Bs> void assign(_Bs &&...);
  _A *_held[3];
};
struct string {
  template <class... _Bs> string(_Bs &&...);
  const char *c_str() const, *data() const;
  size_t size() const, length() const;
  bool empty() const;
  template <class _B> string &operator+=(const _B &);
  char *_held[4];
};
template <class _A> string operator+(const string &, const _A &);
template <class _A> bool operator==(const string &, const _A &);
template <class _A> string to_string(_A);
template <class _A> int stoi(const _A &);
struct ostream {
  template <class _A> ostream &operator<<(const _A &);
  ostream &operator<<(ostream &(*)(ostream &));
};
typedef ostream iostream, ofstream;
extern ostream cout, cerr, clog;
ostream &endl(ostream &);
}  // namespace std
