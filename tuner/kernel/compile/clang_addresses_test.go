package compile

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// An address that is another one and a stride is computed from that, as by nvcc: clang multiplies
// for each copy of an unrolled loop's body.
func TestChainedAddressesAsNVCC(t *testing.T) {
	const rows = `
extern "C" __global__ void k(const float *__restrict__ in, float *__restrict__ out, int n, int m) {
  int x = blockIdx.x * 128 + threadIdx.x;
  float s = 0;
#pragma unroll 8
  for (int i = 0; i < m; ++i) out[i * n + x] = s += in[i * n + x];
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(rows)})
	products := func(ptx []byte) int { return strings.Count(string(ptx), "mul.wide.s32") }
	if got := products(mustCompile(t, needClang(t), r).PTX); got <= 8 {
		t.Errorf("clang multiplies %d times: nothing is to be told", got)
	}
	ptx := mustCompile(t, NewClangAsNVCC(DefaultLimits()), r).PTX
	if got := products(ptx); got > 4 {
		t.Errorf("%d products:\n%s", got, ptx)
	}
	if n := strings.Count(string(ptx), "ld.global.f32"); n > 0 {
		t.Errorf("%d loads are not from constant memory:\n%s", n, ptx)
	}
}

// Vectors are loaded whole however far their address is from where it starts, as by nvcc.
func TestChainedVectorsAsNVCC(t *testing.T) {
	const rows = `
extern "C" __global__ void k(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n, int m) {
  int x = (blockIdx.x * 128 + threadIdx.x) * 2;
  uint2 s = {0, 0};
#pragma unroll 8
  for (int i = 0; i < m; ++i) {
    uint2 v = *(const uint2 *)(in + i * n + x);
    s.x += v.x, s.y += v.y;
    *(uint2 *)(out + i * n + x) = s;
  }
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(rows)})
	ptx := string(mustCompile(t, NewClangAsNVCC(DefaultLimits()), r).PTX)
	if vectors, all := strings.Count(ptx, "ld.global.nc.v2"), strings.Count(ptx, "ld.global"); vectors != 9 || all != 9 {
		t.Errorf("%d of %d loads are of vectors, want 9 of 9:\n%s", vectors, all, ptx)
	}
}

// Constants of indexes that are multiplied are offsets of loads, as by nvcc.
func TestConstantOffsetsAsNVCC(t *testing.T) {
	const neighbours = `
extern "C" __global__ void k(const float *__restrict__ in, float *__restrict__ out) {
  int x0 = (blockIdx.y * 8 + threadIdx.y) * 7, y = blockIdx.z;
  float s = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    int x = x0 + k;
    if (x < 224 && y < 224) s += in[((size_t)y * 224 + x) * 128 + threadIdx.x];
  }
  out[x0 * 128 + threadIdx.x] = s;
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(neighbours)})
	offset := func(ptx []byte) int {
		return strings.Count(string(ptx), "+512]") + strings.Count(string(ptx), "+2560]")
	}
	if got := offset(mustCompile(t, needClang(t), r).PTX); got != 0 {
		t.Errorf("clang has %d of the offsets: nothing is to be told", got)
	}
	ptx := mustCompile(t, NewClangAsNVCC(DefaultLimits()), r).PTX
	if got := offset(ptx); got != 2 {
		t.Errorf("%d of 2 offsets:\n%s", got, ptx)
	}
}

// No loop holds more numbers of 64 bits than nvcc's do.
func TestHeldPointersAsNVCC(t *testing.T) {
	const stencil = `
extern "C" __global__ void k(const float *__restrict__ u, float *__restrict__ v, int n) {
  int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y, z0 = blockIdx.z * 64;
  size_t p = (size_t)n * n, i = (size_t)z0 * p + (size_t)y * n + x;
  float below = z0 ? u[i - p] : 0.0f, here = u[i];
#pragma unroll 4
  for (int k = 0; k < 64; ++k, i += p) {
    float above = z0 + k + 1 < n ? u[i + p] : 0.0f;
    v[i] = 0.4f * here + 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + below + above);
    below = here;
    here = above;
  }
}`
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(stencil)})
	if got := mostHeld(mustCompile(t, needClang(t), r).PTX); got <= maxHeld {
		t.Errorf("clang holds %d: nothing is to be told", got)
	}
	if got := mostHeld(mustCompile(t, NewClangAsNVCC(DefaultLimits()), r).PTX); got > maxHeld {
		t.Errorf("%d are held", got)
	}
}

const body = `define void @k(ptr noalias noundef readonly %%0, ptr noalias %%1, i32 %%2, i32 %%3) {
  %%5 = mul nsw i32 %%3, %%2
  %%6 = sext i32 %%5 to i64
  %%7 = getelementptr inbounds float, ptr %%0, i64 %%6
  %%8 = add nsw i32 %%3, 1
  %%9 = mul %si32 %%8, %%2
  %%10 = sext i32 %%9 to i64
  %%11 = getelementptr inbounds float, ptr %%%s, i64 %%10
  %%12 = load %sfloat, ptr %%11, align 4
  ret void
}
!0 = !{ptr @k, !"kernel", i32 1}
`

// Only what is known to be a stride beyond another address of the same array, without overflow, is computed from it, and
// only what a kernel's pointers to const lead to is invariant.
func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		nsw, array, volatile string
		chained, invariant   bool
	}{
		{"nsw ", "0", "", true, true},
		{"", "0", "", false, true},
		{"nsw ", "1", "", false, false},
		{"nsw ", "0", "volatile ", true, false},
	} {
		got := string(addressesAsNVCC(fmt.Appendf(nil, body, tt.nsw, tt.array, tt.volatile)))
		if chained := strings.Contains(got, "%11 = getelementptr float, ptr %7, i64 %warptune"); chained != tt.chained {
			t.Errorf("%+v: chained %v:\n%s", tt, chained, got)
		}
		if invariant := strings.Contains(got, "align 4, !invariant.load !1\n"); invariant != tt.invariant {
			t.Errorf("%+v: invariant %v:\n%s", tt, invariant, got)
		}
	}
}

// Texts with typed pointers are read, too.
func TestAddressesTyped(t *testing.T) {
	typed := regexp.MustCompile(`ptr (noalias|%)`).ReplaceAllString(fmt.Sprintf(body, "nsw ", "0", ""), "float* $1")
	typed = strings.Replace(typed, "ptr @k", "void (float*, float*, i32, i32)* @k", 1)
	got := string(addressesAsNVCC([]byte(typed)))
	for _, want := range []string{"%11 = getelementptr float, float* %7, i64 %warptune", "!invariant.load"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s:\n%s", want, got)
		}
	}
}

// What clang's optimiser brought down to 32 bits is taken apart, what the source computes so is not: nvcc leaves that.
func TestAddressesApart(t *testing.T) {
	const body = `define void @k(ptr %%0, i32 %%1) {
  %%3 = shl nuw nsw i32 %%1, 7
  %%4 = %[1]s i32 %%3 to i64
  %%5 = getelementptr inbounds float, ptr %%0, i64 %%4
  %%6 = add nuw nsw i32 %%1, 1
  %%7 = shl nuw nsw i32 %%6, 7
  %%8 = %[1]s i32 %%7 to i64
  %%9 = getelementptr inbounds float, ptr %%0, i64 %%8
  ret void
}
`
	for extension, want := range map[string]bool{"zext nneg": true, "sext": false, "zext": false} {
		got := string(chainAddresses(fmt.Appendf(nil, body, extension)))
		if apart := strings.Contains(got, ", i64 128\n"); apart != want {
			t.Errorf("%s: apart %v:\n%s", extension, apart, got)
		}
	}
}
