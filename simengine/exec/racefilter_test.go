package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// exchanges are bodies whose warps pass values through shared memory, in order or
// for want of a barrier not.
var exchanges = []string{
	"st.shared.u32 [%r31], %r0;\nbar.sync 0;\nxor.b32 %r1, %r30, 508;\nadd.s32 %r1, %r29, %r1;\nld.shared.u32 %r2, [%r1];\nld.shared.u32 %r3, [%r1];\nbar.sync 0;\nst.shared.u32 [%r1], %r3;",
	"mov.u32 %r1, 0;\nl: st.shared.u32 [%r31], %r0;\nbar.sync 0;\nld.shared.u32 %r2, [%r29+64];\nld.shared.u32 %r3, [%r29+68];\nadd.s32 %r29, %r29, %r30;\nld.shared.u32 %r3, [%r29+68];\nld.shared.v2.u32 {%r4, %r5}, [%r29+192];\nbar.sync 0;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 7;\n@%p0 bra l;",
	"st.shared.u32 [%r31], %r0;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 bra low;\nld.shared.u32 %r2, [%r31];\nlow: bar.sync 0;\n@%p0 st.shared.u32 [%r31+64], %r2;\nld.shared.u32 %r3, [%r31+4];",
	"setp.lt.u32 %p0, %r0, 64;\n@%p0 bra a;\nld.shared.u32 %r2, [%r31];\nexit;\na: bar.sync 0;\nst.shared.u32 [%r31], %r2;\nadd.s32 %r31, %r31, 4;\nld.shared.u32 %r3, [%r31];\nld.shared.u32 %r3, [%r31+32];",
	"cp.async.ca.shared.global [%r31], [%rd4], 4;\ncp.async.commit_group;\nst.shared.u32 [%r31+512], %r0;\ncp.async.wait_group 0;\nbar.sync 0;\nxor.b32 %r1, %r30, 508;\nadd.s32 %r1, %r29, %r1;\nld.shared.u32 %r2, [%r1];\nld.shared.u32 %r3, [%r1+512];\nbar.sync 0;\nst.shared.u32 [%r1], %r3;",
	"mov.u32 %r1, 0;\ncp.async.ca.shared.global [%r31], [%rd4], 4;\ncp.async.commit_group;\nl: and.b32 %r2, %r1, 1;\nshl.b32 %r2, %r2, 11;\nxor.b32 %r4, %r2, 2048;\nadd.s32 %r4, %r4, %r31;\ncp.async.ca.shared.global [%r4], [%rd4], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\nxor.b32 %r5, %r30, 256;\nadd.s32 %r5, %r5, %r29;\nadd.s32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];\nbar.sync 0;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 7;\n@%p0 bra l;",
	"shl.b32 %r1, %r0, 4;\nadd.s32 %r1, %r1, %r29;\nmul.wide.u32 %rd5, %r0, 16;\nadd.s64 %rd6, %rd1, %rd5;\ncp.async.cg.shared.global [%r1], [%rd6], 16;\ncp.async.wait_all;\nld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];\ncp.async.ca.shared.global [%r1], [%rd6], 8;\ncp.async.commit_group;\ncp.async.ca.shared.global [%r1+8], [%rd6], 4;\ncp.async.wait_group 0;\nbar.sync 0;\nxor.b32 %r6, %r1, 64;\nld.shared.u32 %r7, [%r6];\nbar.sync 0;\ncp.async.cg.shared.global [%r1], [%rd6], 16;",
	"setp.lt.u32 %p0, %r0, 16;\n@%p0 bra a;\ncp.async.ca.shared.global [%r31], [%rd4], 4;\ncp.async.commit_group;\na: cp.async.ca.shared.global [%r31+1024], [%rd4], 4;\ncp.async.wait_all;\nld.shared.u32 %r2, [%r31+1024];\nbar.sync 0;\nst.shared.u32 [%r31+4], %r2;\nld.shared.u32 %r3, [%r31+1028];",
}

// What rules races out phase by phase, and takes loads for others moved, says of
// kernels with and without races, and records of them, what the checker does that
// looks at every lane.
func TestPhases(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	races, quick := [2]int{}, [2]int{} // without and with asynchronous copies
	for round := range 6000 {
		text := bodyKernel("", exchanges[r.IntN(len(exchanges))])
		if round >= len(exchanges) {
			text = ptxtest.Mutate(r, text)
		}
		k, prog, l, mem := launched(text, 112)
		if mem == nil {
			continue
		}
		opt := Options{Races: true, StepLimit: 500}
		run := func(plain bool) (*Runner, *coalesce.Recorder, error) {
			rec, runner := coalesce.NewRecorder(k, 4), NewRunner(prog)
			rec.Begin(1, 4)
			var obs Observer = rec
			if plain {
				obs = struct{ Observer }{rec}
			}
			return runner, rec, runner.Run(l, mem, 1, opt, obs)
		}
		one, recorded, err := run(false)
		other, want, wantErr := run(true)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || one.Work() != other.Work() {
			t.Fatalf("round %d: %v, work %d; the checker says %v, %d\n%s", round, err, one.Work(), wantErr, other.Work(), text)
		}
		if !reflect.DeepEqual(coalesce.Clone(recorded.CTA()), coalesce.Clone(want.CTA())) {
			t.Fatalf("round %d: another trace than with every access looked at\n%s", round, text)
		}
		var f *fault.Fault
		copies := min(prog.CopyGranule, 1)
		if errors.As(err, &f) && f.Kind == fault.Race {
			races[copies]++
		} else if err == nil && !one.checkRaces {
			quick[copies]++
		}
	}
	if slices.Min(races[:]) < 100 || slices.Min(quick[:]) < 100 {
		t.Errorf("%d races, %d kernels without one that the checker was not asked for: want 100 of each", races, quick)
	}
}

// launched compiles a mutant and makes up a launch of it. The memory is nil where it cannot be.
func launched(text string, threads int) (k *ir.Kernel, prog *Program, l Launch, mem *memory.Device) {
	if k = ptxtest.Build(text); k == nil {
		return
	}
	prog, err := Compile(k, Slice)
	if err != nil {
		return
	}
	l, mem = randomLaunch(k, threads)
	return
}

// randomLaunch is a launch of two CTAs whose buffers hold random words; nil where memory does not hold them.
func randomLaunch(k *ir.Kernel, threads int) (Launch, *memory.Device) {
	mem := memory.New(1 << 20)
	if mem.LoadModule(k) != nil {
		return Launch{}, nil
	}
	params := make([]byte, memory.ParamBytes(k))
	for i, p := range k.Params {
		if addr, err := mem.Alloc(memory.Buffer{Name: fmt.Sprint(i), Elem: ir.U32, Count: 2048, Fill: memory.Random(1, 1000)}); err == nil && p.Size == 8 {
			element.Store(params[p.Offset:], addr, 8)
		}
	}
	return Launch{Grid: Dim3{2, 1, 1}, CTA: Dim3{threads, 1, 1}, Params: params}, mem
}
