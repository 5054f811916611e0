package simengine_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// product is a warpgroup MMA whose result, if COMPARED is %f0, decides who stores.
const product = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .pred %p<2>;
	.shared .align 128 .b8 tile[4096];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd1, %rd1, %rd2;
	mov.u32 %r2, tile;
	shr.u32 %r2, %r2, 4;
	cvt.u64.u32 %rd3, %r2;
	mov.f32 %f0, 0f00000000;
	mov.f32 %f1, %f0;
	mov.f32 %f2, %f0;
	mov.f32 %f3, %f0;
	cvt.rn.f32.u32 %f4, %r1;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd3, %rd3, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	setp.ge.f32 %p1, COMPARED, 0f00000000;
	@%p1 st.global.f32 [%rd1], %f1;
	ret;
}
`

// A store that depends on a product has a prediction, whose report says so; one that does not has one that says nothing.
func TestStoresThatDependOnProducts(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	for compared, named := range map[string]bool{"%f0": true, "%f4": false} {
		engine := simengine.New()
		m, err := engine.Parse("k.ptx", []byte(strings.ReplaceAll(product, "COMPARED", compared)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Simulate(m, simengine.Request{
			Kernel: "k", Arch: d, Level: simengine.Cycle, Grid: [3]int{132, 1, 1}, CTA: [3]int{128, 1, 1}, CarveOut: -1,
			Args: []simengine.Arg{{Name: "out", Elem: ir.F32, Count: 128}},
		})
		if err != nil {
			t.Fatalf("by %s: %v", compared, err)
		}
		said := strings.Join(r.NotModelled, "; ")
		if got := strings.Contains(said, "wgmma (PTX line 24)"); r.TimeUS <= 0 || got != named {
			t.Errorf("by %s: %v us, not modelled: %q", compared, r.TimeUS, said)
		}
	}
}
