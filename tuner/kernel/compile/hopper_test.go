package compile

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptx"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// hopperRecord is what is read of a launch that ran on an H100.
type hopperRecord struct {
	Kernel  string
	Entry   string
	Cluster [3]int
	Defines map[string]any
}

// hopperRecords reads the launches of kernels in CUDA C++, at most n of each; without them the test is
// skipped.
func hopperRecords(t *testing.T, n int) (records []hopperRecord) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "hopper", "h100", "launches.jsonl.gz"))
	if err != nil {
		t.Skip("no measurements: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for d := json.NewDecoder(z); ; {
		var r hopperRecord
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return records
		} else if err != nil {
			t.Fatal(err)
		}
		if seen[r.Kernel]++; len(r.Defines) > 0 && seen[r.Kernel] <= n {
			records = append(records, r)
		}
	}
}

// built is the kernel of a compilation, which holds the invariants.
func built(t *testing.T, r Result, name string) *ir.Kernel {
	t.Helper()
	m, err := ptx.Parse("k.ptx", r.PTX)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lower.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := out.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := irtest.Verify(k); err != nil {
		t.Fatal(err)
	}
	return k
}

// Kernels for Hopper, with warpgroup MMAs, tensor maps and clusters, become PTX for sm_90a whose
// instructions are all decoded. Tensor maps stay parameters.
func TestHopperSources(t *testing.T) {
	records := hopperRecords(t, 1)
	needClang(t)
	drivers := map[string]*Clang{"clang": NewClang("", sandbox.DefaultLimits()), "clang as nvcc": NewClangAsNVCC(sandbox.DefaultLimits())}
	folder := filepath.Join("..", "..", "..", "..", "shared", "hopper", "kernels")
	for _, r := range records {
		src, err := os.ReadFile(filepath.Join(folder, r.Kernel+".cu"))
		if err != nil {
			t.Fatal(err)
		}
		bundle := fstest.MapFS{r.Kernel + ".cu": text(string(src))}
		for _, name := range []string{"hopper.cuh", "gemm_tile.cuh"} {
			b, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			bundle[name] = text(string(b))
		}
		bundle["wgmma.cuh"] = text(productHeader())
		var macros []call.Macro
		for _, name := range slices.SortedFunc(maps.Keys(r.Defines), cmp.Compare) {
			value, err := json.Marshal(r.Defines[name])
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := r.Defines[name].(string); ok {
				value = []byte(s)
			}
			macros = append(macros, call.Macro{Name: name, Value: string(value)})
		}
		q := request(t, r.Kernel+".cu", bundle, macros...)
		q.Target = "sm_90"
		for name, c := range drivers {
			got, err := c.Compile(context.Background(), q)
			if err != nil {
				t.Fatalf("%s by %s: %v", r.Kernel, name, err)
			}
			checkHopper(t, built(t, got, r.Entry), &r)
		}
	}
}

// productHeader is the header that the products' kernels include, and that a script wrote:
// Product<n, bytes>::run adds the warpgroup MMA, of halves or of e4m3, to its accumulators.
func productHeader() string {
	var b strings.Builder
	b.WriteString("#pragma once\ntemplate <int n, int bytes> struct Product;\n")
	for n := 8; n <= 256; n += 8 {
		for elt, kind := range map[int]string{2: "k16.f32.f16.f16", 1: "k32.f32.e4m3.e4m3"} {
			var regs, outs []string
			for i := range n / 2 {
				regs = append(regs, fmt.Sprintf("%%%d", i))
				outs = append(outs, fmt.Sprintf("\"+f\"(d[%d])", i))
			}
			trans := ""
			if elt == 2 {
				trans = ", 0, 0"
			}
			fmt.Fprintf(&b, "template <> struct Product<%d, %d> { static __device__ __forceinline__ void run(float (&d)[%d], u64 x, u64 y, bool more) {\n  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%d, 0;\\nwgmma.mma_async.sync.aligned.m64n%d%s {%s}, %%%d, %%%d, p, 1, 1%s;\\n}\"\n    : %s : \"l\"(x), \"l\"(y), \"r\"((int)more)); } };\n",
				n, elt, n/2, n/2+2, n, kind, strings.Join(regs, ", "), n/2, n/2+1, trans, strings.Join(outs, ", "))
		}
	}
	return b.String()
}

func checkHopper(t *testing.T, k *ir.Kernel, r *hopperRecord) {
	t.Helper()
	boxes := 0
	for pc := range k.Instrs {
		if in := &k.Instrs[pc]; in.Bulk != nil && in.Bulk.Dims > 0 {
			boxes++
		}
	}
	if needed := slice.Addresses(k); boxes > 0 {
		for pc := range k.Instrs {
			if op := k.Instrs[pc].Op; needed[pc] && (op == ir.Wgmma || op == ir.BulkCopy) {
				t.Fatalf("%s: %s is needed for addresses", r.Kernel, k.Text(pc))
			}
		}
		if k.LocalBytes > 0 {
			t.Errorf("%s: %d bytes of local memory", r.Kernel, k.LocalBytes)
		}
	}
	if maps := r.Kernel == "gemm_wg" || r.Kernel == "gemm_ws"; maps != (boxes > 0) {
		t.Errorf("%s copies %d boxes", r.Kernel, boxes)
	}
	want := [3]int{}
	if r.Kernel == "cluster_norm" {
		want = r.Cluster
	}
	if k.Cluster != want {
		t.Errorf("%s: clusters of %v, want %v", r.Kernel, k.Cluster, want)
	}
}

// What CUDA's headers have for sm_90: clusters, tensor maps, bfloats and floating point of eight bits.
const hopperIntrinsics = `
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
namespace cg = cooperative_groups;
struct Scale { float by; };
template <int n> __global__ void __cluster_dims__(n) __launch_bounds__(128)
k(const __grid_constant__ CUtensorMap map, float *x, __nv_bfloat162 *b, __nv_fp8_e4m3 *e, __nv_fp8x2_e5m2 *p, __nv_fp8x4_e4m3 *q, const __grid_constant__ Scale s) {
  __shared__ float part[4];
  __shared__ alignas(128) char tile[128];
  __shared__ unsigned long long bar;
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), i = threadIdx.x;
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"((unsigned)__cvta_generic_to_shared(tile)), "l"(&map),
    "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"(i) : "memory");
  part[0] = x[i] * s.by;
  cluster.sync();
  float *other = cluster.map_shared_rank(part, (rank + 1) % cluster.num_blocks());
  x[i] = other[0] + cluster.query_shared_rank(other) + cluster.thread_rank() + cluster.dim_blocks().x + cluster.block_index().y;
  cluster.barrier_arrive();
  cluster.barrier_wait();
  b[i] = __hfma2_relu(__hmax2(b[i], b[i + 1]), b[i], __floats2bfloat162_rn(x[1], x[2]));
  x[i + 1] = float(e[i]) + float(__half(e[i + 1])) + float2(p[i]).y + float4(q[i]).z + (e[2] ? 1 : 0);
  e[i] = __nv_fp8_e4m3(x[3]);
  e[i].__x |= __nv_cvt_float_to_fp8(x[4], __NV_NOSAT, __NV_E4M3);
  p[i] = __nv_fp8x2_e5m2(__half2(x[4], x[5]));
  q[i] = __nv_fp8x4_e4m3(make_float4(x[1], x[2], x[3], x[4]));
}
template __global__ void k<2>(CUtensorMap, float *, __nv_bfloat162 *, __nv_fp8_e4m3 *, __nv_fp8x2_e5m2 *, __nv_fp8x4_e4m3 *, Scale);
`

func TestHopperIntrinsics(t *testing.T) {
	needClang(t)
	for name, c := range map[string]*Clang{"clang": NewClang("", sandbox.DefaultLimits()), "clang as nvcc": NewClangAsNVCC(sandbox.DefaultLimits())} {
		q := request(t, "k.cu", fstest.MapFS{"k.cu": text(hopperIntrinsics)})
		q.Target = "sm_90"
		got, err := c.Compile(context.Background(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		k := built(t, got, "k")
		if k.Cluster != [3]int{2, 1, 1} {
			t.Errorf("%s: clusters of %v", name, k.Cluster)
		}
		seen := map[string]int{}
		for pc := range k.Instrs {
			seen[k.Instrs[pc].Opcode()]++
		}
		for _, op := range []string{"cvta.param.u64", "mapa.u64", "getctarank.u64", "barrier.cluster.arrive.release", "barrier.cluster.wait.acquire", "fma.rn.relu.bf16x2",
			"cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f16x2"} {
			if seen[op] == 0 {
				t.Errorf("%s: no %s", name, op)
			}
		}
		if got.Target != "sm_90" || seen["cvta.param.u64"] != 1 {
			t.Errorf("%s: %s, and %d parameters' addresses are taken", name, got.Target, seen["cvta.param.u64"])
		}
	}
}
