package lower_test

import (
	"os"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

// Every form of asynchronous instruction is decoded, holds the invariants, and is the same when it is
// written as text and read again.
func TestAsyncForms(t *testing.T) {
	src, err := os.ReadFile("testdata/async.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, "async.ptx", string(src))
	if len(m.Kernels) != 6 {
		t.Errorf("%d kernels", len(m.Kernels))
	}
	seen := map[ir.Op]bool{}
	for _, k := range m.Kernels {
		roundTrip(t, k)
		for pc := range k.Instrs {
			seen[k.Instrs[pc].Op] = true
		}
	}
	for op := ir.Wgmma; op < ir.NumOps; op++ {
		if !seen[op] {
			t.Errorf("no %s", op)
		}
	}
	k, err := m.Kernel("clusters")
	if err != nil || k.Cluster != [3]int{4, 2, 1} {
		t.Errorf("clusters: %v, %v", k, err)
	}
}

// inEntry builds a module of one kernel with a few registers around instructions, for sm_90a.
func inEntry(body string) (*ir.Module, error) {
	src := ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128])\n{\n" +
		".reg .b32 %r<8>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>; .shared .b64 full;\n" + body + "\nret;\n}\n"
	m, err := ptx.Parse("k.ptx", []byte(src))
	if err != nil {
		return nil, err
	}
	return lower.Build(m)
}

// What is wrong with one is said where it stands.
func TestAsyncDiagnostics(t *testing.T) {
	for bad, want := range map[string]string{
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2}, %rd0, %rd1, 1, 1, 1, 0, 0;":         "3 elements, want 4",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1}, %rd1, 1, 1, 1, 0;": "2 elements, want 4",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, _}, %rd0, %rd1, 1, 1, 1, 0, 0;":      "no place for _",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, 1, 2, 1, 0, 0;":    "2, want a constant between -1 and 1",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, 1, 0, 1, 0, 0;":    "want 1 or -1",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, 1, 1, 1, 0;":       "too few operands (7)",
		"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, %rd0, %rd1, 1, 1;":               "too many operands (5)",
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3};":                               "too few operands (1)",
		"mbarrier.init.shared.b64 [full];":                                                                               "too few operands (1)",
		"mbarrier.arrive.shared::cluster.b64 %rd0, [%r0];":                                                               "want _",
		"mbarrier.try_wait.parity.shared.b64 %r0, [full], 0;":                                                            "register %r0 is .b32, want .pred",
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r0}], [full];":      "1 elements, want 2",
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], [full];":             "a tensor map and coordinates in brackets are wanted",
		"cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 16, 3;":                                              "too many operands (4)",
		"cp.async.bulk.shared::cluster.global.bulk_group [%r0], [%rd0], 16;":                                             "spaces, completion or type are wrong or missing",
		"tensormap.replace.tile.box_dim.b1024.b32 [%rd0], 5, 1;":                                                         "5, want a constant between 0 and 4",
		"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%r0], 64;":      "64, want a constant between 128 and 128",
		"atom.shared.add.v2.f32 {%f0, %f1}, [full], {%f2, %f3};":                                                         "vectors does not work on .shared",
		"atom.global.add.v4.u32 {%r0, %r1, %r2, %r3}, [%rd0], {%r4, %r5, %r6, %r7};":                                     "does not take .v4 of type .u32",
		"stmatrix.sync.aligned.m8n8.x4.shared.b16 [full], {%r0, %r1};":                                                   "2 elements, want 4",
		"cp.async.bulk.tensor.1d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%rd0, {0}], [full];": "",
		"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %r0, 0, 1, 1, 1, 0, 0;":  "",
		"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];":                              "",
		"mbarrier.pending_count.b64 %r0, %rd0;":                                                                          "",
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [map, {%r0, %r1}], [full];":  "",
		"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;":                                                     "",
	} {
		out, err := inEntry(bad)
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "k.ptx:10:") {
				t.Errorf("%s: %v, want %q at line 10", bad, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v, want it refused by name", bad, err)
		default:
			if _, err := out.Kernel("k"); err == nil || !strings.Contains(err.Error(), "which the simulator does not model") {
				t.Errorf("%s: %v, want it refused by name", bad, err)
			}
		}
	}
}
