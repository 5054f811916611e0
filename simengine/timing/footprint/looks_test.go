package footprint

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// CTAs in step that share what they load are as far apart as a step along the first axis that they share along.
func TestLooksByAxis(t *testing.T) {
	d := Device{Grid: [3]int{32, 64, 1}, Resident: 264, CTAsPerSM: 2}
	const ctas = 32 * 64
	looks := func(along Axes, inStep, sharers float64) float64 {
		g := group{}
		for k := range d.Grid {
			g.distinct[X+Direction(k)] = 10
			g.inStep[X+Direction(k)] = int64(10 * inStep)
		}
		p := Plan{ByInstr: newByInstr(1)}
		p.DistinctAlong[0], p.LockstepSharers[0], p.Readers[0], p.Merged[0] = along, sharers, sharers, 1
		return p.looks(&g, &d, 0, ctas)
	}
	want := func(apart float64) float64 {
		return cost.Sharers{CTAs: 8, Apart: apart, Waves: ctas / 264.0, PerSM: 2}.LookedUp()
	}
	const columns, rows Axes = 1 << 0, 1 << 1
	for name, c := range map[string]struct{ got, want float64 }{
		"a row of CTAs reads the same":    {looks(rows, 1, 8), want(1)},
		"a column of CTAs reads the same": {looks(columns, 1, 8), want(32)},
		"each its own":                    {looks(columns|rows, 1, 1), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %.3f looked up, want %.3f", name, c.got, c.want)
		}
	}
}

// Copies of one row wait for each other, by one instruction or by several; rows on other slices and halves of sectors
// do not.
func TestCopiesOfTheSameRows(t *testing.T) {
	k := &ir.Kernel{Instrs: make([]ir.Instr, 4)}
	for pc := range k.Instrs {
		k.Instrs[pc] = ir.Instr{Op: ir.CpAsync, Mod: ir.ModBypassL1}
	}
	took := func(lines ...trace.Line) (sum float64) { // one by each instruction, ten times
		w := trace.Warp{Steps: make([]trace.Step, 1), Lines: lines}
		for n := range lines {
			w.Accesses = append(w.Accesses, trace.Access{PC: int32(n), Space: ir.Global, First: int32(n), NLines: 1})
		}
		c := CTA{CTA: &trace.CTA{Warps: []trace.Warp{w}}, Weight: [][]int64{{10}}}
		for _, n := range c.same(k) {
			sum += n
		}
		return sum
	}
	whole := func(addr uint64, times uint8) trace.Line { return trace.Line{Addr: addr, Sectors: 0xf, Times: times} }
	for _, c := range []struct {
		what  string
		lines []trace.Line
		want  float64
	}{
		{"one instruction", []trace.Line{whole(8, 4)}, 40 / sameLines},
		{"parts of a line", []trace.Line{{Addr: 8, Sectors: 1, Times: 16}}, 160 / sameParts},
		{"two halves of sectors", []trace.Line{whole(8, 2), whole(72, 2)}, 0},
		{"two instructions", []trace.Line{whole(8, 2), whole(8, 2)}, 40 / sameLines},
		{"two lines of a row", []trace.Line{whole(8, 4), whole(9, 4)}, 80 / sameLines},
		{"two rows", []trace.Line{whole(8, 4), whole(72, 4)}, 40 / sameLines},
	} {
		if got := took(c.lines...); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.2f cycles, want %.2f", c.what, got, c.want)
		}
	}
}
