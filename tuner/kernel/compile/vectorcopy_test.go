package compile

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
)

// What CUDA allows with its vector types, which are structs: all of this compiles under nvcc.
const vectorTypes = `
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float2 &operator+=(float2 &a, float2 b) { a.x += b.x; a.y += b.y; return a; }
__device__ bool operator==(const float4 &a, const float4 &b) { return a.x == b.x && a.w == b.w; }
struct derived : float4 { int extra; };
union pun { float4 v; float f[4]; };
struct pair { float4 p; float2 q; };
typedef struct __builtin_align__(16) { uint4 a, b; } eight;
__constant__ float4 table[2] = {{1, 2, 3, 4}, {5}};
template <class T> __device__ T zero();
template <> __device__ float4 zero<float4>() { return float4(); }
static_assert(sizeof(float2) == 8 && alignof(float2) == 8 && sizeof(float3) == 12 && alignof(float3) == 4 && alignof(float4) == 16, "");
static_assert(alignof(char2) == 2 && alignof(uchar4) == 4 && alignof(short2) == 4 && alignof(ushort4) == 8 && alignof(int4) == 16, "");
static_assert(sizeof(double4) == 32 && alignof(double2) == 16 && alignof(double4) == 16 && alignof(longlong2) == 16 && alignof(ulong4) == 16 && alignof(double1) == 8, "");
static_assert(__is_aggregate(float4) && __is_trivially_copyable(float4) && __is_trivial(double2), "");
__device__ __noinline__ void mangled(float2 *p, const uchar4 &c) { p->x = c.w; }
extern "C" __global__ void k(float4 *a, float2 *b, uchar4 *c, pair *p, pun *u) {
  __shared__ float4 tile[32];
  __shared__ float2 sums[32];
  int i = threadIdx.x;
  float4 v = {1.f, 2.f, 3.f, 4.f}, w = make_float4(1, 2, 3, 4);
  float *px = &v.x;
  float &ry = v.y;
  ry = px[i & 3];
  atomicAdd(&a[i].x, 1.f);
  atomicAdd(&sums[i].y, 1.f);
  derived d;
  d.x = v.x;
  d.extra = 3;
  uint3 t = threadIdx;
  dim3 g(gridDim), h = blockIdx, s(t);
  pun q = u[i];
  q.f[i & 3] = d.x + d.extra + t.x + g.x + h.y + s.z;
  u[i] = q;
  tile[i] = a[i + 1] + w + zero<float4>() + table[i & 1];
  b[i] += make_float2(v.x, p[i].q.y);
  mangled(b, c[i]);
  __syncthreads();
  if (tile[i ^ 1] == v) a[i] = tile[i ^ 1];
}
extern "C" __global__ void copies(const float4 *__restrict__ a, float4 *b, uchar4 *c, double4 *d, float2 *e, eight *f, int n) {
  __shared__ float4 tile[64];
  int i = threadIdx.x;
  tile[i] = a[i];
  __syncthreads();
  float4 mine = tile[i ^ 1], v = n > i ? a[i + n] : mine;
  if (v.x > mine.x) v.y = tile[n].z + mine.y;
  b[i] = v;
  c[i] = c[i + n];
  d[i] = d[i + n];
  e[i] = e[i + n];
  f[i] = f[i + n];
}
`

func TestVectorTypes(t *testing.T) {
	c := needClang(t)
	res, err := c.Compile(context.Background(), request(t, "k.cu", fstest.MapFS{"k.cu": text(vectorTypes)}))
	if err != nil {
		t.Fatal(err)
	}
	ptx := string(res.PTX)
	if !strings.Contains(ptx, "_Z7mangledP6float2RK6uchar4(") {
		t.Error("a function of vector types has not the name that nvcc gives it")
	}
	_, copies, _ := strings.Cut(ptx, ".entry copies(")
	got := histogram([]byte(copies))
	for _, op := range []string{
		"ld.global.nc.v4.f32", "st.shared.v4.f32", "ld.shared.v4.f32", "st.global.v4.f32",
		"ld.global.v2.f64", "st.global.v2.f64", "ld.global.v2.f32", "st.global.v2.f32",
		"ld.global.v4.u32", "st.global.v4.u32",
	} {
		if got[op] == 0 {
			t.Errorf("no %s in %v", op, got)
		}
	}
	for op := range got {
		if strings.Contains(op, "local") {
			t.Errorf("%s: an address of a vector was kept", op)
		}
	}
}
