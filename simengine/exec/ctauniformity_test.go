package exec

import (
	"reflect"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// What a kernel's instructions say its CTAs have in common, they have: blocks, the
// work of executing them, bank conflicts; what PathWork says, PathOnly takes; and warps
// that go by themselves do alone what they do beside others.
func TestAlike(t *testing.T) {
	paths, shared, apart := 0, 0, 0
	for _, rec := range variants(t, "ptx.zip") {
		k := buildKernel(t, rec.PTX+".ptx", ptxFile(t, "ptx.zip", rec.PTX))
		p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
		prog := compileFor(t, k, Slice)
		type outcome struct {
			work   int64
			steps  [][]int32
			passes [][]uint16
		}
		run := func(cta int64, opt Options) (o outcome) {
			p.mem.Reset()
			recorder, r := coalesce.NewRecorder(k, 4), NewRunner(prog)
			recorder.Begin(cta, int(p.launch.CTA.Count()+WarpSize-1)/WarpSize)
			if err := r.Run(p.launch, p.mem, cta, opt, recorder); err != nil {
				t.Fatalf("%s: %v", rec.PTX, err)
			}
			for _, w := range recorder.CTA().Warps {
				var steps []int32
				var passes []uint16
				for _, s := range w.Steps {
					steps = append(steps, s.Block, int32(s.Repeat))
				}
				for _, a := range w.Accesses {
					if a.Space == ir.Shared {
						passes = append(passes, a.Passes)
					}
				}
				o.steps, o.passes = append(o.steps, steps), append(o.passes, passes)
			}
			if o.work = r.PathWork(); opt.PathOnly && o.work != r.Work() {
				t.Errorf("%s: path only, and yet %d more", rec.PTX, r.Work()-o.work)
			}
			return o
		}
		first := run(0, Options{LoopSample: 3})
		if path := run(0, Options{LoopSample: 3, PathOnly: true}); path.work != first.work || !reflect.DeepEqual(path.steps, first.steps) {
			t.Errorf("%s: the path takes %d, not %d", rec.PTX, path.work, first.work)
		}
		if last := len(first.steps) - 1; prog.WarpsOnlyMeet() && last > 0 {
			apart++
			for _, w := range []int{0, last / 2, last} {
				alone := run(0, Options{LoopSample: 3, PathOnly: true, Warps: 1 << w})
				want := make([][]int32, len(first.steps))
				if want[w] = first.steps[w]; !reflect.DeepEqual(alone.steps, want) {
					t.Errorf("%s: warp %d takes another path alone", rec.PTX, w)
				}
			}
		}
		for _, cta := range []int64{1, p.launch.Grid.Count() / 2, p.launch.Grid.Count() - 1} {
			if cta >= p.launch.Grid.Count() {
				continue
			}
			other := run(cta, Options{LoopSample: 3})
			if prog.SamePath() && (other.work != first.work || !reflect.DeepEqual(other.steps, first.steps)) {
				t.Errorf("%s: CTA %d takes another path than CTA 0", rec.PTX, cta)
			}
			if prog.SameShared() && !reflect.DeepEqual(other.passes, first.passes) {
				t.Errorf("%s: CTA %d has other bank conflicts than CTA 0", rec.PTX, cta)
			}
		}
		if prog.SamePath() {
			paths++
		}
		if prog.SameShared() {
			shared++
		}
	}
	if paths < 5 || shared < 5 || apart < 5 {
		t.Errorf("%d kernels whose CTAs take the same path, %d with the same accesses to shared memory, %d whose warps go by themselves: want 5 of each", paths, shared, apart)
	}
}

// A path, an address and an iteration count that come from the CTA's index are each
// found to differ.
func TestUnlike(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		path, shared bool
	}{
		{"address in global memory", "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd5, %r1, 64;\nadd.s64 %rd5, %rd3, %rd5;\nst.global.u32 [%rd5], %r0;\nst.shared.u32 [%r31], %r0;", true, true},
		{"address in shared memory", "mov.u32 %r1, %ctaid.x;\nshl.b32 %r1, %r1, 2;\nadd.s32 %r1, %r31, %r1;\nst.shared.u32 [%r1], %r0;", true, false},
		{"guard in shared memory", "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 st.shared.u32 [%r31], %r0;", true, false},
		{"branch", "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra end;\nst.global.u32 [%rd3], %r0;\nend:", false, false},
		{"exit", "mov.u32 %r1, %ctaid.x;\nadd.u32 %r1, %r1, %r0;\nsetp.gt.u32 %p0, %r1, 20;\n@%p0 exit;", false, false},
		{"loop", "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\nl: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, %r1;\n@%p0 bra l;", false, false},
		{"what memory holds", "ld.global.u32 %r1, [%rd4];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra end;\nst.global.u32 [%rd3], %r0;\nend:", false, false},
		{"carry", "mov.u32 %r1, %ctaid.x;\nadd.cc.u32 %r1, %r1, -1;\naddc.u32 %r2, 0, 0;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra end;\nst.global.u32 [%rd3], %r0;\nend:", false, false},
		{"a guard that a sampled loop compares", "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\nl: setp.gt.u32 %p1, %r2, %r1;\n@%p1 st.global.u32 [%rd3], %r0;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 100;\n@%p0 bra l;", false, false},
	} {
		p := compileFor(t, buildKernel(t, "k.ptx", []byte(bodyKernel("", c.body))), Slice)
		if p.SamePath() != c.path || p.SameShared() != c.shared {
			t.Errorf("%s: same path %v, same shared %v; want %v, %v", c.name, p.SamePath(), p.SameShared(), c.path, c.shared)
		}
	}
}

// Along which axes of the grid CTAs may execute other blocks is told from what they compute their path from.
func TestPathAxes(t *testing.T) {
	branch := "setp.eq.u32 %p0, %r1, 0;\n@%p0 bra end;\nst.global.u32 [%rd3], %r0;\nend:"
	for _, c := range []struct {
		name, body string
		want       [3]bool
	}{
		{"address", "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd5, %r1, 64;\nadd.s64 %rd5, %rd3, %rd5;\nst.global.u32 [%rd5], %r0;", [3]bool{}},
		{"branch", "mov.u32 %r1, %ctaid.y;\n" + branch, [3]bool{false, true, false}},
		{"two", "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.z;\nadd.u32 %r1, %r1, %r2;\n" + branch, [3]bool{true, false, true}},
		{"what is found at an address", "mov.u32 %r1, %ctaid.z;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd5, %rd4, %rd5;\nld.global.u32 %r1, [%rd5];\n" + branch, [3]bool{false, false, true}},
		{"loop", "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\nl: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, %r1;\n@%p0 bra l;", [3]bool{true, false, false}},
		{"cluster", "mov.u32 %r1, %cluster_ctarank;\n" + branch, [3]bool{true, true, true}},
	} {
		p := compileFor(t, buildKernel(t, "k.ptx", []byte(bodyKernel("", c.body))), Slice)
		if got := p.PathAxes(); got != c.want {
			t.Errorf("%s: axes %v, want %v", c.name, got, c.want)
		}
	}
}
