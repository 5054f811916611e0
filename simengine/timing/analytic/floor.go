package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// floor is the cycles below which no level puts a launch: what its instructions
// and its compulsory traffic take of the unit that has most to do, with every
// latency hidden and every unit busy from the start.
//
//   - Each scheduler issues so many instructions a cycle, each issue port takes
//     one in so many, the load/store unit, the texture unit and the constant
//     cache serve so many requests: what the busiest SM's CTAs execute there, spread evenly over its
//     sub-partitions.
//   - DRAM moves what the launch must move at the pins' rate: no row is opened
//     and no direction turned.
//   - CTAs are launched one after another.
//
// L2 is left out: what reaches it depends on what L1 keeps, on which the levels
// differ.
func (s shape) floor(f *cost.Figures, in *timing.Input, g *footprint.Grid, d *demand) float64 {
	most := max(d.busy[lsu], d.busy[idc], d.busy[texels])
	for r := issueSlot; r < lsu; r++ {
		most = math.Max(most, d.busy[r])
	}
	least := most * float64(s.PerSM)
	least = math.Max(least, (g.Plan.ReadBytes+g.Plan.WriteBytes)/in.Arch.DRAMBytesPerCycle())
	return f.ColdStart + math.Max(least, f.LaunchInterval*s.Active*float64(s.PerSM-1))
}
