package sched

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// multiplied multiplies n fragments of shared memory one after the other into sums of their own, which take most
// registers at its end.
func multiplied(n int) string { return copiedAndMultiplied(0, n) }

// copiedAndMultiplied copies so many vectors from global to shared memory before.
func copiedAndMultiplied(copies, n int) string {
	var s strings.Builder
	fmt.Fprintf(&s, asmtest.Header+`.visible .entry multiplied(.param .u64 a)
{
.reg .f32 %%f<%d>; .reg .b32 %%r<%d>; .reg .b64 %%rd<4>;
.shared .align 16 .b8 tile[32768];
ld.param.u64 %%rd1, [a];
mov.u32 %%r1, %%tid.x;
mul.wide.u32 %%rd2, %%r1, 4;
add.s64 %%rd3, %%rd1, %%rd2;
mov.u32 %%r2, tile;
mad.lo.s32 %%r3, %%r1, 16, %%r2;
`, 4*n, 8+4*n+4*copies)
	for i := range copies {
		r := 8 + 4*n + 4*i
		fmt.Fprintf(&s, "ld.global.v4.b32 {%%r%d,%%r%d,%%r%d,%%r%d}, [%%rd3+%d];\n", r, r+1, r+2, r+3, 4096*i)
		fmt.Fprintf(&s, "st.shared.v4.b32 [%%r3+%d], {%%r%d,%%r%d,%%r%d,%%r%d};\n", 512*i, r, r+1, r+2, r+3)
	}
	for i := range n {
		r, f := 4+4*i, 4*i
		fmt.Fprintf(&s, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r%d,%%r%d,%%r%d,%%r%d}, [%%r3+%d];\n", r, r+1, r+2, r+3, 512*i)
		fmt.Fprintf(&s, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%f%d,%%f%d,%%f%d,%%f%d}, {%%r%d,%%r%d,%%r%d,%%r%d}, {%%r%d,%%r%d}, {0f00000000,0f00000000,0f00000000,0f00000000};\n",
			f, f+1, f+2, f+3, r, r+1, r+2, r+3, r, r+1)
	}
	for i := range 4 * n {
		fmt.Fprintf(&s, "st.global.f32 [%%rd3+%d], %%f%d;\n", 128*i, i)
	}
	return s.String() + "ret;\n}\n"
}

// In a block that needs more registers at its end than there are, fragments are still loaded ahead of the products
// before, with no more registers than its own order takes.
func TestFragmentsAreLoadedAheadBesidePressure(t *testing.T) {
	f := asmtest.SelectFor(t, asmtest.BuildKernel(t, "multiplied", []byte(multiplied(16))), [2]int{9, 0})
	specific := *f.Target
	specific.Specific = true
	f.Target = &specific
	s := new(Scratch).Grow(f)
	FewestRegisters(f, s)
	g := DAGs(f, s)[0]
	order := scheduleBlock(f, 0, g.pressure-1, 0, g, s)
	ahead, most, products := 0, 0, 0
	for _, i := range order {
		switch op := g.insts[i].Op; {
		case op == mir.OpLDSM:
			ahead++
			most = max(most, ahead)
		case IsMMA(op):
			ahead--
			products++
		}
	}
	if products != 16 || most < 4 {
		t.Errorf("of %d products at most %d have their fragments, want 4 of 16", products, most)
	}
	if p := orderPressure(f, 0, &g.ops, order, g.bounds.out, s.general, s); p > g.pressure {
		t.Errorf("%d registers live, %d in the block's own order", p, g.pressure)
	}
}

// Where a block has loads in one part and needs most registers in another, loads run ahead as far as the budget allows:
// neither beyond it, as if the block needed more anyway, nor one after the other.
func TestLoadsRunAheadWithinTheBudget(t *testing.T) {
	f := asmtest.SelectFor(t, asmtest.BuildKernel(t, "multiplied", []byte(copiedAndMultiplied(24, 16))), [2]int{9, 0})
	specific := *f.Target
	specific.Specific = true
	f.Target = &specific
	s := new(Scratch).Grow(f)
	FewestRegisters(f, s)
	g := DAGs(f, s)[0]
	for _, slack := range []int{8, 16, 32} {
		ahead, most := 0, 0
		for _, i := range scheduleBlock(f, 0, g.pressure-slack, g.pressure, g, s) {
			switch g.insts[i].Op {
			case mir.OpLDG:
				ahead++
				most = max(most, ahead)
			case mir.OpSTS:
				ahead--
			}
		}
		if room := (g.pressure - slack) / 4; most > room || most < room-4 {
			t.Errorf("%d loads are under way at most in %d registers of %d, want about %d", most, g.pressure-slack, g.pressure, room)
		}
	}
}
