package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

const (
	// tablePlaces is at how many places of a table the warps of a sub-partition can be
	// and find there what they load through uniform registers, and tableLine the bytes
	// around a place: of warps at four places a load takes no longer than of warps at
	// one, of warps at five and more each takes 55 to 95 cycles of the sub-partition
	// (deploy/calibrate constants.places, on the H200).
	tablePlaces = 4
	tableLine   = 64
	tableMiss   = 75
	// Up to tableTogether CTAs walk a table together, from tableApart on each is at a
	// place of its own. No more than tablePlaces can be at more; what becomes of
	// more is not known but from 62 configurations of three kernels that walk tables
	// (deploy/calibrate/validation/third: coulomb, dedisperse, point_in_polygon): all but
	// one of those with 12 to 16 came apart where that can be seen, and of those with 5
	// to 8 every other one.
	tableTogether = 8
	tableApart    = 12
)

// TableHold returns how long one of TableLoads holds the constant cache of its
// sub-partition in the mean, cycles, when all CTAs walk as one does: 0 where they find
// what they load.
func TableHold(in *Input, cta *trace.CTA) float64 {
	if walked(in.Program.Kernel, cta) <= tablePlaces*tableLine {
		return 0
	}
	ctas := float64(newGridShape(in).resident) * math.Min(1, float64(in.WarpsPerCTA)/float64(in.Arch.SubPartitions))
	return tableMiss * math.Min(math.Max(ctas-tableTogether, 0)/(tableApart-tableTogether), 1)
}

// walked returns how many bytes of constant memory a warp of a CTA walks, with the
// iterations that the trace leaves out, which go on as those before them did.
func walked(k *ir.Kernel, cta *trace.CTA) int {
	if k.ConstBytes <= tablePlaces*tableLine {
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
			for _, a := range w.Accesses[w.Steps[step].Access:accessEnd(w, step)] {
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

// TableLoads returns how many loads of a table a machine instruction is, in uniform
// registers of two words each: 0 for one that does not load from constant memory, from
// an address in a register. Only those of whose requests all lanes want the same walk.
func TableLoads(k *ir.Kernel, in *assemble.Instr) int {
	if in.Class != assemble.LDC || in.Source < 0 || in.Src[0].Count == 0 || k.Instrs[in.Source].Space != ir.Const {
		return 0
	}
	return max(int(in.Width)/8, 1)
}
