package exec

import (
	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
)

// emitGeneric compiles cvta, which adds or subtracts the base of a state space's window in generic
// addresses, and isspacep, which compares with the window's bounds.
func (c *compiler) emitGeneric(pc int, in *ir.Instr, i *instr) (bool, error) {
	base, ok := windowBase(in.Space)
	if !ok {
		return false, c.unsupported(pc, "generic addresses of this state space")
	}
	if in.Op == ir.Isspacep {
		i.kind, i.x = kindCall, &extra{run: (*Runner).isSpace, imm: uint64(in.Space)}
		return true, c.operands(pc, in, i.x, ir.U64)
	}
	if in.Mod&ir.ModTo != 0 {
		base = -base
	}
	i.kind, i.x = kindMixed, &extra{}
	i.f64 = func(d, a, _, _, _ *alu.Vec64) {
		for l := range d {
			d[l] = a[l] + base
		}
	}
	return true, c.operands(pc, in, i.x, ir.U64)
}

// windowBase is the base of a state space's window in generic addresses.
func windowBase(s ir.Space) (uint64, bool) {
	switch s {
	case ir.Global:
		return 0, true
	case ir.Shared, ir.SharedCluster:
		return memory.SharedWindow, true
	case ir.Local:
		return memory.LocalWindow, true
	case ir.Const:
		return memory.ConstWindow, true
	case ir.ParamSpace:
		return memory.ParamWindow, true
	}
	return 0, false
}
