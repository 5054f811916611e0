package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
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
// sub-partition in the mean, cycles: 0 where all find what they load.
func TableHold(in *Input) float64 {
	if in.Program.Kernel.ConstBytes <= tablePlaces*tableLine {
		return 0
	}
	ctas := float64(newGridShape(in).resident) * math.Min(1, float64(in.WarpsPerCTA)/float64(in.Arch.SubPartitions))
	return tableMiss * math.Min(math.Max(ctas-tableTogether, 0)/(tableApart-tableTogether), 1)
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
