package opt

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// FoldSaturation folds cvt.sat into the addition or multiplication that only it reads.
func FoldSaturation(f *hir.Func) error {
	if !f.Target.Uses(rules.SaturationFolding) {
		return nil
	}
	uses := f.CountUses()
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if n.Op != ir.Cvt || n.Type != ir.F32 || n.SrcType != ir.F32 || n.Mod&^ir.ModFtz != ir.ModSat || n.Src[0].Kind != ir.OperandReg {
				continue
			}
			d := f.DefOf(vreg.Value(n.Src[0].Reg))
			if d == nil || d.Type != ir.F32 || uses[n.Src[0].Reg] != 1 || d.Guard != n.Guard || d.GuardNot != n.GuardNot {
				continue
			}
			switch d.Op {
			case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Fma:
				d.Mod |= ir.ModSat
				n.Op, n.Mod = ir.Mov, 0
			}
		}
	}
	return nil
}
