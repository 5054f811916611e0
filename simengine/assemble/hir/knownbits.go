package hir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// KnownBits bounds the number of low bits that may be set in v, taken as unsigned.
func (f *Func) KnownBits(v vreg.Value) int { return f.significant(v, 0) }

// bitsDepth bounds how many definitions KnownBits looks back.
const bitsDepth = 12

func (f *Func) significant(v vreg.Value, depth int) int {
	d := f.DefOf(v)
	if d == nil || depth > bitsDepth {
		return 32
	}
	of := func(i int) int {
		if d.Src[i].Kind != ir.OperandReg {
			return 32
		}
		return f.significant(vreg.Value(d.Src[i].Reg), depth+1)
	}
	switch {
	case (d.Op == ir.Ld || d.Op == ir.Ldu) && !Signed(d.Type):
		return Bits(d.Type)
	case d.Op == ir.And && len(d.Src) == 2 && d.Src[1].Kind == ir.OperandImm:
		n := 0
		for m := d.Src[1].Imm; m != 0; m >>= 1 {
			n++
		}
		return n
	case d.Op == ir.Or && len(d.Src) == 2 && d.Src[1].Kind == ir.OperandReg:
		return max(of(0), of(1))
	case d.Op == ir.Shl && ShiftCount(d) >= 0 && Words(d.Type) == 1:
		return min(32, of(0)+ShiftCount(d))
	case d.Op == ir.Bfe && !Signed(d.Type) && d.Src[2].Kind == ir.OperandImm:
		return int(min(32, d.Src[2].Imm))
	case d.Op == ir.Cvt && IsInt(d.Type) && IsInt(d.SrcType) && !Signed(d.SrcType) && d.Src[0].Kind == ir.OperandReg:
		return min(Bits(d.SrcType), of(0))
	}
	return 32
}
