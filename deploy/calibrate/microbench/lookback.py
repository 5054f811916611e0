"""A scan by decoupled look-back: its time, the mean of 4 launches, the median of 9 such, us, by threads of a CTA, 16-byte
loads of a thread, CTAs and how many CTAs' values a warp looks at together (0: it does not wait). Needs CuPy.

  python3 lookback.py > lookback.jsonl
"""
import cupy as c

SOURCE = r'''typedef unsigned long long u;
__device__ u ld(u*p){u v;asm volatile("ld.relaxed.gpu.global.u64 %0,[%1];":"=l"(v):"l"(p):"memory");return v;}
__device__ void st(u*p,u v){asm volatile("st.relaxed.gpu.global.u64 [%0],%1;"::"l"(p),"l"(v):"memory");}
extern "C" __global__ void __launch_bounds__(T_) k(int4*in,int4*out,u*S,int*C,int n){
__shared__ int s[32],q,b,z;int t=threadIdx.x,l=t&31;
if(!t)q=atomicAdd(C,1);__syncthreads();int m=q,a=0;int4 x[I_];
#pragma unroll
for(int i=0;i<I_;i++)x[i]=in[(m*I_+i)*T_+t];
#pragma unroll
for(int i=0;i<I_;i++)a+=x[i].x+x[i].w;
a=__reduce_add_sync(~0u,a);if(!l)s[t/32]=a;__syncthreads();
if(t<32){a=__reduce_add_sync(~0u,l<T_/32?s[l]:0);int B=0;if(!l)st(S+m,(m?1ull:2ull)<<32|(unsigned)a);
if(m&&W_){if(W_==32)for(int k=m-1;;k-=32){u v;do v=k-l>=0?ld(S+k-l):2ull<<32;while(!__all_sync(~0u,v>>32!=0));unsigned d=__ballot_sync(~0u,v>>32==2);int y=(int)v;if(d&&l>__ffs(d)-1)y=0;B+=__reduce_add_sync(~0u,y);if(d)break;}
else if(!l)for(int k=m-1;;--k){u v;while((v=ld(S+k))>>32==0);B+=(int)v;if(v>>32==2)break;}
if(!l)st(S+m,2ull<<32|(unsigned)(B+a));}if(!l)b=B;}
__syncthreads();
#pragma unroll
for(int i=0;i<I_;i++){x[i].x+=b;out[(m*I_+i)*T_+t]=x[i];}
if(!t)z=atomicAdd(C+1,1)==n-1;__syncthreads();if(z){for(int i=t;i<n;i+=T_)S[i]=0;if(t<2)C[t]=0;}}'''

a, b, states, counters = c.zeros(1 << 25, 'i4'), c.zeros(1 << 25, 'i4'), c.zeros(1 << 20, 'i8'), c.zeros(2, 'i4')
for threads, loads in [(64, 1), (128, 1), (256, 1), (512, 1), (1024, 1), (256, 2), (1024, 2), (64, 4), (256, 4), (1024, 4)]:
    for values in 0, 1, 32:
        f = c.RawKernel(SOURCE, 'k', ('-DT_=%d' % threads, '-DI_=%d' % loads, '-DW_=%d' % values))
        for words in 1 << 20, 1 << 22, 1 << 25:
            n, times = words // 4 // threads // loads, []
            for _ in range(9):
                first, last = c.cuda.Event(), c.cuda.Event()
                first.record()
                for _ in range(4):
                    f((n,), (threads,), (a, b, states, counters, n))
                last.record()
                last.synchronize()
                times.append(c.cuda.get_elapsed_time(first, last) * 250)
            print('{"name": "lookback", "params": {"threads": %d, "loads": %d, "values": %d, "ctas": %d}, "value": %.1f, "unit": "us"}' % (threads, loads, values, n, sorted(times)[4]), flush=True)
