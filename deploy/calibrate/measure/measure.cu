// measure times configurations: each line of the file given is a job
//   id cubin entry gx gy gz bx by bz dynamic_smem carve_out n_args ARGS...
// with ARGS "s TYPE BITS" (scalar), "b TYPE COUNT RANDOM VALUE NAME" (buffer) or
// "c ..." (a __constant__ variable), and its output a line
//   id median min max launches registers local_bytes shared_bytes
// in microseconds a launch, or with a second argument "count" a line
//   id ok
// after two launches, of which Nsight Compute sees the second (--profile-from-start off). Buffers and variables are filled by element index, RANDOM
// ones in [0, VALUE), those of RANDOM 2 with the contents of the file that follows NAME.
#include <cuda.h>
#include <cuda_fp16.h>
#include <iterator>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <fstream>
#include <sstream>
#include <algorithm>
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#define CK(x) do{CUresult r=(x); if(r){const char*s;cuGetErrorString(r,&s);fprintf(stderr,"%s: %s line %d\n",#x,s,__LINE__);ok=false;}}while(0)
__device__ unsigned hsh(unsigned long long x){x^=x>>33;x*=0xff51afd7ed558ccdULL;x^=x>>33;x*=0xc4ceb9fe1a85ec53ULL;x^=x>>33;return (unsigned)(x>>32);}
__global__ void fill(void*p,long long n,int kind,double v,char t){ // t: f float, i int32 or uint32, b uint8, d double, h half, l int64
  for(long long i=blockIdx.x*(long long)blockDim.x+threadIdx.x;i<n;i+=(long long)gridDim.x*blockDim.x){
    double u=hsh(i*0x9E3779B97F4A7C15ULL+12345)/4294967296.0; double x=kind?u*v:v;
    if(t=='f')((float*)p)[i]=(float)x; else if(t=='i')((int*)p)[i]=(int)(long long)x; else if(t=='b')((unsigned char*)p)[i]=(unsigned char)x; else if(t=='h')((__half*)p)[i]=__float2half((float)x); else if(t=='l')((long long*)p)[i]=(long long)x; else ((double*)p)[i]=x; }}
struct Arg{char k;char t;unsigned long long bits;long long n;int fk;double v;std::string name,file;};
static size_t bytes(char t){return t=='b'?1:t=='h'?2:t=='d'||t=='l'?8:4;}
static bool fillFrom(const Arg&x,CUdeviceptr p){ // false: the file has another size
  if(x.fk!=2){fill<<<1024,256>>>((void*)p,x.n,x.fk,x.v,x.t);return true;}
  std::ifstream d(x.file,std::ios::binary);std::vector<char> v{std::istreambuf_iterator<char>(d),{}};
  if(v.size()!=x.n*bytes(x.t)){fprintf(stderr,"%s: %zu bytes\n",x.file.c_str(),v.size());return false;}
  return !cuMemcpyHtoD(p,v.data(),v.size());}
int main(int c,char**a){
  cudaFree(0); std::ifstream in(a[1]); std::string line; std::string prev; std::vector<CUdeviceptr> bufs;
  while(std::getline(in,line)){
    bool ok=true; std::istringstream s(line); int id; std::string cubin,entry; int g[3],b[3],dyn,carve,na; s>>id>>cubin>>entry>>g[0]>>g[1]>>g[2]>>b[0]>>b[1]>>b[2]>>dyn>>carve>>na;
    std::vector<Arg> A(na); std::string key;
    for(auto&x:A){s>>x.k>>x.t; if(x.k=='s'){s>>x.bits;} else {s>>x.n>>x.fk>>x.v>>x.name; if(x.fk==2)s>>x.file; char q[200];snprintf(q,200,"%c%c%lld,%d,%g;",x.k,x.t,x.n,x.fk,x.v);key+=q;key+=x.name;key+=x.file;}}
    CUmodule m; CK(cuModuleLoad(&m,cubin.c_str())); if(!ok){printf("%d fail load\n",id);continue;}
    CUfunction f; CK(cuModuleGetFunction(&f,m,entry.c_str()));
    if(key!=prev){for(auto p:bufs)cuMemFree(p);bufs.clear();for(auto&x:A)if(x.k=='b'){CUdeviceptr p;CK(cuMemAlloc(&p,x.n*bytes(x.t)));bufs.push_back(p);if(!fillFrom(x,p))return 1;}prev=key;}
    std::vector<void*> P; std::vector<unsigned long long> V(na); int bi=0;
    for(int i=0;i<na;i++){auto&x=A[i]; if(x.k=='s'){V[i]=x.bits;P.push_back(&V[i]);}else if(x.k=='b'){V[i]=bufs[bi++];P.push_back(&V[i]);}else{CUdeviceptr p;size_t n;if(!cuModuleGetGlobal(&p,&n,m,x.name.c_str())&&!fillFrom(x,p))return 1;}}
    if(dyn>49152)cuFuncSetAttribute(f,CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,dyn);
    if(carve>=0)cuFuncSetAttribute(f,CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,carve);
    int regs=0,loc=0,sh=0;cuFuncGetAttribute(&regs,CU_FUNC_ATTRIBUTE_NUM_REGS,f);cuFuncGetAttribute(&loc,CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,f);cuFuncGetAttribute(&sh,CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,f);
    cudaEvent_t e0,e1;cudaEventCreate(&e0);cudaEventCreate(&e1);
    auto L=[&](){CUresult r=cuLaunchKernel(f,g[0],g[1],g[2],b[0],b[1],b[2],dyn,0,P.data(),0);if(r)ok=false;};
    L(); if(!ok){printf("%d fail launch\n",id);cuModuleUnload(m);continue;} // more registers or shared memory than there are
    if(cudaError_t e=cudaDeviceSynchronize()){printf("%d fail %s\n",id,cudaGetErrorString(e));return 1;}
    if(c>2&&!strcmp(a[2],"count")){cudaProfilerStart();L();cudaDeviceSynchronize();cudaProfilerStop();printf("%d ok\n",id);fflush(stdout);cuModuleUnload(m);continue;}
    auto T=[&](int n){cudaEventRecord(e0);for(int i=0;i<n;i++)L();cudaEventRecord(e1);cudaEventSynchronize(e1);float ms;cudaEventElapsedTime(&ms,e0,e1);return ms*1000/n;};
    T(2); float one=T(2); int n=std::max(1,std::min(100,(int)(1500/one))); T(n); std::vector<float> t; for(int i=0;i<7;i++)t.push_back(T(n)); std::sort(t.begin(),t.end());
    printf("%d %.4f %.4f %.4f %d %d %d %d\n",id,t[3],t[0],t[6],n,regs,loc,sh); fflush(stdout); cuModuleUnload(m);cudaEventDestroy(e0);cudaEventDestroy(e1);
  }
}
