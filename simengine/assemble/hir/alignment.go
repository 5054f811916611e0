package hir

import (
	mathbits "math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// Alignment analysis: by value, a power of two that divides whatever it holds. Optimistic data
// flow, from the largest exponent down.

// maxAlign is the largest exponent that is kept track of, more than the widest access needs.
const maxAlign = 12

// Alignments returns, by value, the exponent of a power of two that divides whatever the value
// holds.
func (f *Func) Alignments() []uint8 {
	align := make([]uint8, len(f.Values))
	for v := range align {
		if v < len(f.Values) && f.Values[v].Defs > 0 {
			align[v] = maxAlign
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Order {
			for _, ni := range f.Blocks[b].Nodes {
				n := &f.Nodes[ni]
				for i, d := range n.Dst {
					if d < 0 {
						continue
					}
					a := uint8(0)
					if i == 0 {
						a = f.nodeAlign(n, align)
					}
					if a < align[d] {
						align[d], changed = a, true
					}
				}
			}
		}
	}
	return align
}

// OperandAlign is the alignment of an operand, an exponent.
func (f *Func) OperandAlign(o *ir.Operand, align []uint8) uint8 {
	of := func(x uint64) uint8 { return uint8(min(mathbits.TrailingZeros64(x), maxAlign)) }
	switch o.Kind {
	case ir.OperandImm:
		return of(o.Imm)
	case ir.OperandReg:
		if !o.Not && o.Reg >= 0 {
			return align[o.Reg]
		}
	case ir.OperandVar:
		return min(f.placeAlign(o), of(o.Imm))
	case ir.OperandAddr:
		a := of(o.Imm)
		if o.Reg != ir.NoReg {
			a = min(a, align[o.Reg])
		}
		return min(a, f.placeAlign(o))
	}
	return 0
}

// placeAlign is the alignment of the variable or parameter that an operand names, if any.
func (f *Func) placeAlign(o *ir.Operand) uint8 {
	at := 0
	switch {
	case o.Var >= 0:
		at = f.Kernel.Vars[o.Var].Offset
	case o.Param >= 0:
		at = f.Kernel.Params[o.Param].Offset
	}
	return uint8(min(mathbits.TrailingZeros64(uint64(at)), maxAlign))
}

// nodeAlign is the alignment of the result of a node.
func (f *Func) nodeAlign(n *Node, align []uint8) uint8 {
	if !IsInt(n.Type) {
		return 0
	}
	src := func(i int) uint8 { return f.OperandAlign(&n.Src[i], align) }
	switch {
	case (n.Op == ir.Mov || n.Op == ir.Cvta) && len(n.Src) == 1 && len(n.Dst) == 1:
		return src(0)
	case n.Op == ir.Cvt && IsInt(n.SrcType):
		return src(0)
	case (n.Op == ir.Add || n.Op == ir.Sub || n.Op == ir.Or) && len(n.Src) == 2 && n.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0:
		return min(src(0), src(1))
	case n.Op == ir.And && len(n.Src) == 2:
		return max(src(0), src(1))
	case n.Op == ir.Shl && n.Src[1].Kind == ir.OperandImm:
		return uint8(min(uint64(src(0))+min(n.Src[1].Imm, maxAlign), maxAlign))
	case n.Op == ir.Mul && n.Mod&ir.ModHi == 0:
		return min(src(0)+src(1), maxAlign)
	case n.Op == ir.Mad && n.Mod&ir.ModHi == 0:
		return min(src(0)+src(1), src(2), maxAlign)
	case n.Op == ir.Selp && len(n.Src) == 3:
		return min(src(0), src(1))
	}
	return 0
}
