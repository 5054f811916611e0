package assemble

import (
	mathbits "math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// maxAlign is the largest power of two kept track of, as an exponent: wider
// than the widest access.
const maxAlign = 12

// alignments returns, for every value, the exponent of a power of two that
// divides whatever it holds.
func (f *hfn) alignments() []uint8 {
	align := make([]uint8, len(f.vals))
	for v := range align {
		if v < len(f.vals) && f.vals[v].defs > 0 {
			align[v] = maxAlign
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.order {
			for _, ni := range f.blocks[b].nodes {
				n := &f.nodes[ni]
				for i, d := range n.dst {
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

// operandAlign is the alignment of an operand.
func (f *hfn) operandAlign(o *ir.Operand, align []uint8) uint8 {
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
func (f *hfn) placeAlign(o *ir.Operand) uint8 {
	at := 0
	switch {
	case o.Var >= 0:
		at = f.k.Vars[o.Var].Offset
	case o.Param >= 0:
		at = f.k.Params[o.Param].Offset
	}
	return uint8(min(mathbits.TrailingZeros64(uint64(at)), maxAlign))
}

// nodeAlign is the alignment of what a node computes.
func (f *hfn) nodeAlign(n *node, align []uint8) uint8 {
	if !isInt(n.typ) {
		return 0
	}
	src := func(i int) uint8 { return f.operandAlign(&n.src[i], align) }
	switch {
	case (n.op == ir.Mov || n.op == ir.Cvta) && len(n.src) == 1 && len(n.dst) == 1:
		return src(0)
	case n.op == ir.Cvt && isInt(n.styp):
		return src(0)
	case (n.op == ir.Add || n.op == ir.Sub || n.op == ir.Or) && len(n.src) == 2 && n.mod&(ir.ModCarryIn|ir.ModCarryOut) == 0:
		return min(src(0), src(1))
	case n.op == ir.And && len(n.src) == 2:
		return max(src(0), src(1))
	case n.op == ir.Shl && n.src[1].Kind == ir.OperandImm:
		return uint8(min(uint64(src(0))+min(n.src[1].Imm, maxAlign), maxAlign))
	case n.op == ir.Mul && n.mod&ir.ModHi == 0:
		return min(src(0)+src(1), maxAlign)
	case n.op == ir.Mad && n.mod&ir.ModHi == 0:
		return min(src(0)+src(1), src(2), maxAlign)
	case n.op == ir.Selp && len(n.src) == 3:
		return min(src(0), src(1))
	}
	return 0
}
