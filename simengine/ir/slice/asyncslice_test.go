package slice_test

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptxtest"
)

const asyncRegs = `
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .f32 %f<8>;
	.reg .pred %p<4>;
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 full;
`

// A box copied by a map that is a parameter needs its coordinates, its mbarrier and what waits for it.
// What is made of the data is not needed, nor is what makes the descriptors of a product.
func TestSliceOfBoxes(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .align 64 .b8 map[128], .param .u64 out", asyncRegs+`
	mov.b64 %rd1, map;
	cvta.param.u64 %rd2, %rd1;
	mov.u32 %r1, %ctaid.x;
	shl.b32 %r2, %r1, 6;
	mov.u32 %r3, 0;
	mbarrier.init.shared::cta.b64 [full], 1;
	elect.sync %r4|%p1, -1;
	@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
	@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd2, {%r2, %r3}], [full];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r3;
	@!%p2 bra WAIT;
	mov.u32 %r5, tile;
	cvt.u64.u32 %rd3, %r5;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd3, %rd3, 0, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	ld.param.u64 %rd4, [out];
	mov.b32 %r6, %f0;
	stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], %r6;
	st.global.f32 [%rd4], %f1;
	ret;`)
	ptxtest.Golden(t, marked(k), `
mov.b64 %rd1, 0;
cvta.param.u64 %rd2, %rd1;
mov.u32 %r1, %ctaid.x;
shl.b32 %r2, %r1, 6;
mov.u32 %r3, 0;
mbarrier.init.shared::cta.b64 [full], 1;
elect.sync %r4|%p1, 4294967295;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r3;
@!%p2 bra b1;
wgmma.fence.sync.aligned;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ld.param.u64 %rd4, [out];
exit;
`)
	if k.Yields()[k.BlockOf(9)] {
		t.Error("a wait for an mbarrier is taken for lanes that wait for each other")
	}
}

// A map made by the kernel is needed with everything that is written to it; the data is not.
func TestSliceOfMadeMaps(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 scratch, .param .u64 in", asyncRegs+`
	ld.param.u64 %rd1, [scratch];
	ld.param.u64 %rd2, [in];
	mov.u32 %r1, 7;
	st.shared.u32 [tile], 0;
	tensormap.replace.tile.global_address.shared::cta.b1024.b64 [tile], %rd2;
	tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [tile], 0, %r1;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [tile], 128;
	fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
	cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {0}], [full];
	ld.global.f32 %f1, [%rd2];
	add.f32 %f2, %f1, %f1;
	st.shared.f32 [tile+128], %f2;
	st.global.f32 [%rd2], %f2;
	ret;`)
	var got []string
	need := slice.WithDistinctBuffers(k)
	for pc := range k.Instrs {
		if !need[pc] {
			got = append(got, k.Text(pc))
		}
	}
	ptxtest.Golden(t, strings.Join(got, "\n"), `
cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {0}], [full];
ld.global.f32 %f1, [%rd2];
add.f32 %f2, %f1, %f1;
st.shared.f32 [tile+128], %f2;
st.global.f32 [%rd2], %f2;
`)
}

// Indices that a bulk copy brings to shared memory are needed, and so is the copy; one that a map of a
// parameter describes writes a buffer of its own.
func TestSliceOfCopiedIndices(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 in, .param .align 64 .b8 map[128], .param .u64 table", asyncRegs+`
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [table];
	mov.u32 %r2, 64;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], %r2, [full];
	ld.shared.u32 %r1, [tile];
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	mov.b64 %rd6, map;
	mov.u64 %rd7, %rd6;
	cvta.param.u64 %rd5, %rd7;
	cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd5, {0}], [tile];
	st.global.f32 [%rd1], %f1;
	ret;`)
	for _, c := range []struct {
		need   []bool
		copies int
	}{{slice.Addresses(k), 2}, {slice.WithDistinctBuffers(k), 1}} {
		copies := 0
		for pc, n := range c.need {
			if n && k.Instrs[pc].Op == ir.BulkCopy {
				copies++
			}
		}
		if copies != c.copies {
			t.Errorf("%d bulk copies are in the slice, want %d", copies, c.copies)
		}
	}
}

// Of what is copied or stored to shared memory only that is needed which may be where indices are read, in kernels for
// one architecture.
func TestSliceOfIndicesBesideTiles(t *testing.T) {
	const body = `.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .f32 %f<4>;
	.extern .shared .align 128 .b8 tile[];
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [table];
	mov.u32 %r1, %tid.x;
	and.b32 %r2, %r1, 31;
	shl.b32 %r3, %r2, 2;
	mov.u32 %r4, tile;
	add.s32 %r5, %r4, %r3;
	cp.async.ca.shared.global [%r5+128], [%rd1], 4;
	cp.async.ca.shared.global [%r5+AT], [%rd2], 4;
	st.shared.f32 [%r5], %f1;
	ld.shared.u32 %r6, [%r5+128];
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	ret;`
	for _, c := range []struct {
		target, at string
		writes     int
	}{{"sm_90a", "256", 1}, {"sm_90a", "252", 2}, {"sm_90", "256", 3}} {
		m := ptxtest.Module(t, "test.ptx", strings.Replace(ptxtest.Header, "sm_90", c.target, 1)+".visible .entry k(.param .u64 in, .param .u64 table)\n{\n"+strings.Replace(body, "AT", c.at, 1)+"\n}\n")
		k, writes := m.Kernels[0], 0
		for pc, n := range slice.Addresses(k) {
			if n && k.Instrs[pc].Op.WritesMemory() {
				writes++
			}
		}
		if writes != c.writes {
			t.Errorf("%s, %s: %d writes are in the slice, want %d", c.target, c.at, writes, c.writes)
		}
	}
}

// The slices of kernels that ran on an H100 are closed.
func TestHopperSlices(t *testing.T) {
	n := 0
	ptxtest.Hopper(t, "../../..", func(name string, src []byte) {
		if n++; n%10 != 0 {
			return
		}
		k, err := ptxtest.Module(t, name, string(src)).Kernel("")
		if err != nil {
			t.Fatal(err)
		}
		checkClosed(t, k)
	})
}

// The register of an accumulator is also the zero that a stage begins with: the write of the zero
// reaches the address, the product does not.
func TestSliceOfSharedZero(t *testing.T) {
	k := ptxtest.Kernel(t, ".param .u64 in", asyncRegs+`
	mov.f32 %f0, 0f00000000;
	mov.b32 %r1, %f0;
	mov.b32 %f4, 0f00000000;
	mov.b32 %f1, 0f00000000;
	mov.b32 %f2, 0f00000000;
	mov.b32 %f3, 0f00000000;
	mov.u64 %rd3, 0;
LOOP:
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd3, %rd3, 0, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	mov.u32 %r2, full;
	add.s32 %r2, %r2, %r1;
	mbarrier.arrive.shared::cta.b64 _, [%r2];
	add.s32 %r1, %r1, 8;
	setp.lt.s32 %p1, %r1, 64;
	@%p1 bra LOOP;
	ret;`)
	for pc, need := range slice.Addresses(k) {
		if op := k.Instrs[pc].Op; need && op == ir.Wgmma {
			t.Errorf("the slice has %s", k.Text(pc))
		}
	}
}
