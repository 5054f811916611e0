package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptxtest"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// mutantSources are small kernels that use most of the machine.
func mutantSources() []string {
	return []string{
		rowSum, aluLoop,
		bodyKernel("", "st.shared.u32 [%r31], %r0;\nbar.sync 0;\nxor.b32 %r1, %r30, 508;\nadd.s32 %r1, %r29, %r1;\nld.shared.u32 %r2, [%r1];\nshfl.sync.down.b32 %r3|%p1, %r2, 3, 31, -1;\n@%p1 st.global.u32 [%rd3], %r3;\natom.shared.add.u32 %r4, [buf], 2;\nred.global.max.s32 [%rd0], %r4;"),
		bodyKernel("", ".local .align 8 .b8 arr[32];\n.reg .b64 %l<4>;\nmov.u64 %l0, arr;\ncvta.local.u64 %l1, %l0;\nst.u32 [%l1], %r0;\nst.local.v2.u32 [%l0+8], {%r0, %r30};\nld.v2.u32 {%r1, %r2}, [%l1+8];\nand.b32 %r3, %r0, 3;\nbrx.idx %r3, list;\na: add.s32 %r1, %r1, 1;\nbra done;\nb: div.s32 %r1, %r1, %r2;\nbra done;\nc: mul.wide.s32 %l2, %r1, %r2;\ncvt.u32.u64 %r1, %l2;\ndone: st.global.u32 [%rd3], %r1;\nbra end;\nlist: .branchtargets a, b, c;\nend:"),
		bodyKernel("", "cp.async.ca.shared.global [%r31], [%rd4], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\nmov.u32 %r1, 0;\nl: ld.shared.s16 %r2, [%r31+2];\nprmt.b32 %r3, %r2, %r1, 0x5410;\nbfe.s32 %r4, %r3, 3, 9;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 40;\n@%p0 bra l;\nvote.sync.ballot.b32 %r5, %p0, -1;\nst.global.u32 [%rd3], %r5;"),
		bodyKernel("", ".reg .f32 %f<8>;\nshl.b32 %r1, %r0, 4;\nand.b32 %r1, %r1, 496;\nadd.s32 %r1, %r29, %r1;\nst.shared.v4.b32 [%r1], {%r0, %r30, %r29, %r0};\nbar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];\nldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r6, %r7}, [buf+512];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r8, %r7;\nmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, {%r6, %r8}, {0f00000000, 0f00000000, 0f00000000, 0f3F800000};\nst.global.v2.f32 [%rd0], {%f1, %f3};"),
		bodyKernel("", ".reg .f32 %f<8>;\nwmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], 16;\nwmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, [buf], 24;\nwmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd0], 16;\nwmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};\nwmma.store.d.sync.aligned.col.m16n16k16.f32 [%rd0], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, 16;"),
	}
}

// runMutant builds and runs a text, whatever it is; it must not panic. It returns
// how each mode that could be compiled ended.
func runMutant(text string, loopSample int) map[Mode]error {
	ended := map[Mode]error{}
	k := ptxtest.Build(text)
	if k == nil {
		return nil
	}
	for _, mode := range []Mode{Full, Slice} {
		prog, err := Compile(k, mode)
		if err != nil {
			continue
		}
		mem := memory.New(1 << 20)
		if mem.LoadModule(k) != nil {
			return nil
		}
		params := make([]byte, memory.ParamBytes(k))
		for i, p := range k.Params {
			addr, err := mem.Alloc(memory.Buffer{Name: fmt.Sprint(i), Elem: ir.U32, Count: 2048, Fill: memory.Random(1, 1000)})
			if err == nil && p.Size == 8 {
				element.Store(params[p.Offset:], addr, 8)
			} else if p.Size == 4 {
				element.Store(params[p.Offset:], 40, 4)
			}
		}
		rec := coalesce.NewRecorder(k, 4)
		rec.Begin(0, 3)
		l := Launch{Grid: Dim3{2, 1, 1}, CTA: Dim3{80, 1, 1}, Params: params}
		ended[mode] = NewRunner(prog).Run(l, mem, 1, Options{Races: true, LoopSample: loopSample, StepLimit: 500}, rec)
	}
	return ended
}

// TestMutants runs kernels with random damage: nothing may panic.
func TestMutants(t *testing.T) {
	const seed = 99
	r := rand.New(rand.NewPCG(seed, 0))
	ran := 0
	for round := 0; round < 3000; round++ {
		sources := mutantSources()
		text := ptxtest.Mutate(r, sources[r.IntN(len(sources))])
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Errorf("seed %d round %d: %v in\n%s", seed, round, e, text)
					panic(e)
				}
			}()
			if len(runMutant(text, 2)) > 0 {
				ran++
			}
		}()
	}
	if ran < 500 {
		t.Errorf("only %d of 3000 mutants could be run", ran)
	}
}

// TestComplete: what the slice leaves out is refused as compiling all of the kernel
// refuses it, and only then.
func TestComplete(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	// The mutants' types differ from their registers'; these are never modelled.
	odd := []string{"tanh.approx.bf16x2 %r1, %r0;", "mov.b64 %r1, %r0;", "fma.rn.f64 %r1, %r0, %r0, %r0;", "set.eq.f16x2.f16x2 %r1, %r0, %r0;"}
	refused, complete := 0, 0
	for round := range 6000 {
		sources := mutantSources()
		text := sources[r.IntN(len(sources))]
		if round%2 == 0 {
			if at := strings.Index(text, "st.global"); at > 0 {
				text = text[:at] + odd[r.IntN(len(odd))] + text[at:]
			}
		}
		k := ptxtest.Build(ptxtest.Mutate(r, text))
		if k == nil {
			continue
		}
		slice, err := Compile(k, Slice)
		if err != nil {
			continue
		}
		_, want := Compile(k, Full)
		got := slice.Complete()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: %v, compiling all of it says %v", round, got, want)
		}
		if want != nil {
			refused++
		} else {
			complete++
		}
	}
	if refused < 20 || complete < 200 {
		t.Errorf("%d kernels refused, %d complete: too few to tell", refused, complete)
	}
}

// TestSliceSeesEveryRace: where full execution finds a race, executing the slice
// does not end without a fault. That it does in more kernels is to be expected.
func TestSliceSeesEveryRace(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	races := 0
	for round := 0; round < 4000; round++ {
		sources := mutantSources()
		text := ptxtest.Mutate(r, sources[r.IntN(len(sources))])
		ended := runMutant(text, 0)
		var found *fault.Fault
		sliced, ok := ended[Slice]
		if !ok || !errors.As(ended[Full], &found) || found.Kind != fault.Race {
			continue
		}
		races++
		if sliced == nil {
			t.Errorf("seed %d round %d: the slice runs without a fault, although %v in\n%s", seed, round, found, text)
		}
	}
	if races < 50 {
		t.Errorf("only %d mutants of 4000 raced", races)
	}
}

// FuzzKernel is TestMutants for Go's fuzzer.
func FuzzKernel(f *testing.F) {
	for _, s := range mutantSources() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { runMutant(text, 2) })
}
