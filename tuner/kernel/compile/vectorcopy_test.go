package compile

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
)

// copyMetadata names float4's elements (!1), an int and a float of 8 bytes in all (!2), a double
// and two floats (!3), char4's (!4), a struct with a gap (!5) two pointers (!6)
// and an array (!7).
const copyMetadata = `
!1 = !{i64 0, i64 4, !10, i64 4, i64 4, !10, i64 8, i64 4, !10, i64 12, i64 4, !10}
!2 = !{i64 0, i64 4, !11, i64 4, i64 4, !10}
!3 = !{i64 0, i64 8, !12, i64 8, i64 4, !10, i64 12, i64 4, !10}
!4 = !{i64 0, i64 1, !13, i64 1, i64 1, !13, i64 2, i64 1, !13, i64 3, i64 1, !13}
!5 = !{i64 0, i64 1, !13, i64 4, i64 4, !10}
!6 = !{i64 0, i64 8, !14, i64 8, i64 8, !14}
!7 = !{i64 0, i64 16, !13}
!10 = !{!20, !20, i64 0}
!11 = !{!21, !21, i64 0}
!12 = !{!22, !22, i64 0}
!13 = !{!23, !23, i64 0}
!14 = !{!24, !24, i64 0}
!20 = !{!"float", !23, i64 0}
!21 = !{!"int", !23, i64 0}
!22 = !{!"double", !23, i64 0}
!23 = !{!"omnipotent char", !25, i64 0}
!24 = !{!"any pointer", !23, i64 0}
`

func TestVectorCopies(t *testing.T) {
	memcpy := func(operands string) string {
		return "  call void @llvm.memcpy.p0.p0.i64(" + operands + "\n"
	}
	for _, tt := range []struct{ name, in, want string }{
		{
			"float4", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <4 x float>, ptr %2, align 16\n  store <4 x float> %warptune.copy0, ptr %1, align 16\n",
		},
		{
			"address expression", memcpy("ptr align 16 getelementptr inbounds ([4 x %struct.float4], ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 0, i64 1), ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <4 x float>, ptr %2, align 16\n  store <4 x float> %warptune.copy0, ptr getelementptr inbounds ([4 x %struct.float4], ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 0, i64 1), align 16\n",
		},
		{
			"each side keeps its alignment", memcpy("ptr align 4 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <4 x float>, ptr %2, align 16\n  store <4 x float> %warptune.copy0, ptr %1, align 4\n",
		},
		{
			"typed pointers", "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %1, i8* align 8 %2, i64 8, i1 false), !tbaa.struct !2\n",
			"  %warptune.copy0.from = bitcast i8* %2 to <2 x i32>*\n  %warptune.copy0 = load <2 x i32>, <2 x i32>* %warptune.copy0.from, align 8\n" +
				"  %warptune.copy0.to = bitcast i8* %1 to <2 x i32>*\n  store <2 x i32> %warptune.copy0, <2 x i32>* %warptune.copy0.to, align 8\n",
		},
		{
			"bytes", memcpy("ptr align 4 %1, ptr align 4 %2, i64 4, i1 false), !tbaa.struct !4"),
			"  %warptune.copy0 = load <4 x i8>, ptr %2, align 4\n  store <4 x i8> %warptune.copy0, ptr %1, align 4\n",
		},
		{
			"in pieces", memcpy("ptr align 8 %1, ptr align 8 %2, i64 16, i1 false), !tbaa.struct !1"),
			"  %warptune.copy0 = load <2 x float>, ptr %2, align 8\n  store <2 x float> %warptune.copy0, ptr %1, align 8\n" +
				"  %warptune.copy1.from.at = getelementptr inbounds i8, ptr %2, i64 8\n  %warptune.copy1 = load <2 x float>, ptr %warptune.copy1.from.at, align 8\n" +
				"  %warptune.copy1.to.at = getelementptr inbounds i8, ptr %1, i64 8\n  store <2 x float> %warptune.copy1, ptr %warptune.copy1.to.at, align 8\n",
		},
		{"elements not alike", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !3"), ""},
		{"a gap", memcpy("ptr align 8 %1, ptr align 8 %2, i64 8, i1 false), !tbaa.struct !5"), ""},
		{"pointers", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !6"), ""},
		{"an array", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false), !tbaa.struct !7"), ""},
		{"aligned to an element", memcpy("ptr align 4 %1, ptr align 4 %2, i64 16, i1 false), !tbaa.struct !1"), ""},
		{"not all of the struct", memcpy("ptr align 16 %1, ptr align 16 %2, i64 32, i1 false), !tbaa.struct !1"), ""},
		{"volatile", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 true), !tbaa.struct !1"), ""},
		{"of no known type", memcpy("ptr align 16 %1, ptr align 16 %2, i64 16, i1 false)"), ""},
		{
			"an address chosen", "define void @f() {\n5:\n  br label %7\n\n6:\n  br label %7\n\n7:\n  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  %9 = sext i32 %4 to i64\n" +
				memcpy("ptr align 16 %1, ptr align 16 %8, i64 16, i1 false), !tbaa.struct !1"),
			"define void @f() {\n5:\n  %warptune.copy0.0 = load <4 x float>, ptr %2, align 16\n  br label %7\n\n6:\n  %warptune.copy0.1 = load <4 x float>, ptr %3, align 16\n  br label %7\n\n7:\n" +
				"  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  %warptune.copy0 = phi <4 x float> [ %warptune.copy0.0, %5 ], [ %warptune.copy0.1, %6 ]\n  %9 = sext i32 %4 to i64\n" +
				"  store <4 x float> %warptune.copy0, ptr %1, align 16\n",
		},
		{
			"an address chosen before a store", "define void @f() {\n5:\n  br label %7\n\n6:\n  br label %7\n\n7:\n  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  store i32 1, ptr %2, align 4\n" +
				memcpy("ptr align 16 %1, ptr align 16 %8, i64 16, i1 false), !tbaa.struct !1"),
			"define void @f() {\n5:\n  br label %7\n\n6:\n  br label %7\n\n7:\n  %8 = phi ptr [ %2, %5 ], [ %3, %6 ]\n  store i32 1, ptr %2, align 4\n" +
				"  %warptune.copy0 = load <4 x float>, ptr %8, align 16\n  store <4 x float> %warptune.copy0, ptr %1, align 16\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			got := string(vectorCopies([]byte(tt.in + copyMetadata)))
			if got != tt.want+copyMetadata {
				t.Errorf("got\n%s", strings.TrimSuffix(got, copyMetadata))
			}
		})
	}
}

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
