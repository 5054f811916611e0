package assemble

import "github.com/warptune/warptune/simengine/ir"

// saturate has sums and products whose only reader cuts them to [0, 1] do so themselves.
func (f *hfn) saturate() error {
	uses := f.countUses()
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.op != ir.Cvt || n.typ != ir.F32 || n.styp != ir.F32 || n.mod&^ir.ModFtz != ir.ModSat || n.src[0].Kind != ir.OperandReg {
				continue
			}
			d := f.defOf(value(n.src[0].Reg))
			if d == nil || d.typ != ir.F32 || uses[n.src[0].Reg] != 1 || d.guard != n.guard || d.gnot != n.gnot {
				continue
			}
			switch d.op {
			case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.Fma:
				d.mod |= ir.ModSat
				n.op, n.mod = ir.Mov, 0
			}
		}
	}
	return nil
}
