package exec

import (
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// special sets one special register for all lanes.
func (r *Runner) special(w *warp, s code.SpecialSlot) {
	if s.Slot.File == code.File64 {
		fill(&w.r64[s.Slot.Index], uint64(w.steps))
		return
	}
	d := &w.r32[s.Slot.Index]
	for l := range d {
		d[l] = r.specialValue(w, l, s.Reg)
	}
}

func (r *Runner) specialValue(w *warp, l int, reg ir.Special) uint32 {
	t, cta, grid := w.thread(l), r.launch.CTA, r.launch.Grid
	switch reg {
	case ir.TidX:
		return uint32(t % cta.X)
	case ir.TidY:
		return uint32(t / cta.X % cta.Y)
	case ir.TidZ:
		return uint32(t / cta.X / cta.Y)
	case ir.NTidX:
		return uint32(cta.X)
	case ir.NTidY:
		return uint32(cta.Y)
	case ir.NTidZ:
		return uint32(cta.Z)
	case ir.CTAIdX:
		return uint32(r.cta % int64(grid.X))
	case ir.CTAIdY:
		return uint32(r.cta / int64(grid.X) % int64(grid.Y))
	case ir.CTAIdZ:
		return uint32(r.cta / int64(grid.X) / int64(grid.Y))
	case ir.NCTAIdX:
		return uint32(grid.X)
	case ir.NCTAIdY:
		return uint32(grid.Y)
	case ir.NCTAIdZ:
		return uint32(grid.Z)
	}
	return r.machineValue(w, l, reg)
}

// machineValue is a special register that tells where a thread runs. SMs are
// not modelled here: every CTA believes it is alone on SM 0.
func (r *Runner) machineValue(w *warp, l int, reg ir.Special) uint32 {
	switch reg {
	case ir.LaneID:
		return uint32(l)
	case ir.WarpID:
		return uint32(w.id)
	case ir.NWarpID:
		return MaxThreads / WarpSize
	case ir.NSMID:
		return 1
	case ir.LaneMaskEQ:
		return 1 << l
	case ir.LaneMaskLT:
		return 1<<l - 1
	case ir.LaneMaskLE:
		return uint32(uint64(2)<<l - 1)
	case ir.LaneMaskGT:
		return ^uint32(uint64(2)<<l - 1)
	case ir.LaneMaskGE:
		return ^uint32(1<<l - 1)
	case ir.DynamicSmemSize:
		return uint32(r.launch.DynamicShared)
	case ir.TotalSmemSize:
		return uint32(len(r.shared))
	case ir.EnvReg1, ir.EnvReg2:
		if !r.p.Spins { // it does not wait for the grid, and may be launched in the ordinary way
			return 0
		}
		at := uint64(memory.GridWorkspace)
		if reg == ir.EnvReg1 {
			at >>= 32
		}
		return uint32(at)
	case ir.ReservedSmemBegin, ir.ReservedSmem0, ir.ReservedSmem1:
		return uint32(len(r.shared) - r.p.ReservedShared())
	case ir.ReservedSmemEnd:
		return uint32(len(r.shared))
	case ir.ReservedSmemCap:
		return uint32(r.p.ReservedShared())
	case ir.Clock:
		return uint32(w.steps)
	}
	return r.clusterValue(reg)
}
