package assemble

import "github.com/warptune/warptune/simengine/ir"

// knownBits bounds the significant low bits of an unsigned value.
func (f *fn) knownBits(v value) int { return f.significant(v, 0) }

// bitsDepth bounds how far back knownBits looks.
const bitsDepth = 12

func (f *fn) significant(v value, depth int) int {
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

// joinShifts turns a<<k | b<<m, m smaller and b short enough, into
// (a<<(k-m) | b)<<m, which a multiply-add each can compute.
func (f *fn) joinShifts(n *node) []int32 {
	if n.op != ir.Or || bits(n.typ) != 32 || len(n.src) != 2 || n.src[0].Kind != ir.OperandReg || n.src[1].Kind != ir.OperandReg {
		return nil
	}
	x, y := f.defOf(value(n.src[0].Reg)), f.defOf(value(n.src[1].Reg))
	if !shiftsLeft(x) || !shiftsLeft(y) || x.guard != n.guard || y.guard != n.guard {
		return nil
	}
	if shiftCount(x) < shiftCount(y) {
		x, y = y, x
	}
	k, m := shiftCount(x), shiftCount(y)
	a, b := x.src[0], y.src[0]
	if m == 0 || a.Kind != ir.OperandReg || b.Kind != ir.OperandReg || f.vals[a.Reg].defs != 1 || f.vals[b.Reg].defs != 1 || f.knownBits(value(b.Reg)) > k-m {
		return nil
	}
	up := f.derive(n, ir.Shl, ir.B32, a, uint64(k-m))
	both := f.derive(n, ir.Or, ir.B32, ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(f.nodes[up].dst[0]), Var: -1, Param: -1}, 0)
	f.nodes[both].src[1] = b
	n.op = ir.Shl
	n.src = []ir.Operand{{Kind: ir.OperandReg, Reg: ir.Reg(f.nodes[both].dst[0]), Var: -1, Param: -1}, {Kind: ir.OperandImm, Imm: uint64(m), Reg: ir.NoReg, Var: -1, Param: -1}}
	return []int32{up, both}
}

func shiftsLeft(d *node) bool {
	return d != nil && d.op == ir.Shl && bits(d.typ) == 32 && shiftCount(d) >= 0
}
