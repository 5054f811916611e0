package exec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// checkScopes compares runs that leave accesses out with one that does not: what they report, and their work.
func checkScopes(t *testing.T, name string, prog *Program, l Launch, mem *memory.Device, cta int64, opt Options) (left int) {
	t.Helper()
	whole, all := NewRunner(prog), newJournal()
	mem.Reset()
	if whole.Run(l, mem, cta, opt, all) != nil {
		return 0
	}
	for _, s := range []code.Scope{code.Device, code.Path} {
		some, scoped := newJournal(), NewRunner(prog)
		o := opt
		o.DeviceOnly, o.PathOnly = s == code.Device, s == code.Path
		mem.Reset()
		if err := scoped.Run(l, mem, cta, o, some); err != nil {
			t.Fatalf("%s: scope %d: %v", name, s, err)
		}
		for w, events := range all.warps {
			want := slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.block < 0 && leavesOut(prog, e.pc, s) })
			if !slices.Equal(some.warps[w], want) {
				t.Fatalf("%s: scope %d: warp %d does %d things, want %d", name, s, w, len(some.warps[w]), len(want))
			}
			left += len(events) - len(want)
		}
		if s == code.Path && scoped.Work() != whole.PathWork() {
			t.Fatalf("%s: work %d of the path, want %d", name, scoped.Work(), whole.PathWork())
		}
	}
	return left
}

// leavesOut reports whether a scope leaves out the access of an instruction.
func leavesOut(p *Program, pc int, s code.Scope) bool {
	in := &p.Executed.Instrs[pc]
	a := code.Access{Op: in.Op, Space: in.Space, Data: p.Needed[pc] && !in.Mirrored()}
	return a.LeftOut(s)
}

// addressed are bodies whose addresses, loops and branches depend on each other.
var addressed = []string{
	"mov.u32 %r1, 0;\nl: shl.b32 %r2, %r1, 7;\nadd.s32 %r3, %r29, %r2;\nxor.b32 %r4, %r3, 64;\nst.shared.u32 [%r4], %r0;\nmul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r5, [%rd6];\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 24;\n@%p0 bra l;",
	"mov.u32 %r1, 0;\nmov.u32 %r6, 0;\nl: shl.b32 %r2, %r6, 8;\nadd.s32 %r3, %r29, %r2;\nld.shared.u32 %r4, [%r3];\nadd.s32 %r7, %r6, 1;\nsetp.lt.s32 %p1, %r7, 3;\nselp.b32 %r6, %r7, 0, %p1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 60;\n@%p0 bra l;\nst.global.u32 [%rd3], %r4;",
	"ld.global.u32 %r1, [%rd3];\nsetp.lt.u32 %p0, %r1, 500;\n@%p0 bra low;\nadd.s32 %r2, %r29, 64;\nld.shared.u32 %r3, [%r2];\nlow: shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;\nshl.b32 %r4, %r4, 2;\nld.shared.u32 %r5, [%r4];\n@%p0 st.shared.u32 [%r29], %r5;",
}

// What is computed for accesses that are left out alone is left out too, and nothing else changes: in kernels at random,
// whole and with loops sampled.
func TestScopes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	left, narrower := 0, 0
	for round := range 2000 {
		from := append(slices.Clone(addressed), exchanges...)
		text := bodyKernel("", from[round%len(from)])
		if round >= len(from) {
			text = ptxtest.Mutate(r, text)
		}
		_, prog, l, mem := launched(text, 112)
		if mem == nil {
			continue
		}
		for _, sample := range []int{0, 3} {
			left += checkScopes(t, text, prog, l, mem, 1, Options{StepLimit: 500, LoopSample: sample})
		}
		if path, _ := prog.In(code.Path); len(path) < len(prog.Code) {
			narrower++
		}
	}
	if left < 10_000 || narrower < 500 {
		t.Errorf("%d accesses left out, %d programs with less code for it: want 10000 and 500", left, narrower)
	}
}

// The same of the kernels of the dataset and, where there are any, of measured launches.
func TestScopesOfKernels(t *testing.T) {
	for _, rec := range variants(t, "ptx.zip") {
		k := buildKernel(t, rec.PTX, ptxFile(t, "ptx.zip", rec.PTX))
		p := setUp(t, k, rec.Kernel, small[rec.Kernel], rec.Params, rec.Block)
		checkScopes(t, rec.PTX, compileFor(t, k, Slice), p.launch, p.mem, 0, Options{LoopSample: 3})
	}
}

func TestScopesOfLaunches(t *testing.T) {
	seen := map[string]int{}
	for _, r := range hopperRecords(t) {
		if seen[r.Kernel]++; seen[r.Kernel] > 6 {
			continue
		}
		p := hopperProblem(t, &r)
		for _, cta := range []int64{0, p.launch.Grid.Count() / 2, p.launch.Grid.Count() - 1} {
			checkScopes(t, r.PTX, compileFor(t, p.kernel, Slice), p.launch, p.mem, cta, Options{LoopSample: 3})
		}
	}
}

// A fault of an access that a scope leaves out is none of its runs.
func TestScopeWithoutFault(t *testing.T) {
	k := ptxtest.Build(bodyKernel("", "add.s32 %r1, %r29, 1048576;\nld.shared.u32 %r2, [%r1];\nst.global.u32 [%rd3], %r0;"))
	prog := compileFor(t, k, Slice)
	l, mem := randomLaunch(k, 64)
	err := NewRunner(prog).Run(l, mem, 0, Options{}, nil)
	if f, ok := err.(*fault.Fault); !ok || f.Kind != fault.OutOfBounds || f.Space != ir.Shared {
		t.Errorf("%v, want an access to shared memory out of bounds", err)
	}
	if err := NewRunner(prog).Run(l, mem, 0, Options{DeviceOnly: true}, nil); err != nil {
		t.Error(err)
	}
}
