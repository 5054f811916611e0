// Package opt has the passes over PTX instructions. Each is a function that rewrites an hir.Func;
// package assemble says in which order they run and why.
package opt

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// PropagateCopies replaces reads of values that are copies of a value written once, of an
// immediate, of a variable's address or of a generic address (cvta). A read of a negated predicate
// becomes a negated read.
func PropagateCopies(f *hir.Func) error {
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			for i := range n.Src {
				f.Resolve(n, &n.Src[i])
			}
			f.ResolveGuard(n)
		}
	}
	return nil
}

// PropagateConstants replaces, within a block, copies of values that were just set to a constant.
// Variables that begin with zero are often copied from one that does.
func PropagateConstants(f *hir.Func) error {
	known := map[vreg.Value]ir.Operand{}
	for _, b := range f.Order {
		clear(known)
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if n.Op == ir.Mov && len(n.Src) == 1 && n.Src[0].Kind == ir.OperandReg {
				if c, ok := known[vreg.Value(n.Src[0].Reg)]; ok && hir.Words(n.Type) == 1 {
					n.Src[0] = c
				}
			}
			for _, d := range n.Dst {
				delete(known, d)
			}
			if hir.SetsConstant(n) && n.Guard == vreg.None && hir.Words(n.Type) == 1 {
				known[n.Dst[0]] = n.Src[0]
			}
		}
	}
	return nil
}
