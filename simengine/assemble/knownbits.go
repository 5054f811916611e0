package assemble

import "github.com/warptune/warptune/simengine/ir"

// knownBits bounds the significant low bits of an unsigned value.
func (f *hfn) knownBits(v value) int { return f.significant(v, 0) }

// bitsDepth bounds how far back knownBits looks.
const bitsDepth = 12

func (f *hfn) significant(v value, depth int) int {
	d := f.defOf(v)
	if d == nil || depth > bitsDepth {
		return 32
	}
	of := func(i int) int {
		if d.src[i].Kind != ir.OperandReg {
			return 32
		}
		return f.significant(value(d.src[i].Reg), depth+1)
	}
	switch {
	case (d.op == ir.Ld || d.op == ir.Ldu) && !signed(d.typ):
		return bits(d.typ)
	case d.op == ir.And && len(d.src) == 2 && d.src[1].Kind == ir.OperandImm:
		n := 0
		for m := d.src[1].Imm; m != 0; m >>= 1 {
			n++
		}
		return n
	case d.op == ir.Or && len(d.src) == 2 && d.src[1].Kind == ir.OperandReg:
		return max(of(0), of(1))
	case d.op == ir.Shl && shiftCount(d) >= 0 && words(d.typ) == 1:
		return min(32, of(0)+shiftCount(d))
	case d.op == ir.Bfe && !signed(d.typ) && d.src[2].Kind == ir.OperandImm:
		return int(min(32, d.src[2].Imm))
	case d.op == ir.Cvt && isInt(d.typ) && isInt(d.styp) && !signed(d.styp) && d.src[0].Kind == ir.OperandReg:
		return min(bits(d.styp), of(0))
	}
	return 32
}
