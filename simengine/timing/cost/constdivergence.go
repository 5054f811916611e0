package cost

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

const (
	// tablePlaces is how many lines of constant memory, constLine bytes each, a sub-partition
	// keeps for loads through uniform registers. Warps at four places of a table load as fast
	// as warps at one; with warps at five and more places each load takes 55 to 95 cycles of
	// the sub-partition (deploy/calibrate constants.places, H200): ConstDivergenceHold is the middle.
	tablePlaces = 4
	// divergentCTAs is from how many resident CTAs on each is taken to be at a place of its
	// own. It is from 96 configurations of four kernels that walk tables (deploy/calibrate/datasets:
	// coulomb, dedisperse, point_in_polygon, fir), not from a microbenchmark. Of those that would take over 1.5 times
	// as long if all loads waited, some did take over 1.4 times as long: 28 of 30 with 12 and more CTAs, 17 of 28
	// with 5 to 8, 4 of 15 with fewer.
	divergentCTAs = 12
)

// ConstDivergenceHold is how long a load of WalksConstTable holds the constant cache of its
// sub-partition where CTAs are at places of their own, cycles.
const ConstDivergenceHold = 75

// ConstDivergence is the share of launches in which CTAs come apart on the table that they
// walk, so that each load waits as ConstDivergenceHold says: 0 where what they load stays
// cached. All CTAs are taken to walk the table as cta does.
func ConstDivergence(in *timing.Input, cta *trace.CTA) float64 {
	if !walksTables(in.Program) || walked(in.Program.Kernel, cta) <= tablePlaces*constLine {
		return 0
	}
	ctas := float64(timing.NewShape(in).Resident) * math.Min(1, float64(in.WarpsPerCTA)/float64(in.Arch.SubPartitions))
	return math.Min(math.Max(ctas-tablePlaces, 0)/(divergentCTAs-tablePlaces), 1)
}

// Between is the expected time of a launch that takes the time apart in a share of cases and
// the time together in the others. They differ by up to ten times: it is their weighted
// geometric mean.
func Between(together, apart, share float64) float64 {
	return together * math.Pow(apart/together, share)
}

// walked is how many bytes of constant memory a warp of a CTA walks at most. Iterations that
// the trace leaves out go on in the stride of those before them.
func walked(k *ir.Kernel, cta *trace.CTA) int {
	if k.ConstBytes <= tablePlaces*constLine {
		return 0
	}
	most := 0
	var weight []int64
	last := make([]int, len(k.Instrs)) // 1 + where the instruction read last
	for i := range cta.Warps {
		w := &cta.Warps[i]
		weight = coalesce.Weights(w, weight)
		clear(last)
		low, high := k.ConstBytes, 0
		for step := range w.Steps {
			for _, a := range w.Accesses[w.Steps[step].Access:coalesce.AccessEnd(w, step)] {
				if a.Space != ir.Const || a.Passes > 1 {
					continue
				}
				at, end := int(a.First), int(a.First)+int(a.Width)
				if before := last[a.PC] - 1; before >= 0 {
					on := (at - before) * int(max(weight[step]-1, 0))
					at, end = at+min(on, 0), end+max(on, 0)
				}
				last[a.PC] = int(a.First) + 1
				low, high = min(low, at), max(high, end)
			}
		}
		most = max(most, min(high-low, k.ConstBytes))
	}
	return most
}

// WalksConstTable reports whether an instruction loads from constant memory into uniform
// registers, from an address in one: from where the warp is in a table.
func WalksConstTable(k *ir.Kernel, in *assemble.Instr) bool {
	return in.Class == assemble.LDC && in.Source >= 0 && in.Src[0].Count > 0 &&
		in.Dst[0].First >= assemble.UniformBase && k.Instrs[in.Source].Space == ir.Const
}

// walksTables reports whether an instruction of a program is a WalksConstTable.
func walksTables(p *assemble.Program) bool {
	for b := range p.Blocks {
		for i := range p.Blocks[b].Instrs {
			if WalksConstTable(p.Kernel, &p.Blocks[b].Instrs[i]) {
				return true
			}
		}
	}
	return false
}
