package assemble

import "github.com/warptune/warptune/simengine/ir"

// propagateCopies replaces uses of registers that only ever hold a copy: of
// another register written once, of a constant, of a variable's address, or of
// a generic address that stands for the same bytes (cvta). Whoever reads the
// negation of a predicate reads the predicate, negated.
func (f *hfn) propagateCopies() error {
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			for i := range n.src {
				f.resolve(n, &n.src[i])
			}
			f.resolveGuard(n)
		}
	}
	return nil
}

// propagateConstants has copies within a block of what was just set to a constant be
// constants, too: variables that begin with zero are often copied from one that does.
func (f *hfn) propagateConstants() error {
	known := map[value]ir.Operand{}
	for _, b := range f.order {
		clear(known)
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.op == ir.Mov && len(n.src) == 1 && n.src[0].Kind == ir.OperandReg {
				if c, ok := known[value(n.src[0].Reg)]; ok && words(n.typ) == 1 {
					n.src[0] = c
				}
			}
			for _, d := range n.dst {
				delete(known, d)
			}
			if setsConstant(n) && n.guard == noValue && words(n.typ) == 1 {
				known[n.dst[0]] = n.src[0]
			}
		}
	}
	return nil
}
