package simengine_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// clusterKernel is a kernel whose CTAs, in clusters of two, store their index to the shared memory of each
// other, and then, by a bulk store, to device memory: 16 bytes each.
const clusterKernel = `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<4>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	.shared .align 16 .b8 got[128];
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %cluster_ctarank;
	xor.b32 %r3, %r2, 1;
	mov.u32 %r4, got;
	shl.b32 %r5, %r0, 2;
	add.s32 %r5, %r4, %r5;
	mapa.shared::cluster.u32 %r6, %r5, %r3;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	st.shared::cluster.u32 [%r6], %r1;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	ld.shared.u32 %r7, [%r5];
	add.s32 %r7, %r7, 100;
	st.shared.u32 [%r5], %r7;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra done;
	mul.wide.u32 %rd1, %r1, 16;
	add.s64 %rd1, %rd1, %rd0;
	cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
done:
	ret;
}
`

// CTAs of clusters are checked together, and what bulk stores write is compared.
func TestInspectClusters(t *testing.T) {
	h100, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	e := simengine.New()
	m, err := e.Parse("k.ptx", []byte(clusterKernel))
	if err != nil {
		t.Fatal(err)
	}
	for name, depth := range map[string]simengine.Depth{"all": simengine.CheckAll, "sample": simengine.CheckSample} {
		x, err := e.Execute(m, simengine.Request{Arch: h100, Level: simengine.Model, Grid: [3]int{8, 1, 1}, CTA: [3]int{32, 1, 1}, Cluster: [3]int{2, 1, 1},
			CarveOut: -1, Check: simengine.Check{Depth: depth, Outputs: true},
			Args: []simengine.Arg{{Name: "out", Elem: ir.U32, Count: 32, Fill: simengine.Fill{Kind: simengine.FillConstant}}}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[string]int64{"all": 8, "sample": x.Checked.CTAs / 2 * 2}[name]; x.Checked.CTAs != want || want < 2 {
			t.Errorf("%s: %d CTAs checked, want %d", name, x.Checked.CTAs, want)
		}
		if len(x.Outputs) != 1 || !x.Outputs[0].Written {
			t.Errorf("%s: outputs %+v", name, x.Outputs)
			continue
		}
		for _, run := range x.Outputs[0].Runs {
			for i := range len(run.Bytes) / 4 {
				at := run.First + int64(i)
				if got, want := binary.LittleEndian.Uint32(run.Bytes[4*i:]), uint32(at/4)^1+100; got != want {
					t.Errorf("%s: element %d is %d, want %d", name, at, got, want)
				}
			}
		}
	}
}

// Clusters that no launch has, in the request or in the PTX, are refused at every depth.
func TestInspectBadClusters(t *testing.T) {
	h100, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	required := func(text string) string {
		return strings.Replace(clusterKernel, ")\n{", ") .explicitcluster .reqnctapercluster "+text+"\n{", 1)
	}
	for _, tt := range []struct {
		text    string
		cluster [3]int
	}{
		{clusterKernel, [3]int{3, 1, 1}}, {clusterKernel, [3]int{1 << 20, 1 << 20, 1 << 10}}, {clusterKernel, [3]int{1 << 30, 1 << 30, 4}}, {clusterKernel, [3]int{2, -1, 1}},
		{required("3, 1, 1"), [3]int{}}, {required("2147483647, 2147483647, 2"), [3]int{}}, {required("1073741824, 1073741824, 4"), [3]int{}},
	} {
		e := simengine.New()
		m, err := e.Parse("k.ptx", []byte(tt.text))
		if err != nil {
			continue // refused even earlier
		}
		for _, depth := range []simengine.Depth{simengine.CheckNone, simengine.CheckSample, simengine.CheckAll} {
			req := simengine.Request{Arch: h100, Level: simengine.Model, Grid: [3]int{8, 1, 1}, CTA: [3]int{32, 1, 1}, Cluster: tt.cluster,
				CarveOut: -1, Check: simengine.Check{Depth: depth, Outputs: true},
				Args: []simengine.Arg{{Name: "out", Elem: ir.U32, Count: 32, Fill: simengine.Fill{Kind: simengine.FillConstant}}}}
			var f *simengine.Failure
			if _, err := e.Execute(m, req); !errors.As(err, &f) || f.Kind != simengine.FailureLaunch {
				t.Errorf("clusters of %v, depth %v: executed: %v", tt.cluster, depth, err)
			}
			if _, err := e.Simulate(m, req); !errors.As(err, &f) || f.Kind != simengine.FailureLaunch {
				t.Errorf("clusters of %v, depth %v: simulated: %v", tt.cluster, depth, err)
			}
		}
	}
}
