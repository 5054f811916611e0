package assemble

import "github.com/warptune/warptune/simengine/ir"

// uses of each value by nodes, counted once before selection.
func (f *hfn) countUses() []int32 {
	uses := make([]int32, len(f.vals))
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.guard != noValue {
				uses[n.guard]++
			}
			for i := range n.src {
				if o := &n.src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
					uses[o.Reg]++
				}
			}
		}
	}
	return uses
}
