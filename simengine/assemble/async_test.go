package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// TestAsyncCopies: loads of nothing come before the first cp.async of each block, by
// generation, and an arm with one is branched around however short.
func TestAsyncCopies(t *testing.T) {
	src := kernelOf(`mov.u32 %r4, s;
mad.lo.s32 %r5, %r1, 16, %r4;
cp.async.ca.shared.global [%r5], [%rd4], 8;
cp.async.ca.shared.global [%r5+4096], [%rd4+4096], 8;
setp.ge.u32 %p1, %r1, %r2;
@%p1 bra DONE;
cp.async.ca.shared.global [%r5+2048], [%rd4+2048], 8;
DONE:
cp.async.commit_group;
cp.async.wait_group 0;`)
	for _, c := range []struct {
		cc   [2]int
		idle int
	}{{[2]int{8, 0}, 4}, {[2]int{8, 9}, 4}, {[2]int{9, 0}, 6}} {
		n := selectedOps(t, src, c.cc)
		if n[mir.OpLDSOFF] != c.idle || n[mir.OpLDGSTS] != 3 || n[mir.OpBRA] == 0 {
			t.Errorf("%v: %d loads of nothing, %d copies and %d branches, want %d, 3 and some", c.cc, n[mir.OpLDSOFF], n[mir.OpLDGSTS], n[mir.OpBRA], c.idle)
		}
	}
}

// An arrival that releases at the scope of the cluster comes after a fence of the device; others do not, and an arrival
// that awaits nothing beyond its CTA keeps its place.
func TestReleasesFence(t *testing.T) {
	for arrival, fences := range map[string]int{
		"mbarrier.arrive.release.cluster.shared::cta.b64 %rd6, [%r5];":               1,
		"mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r5];":         1,
		"mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 %rd6, [%r5], 64;": 1,
		"mbarrier.arrive.shared::cluster.b64 _, [%r5];":                              0,
		"mbarrier.arrive.release.cta.shared::cta.b64 %rd6, [%r5];":                   0,
		"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r5], 0;":    0,
	} {
		n := selectedOps(t, kernelOf("mov.u32 %r5, s;\n"+arrival), [2]int{9, 0})
		if n[mir.OpMEMBAR] != fences || n[mir.OpMEMBARALL] != fences {
			t.Errorf("%s: %d and %d fences, want %d", arrival, n[mir.OpMEMBAR], n[mir.OpMEMBARALL], fences)
		}
	}
}
