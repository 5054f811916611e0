package assemble

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// legalise splits operations into ones that value numbering can share: the
// argument of sin and cos is multiplied by 1/2pi first, and the upper word of
// a sign extension becomes a shift of its own; and joins those that one
// instruction does.
func (f *hfn) legalise() error {
	f.sign = map[value]value{}
	for _, b := range f.order {
		hb := &f.blocks[b]
		out := make([]int32, 0, len(hb.nodes)+len(hb.nodes)/4)
		for _, ni := range hb.nodes {
			n := f.nodes[ni]
			switch {
			case (n.op == ir.Sin || n.op == ir.Cos) && n.typ == ir.F32:
				m := f.derive(&n, ir.Mul, ir.F32, n.src[0], 0x3E22F983)
				out = append(out, m)
				f.nodes[ni].src[0] = ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(f.nodes[m].dst[0]), Var: -1, Param: -1}
				out = append(out, ni)
			case n.op == ir.Div && n.typ == ir.F32 && n.mod&(ir.ModApprox|ir.ModFull) != 0 && n.src[1].Kind == ir.OperandImm:
				f.nodes[ni].reciprocal()
				out = append(out, ni)
			case n.op == ir.Cvt && n.typ != n.styp && bits(n.typ) == 64 && bits(n.styp) == 32 && signed(n.styp) && isInt(n.typ) &&
				n.src[0].Kind == ir.OperandReg && f.vals[n.src[0].Reg].defs == 1 && f.vals[n.dst[0]].defs == 1:
				m := f.derive(&n, ir.Shr, ir.S32, n.src[0], 31)
				f.sign[n.dst[0]] = f.nodes[m].dst[0]
				out = append(out, m, ni)
			case f.funnel(&n):
				f.nodes[ni] = n
				out = append(out, ni)
			case n.op == ir.Or:
				out = append(out, f.joinShifts(&n)...)
				f.nodes[ni] = n
				out = append(out, ni)
			case n.op == ir.Shl && words(n.typ) == 2 && shiftCount(&n) > 0 && f.scaleProduct(ni, shiftCount(&n)):
				out = append(out, ni)
			default:
				out = append(out, ni)
			}
		}
		hb.nodes = out
	}
	f.countDefs()
	return nil
}

// reciprocal turns an approximate division by a constant into a product (welford_rows'
// machine code, deploy/calibrate/validation/sixth), by one into a copy.
func (n *node) reciprocal() {
	c := math.Float32frombits(uint32(n.src[1].Imm))
	n.op, n.mod = ir.Mul, n.mod&^(ir.ModApprox|ir.ModFull)
	n.src = []ir.Operand{n.src[0], n.src[1]}
	n.src[1].Imm = uint64(math.Float32bits(1 / c))
	if c == 1 {
		n.op, n.src = ir.Mov, n.src[:1]
	}
}

// funnel turns a<<k | b>>(32-k), a rotation when a is b, into one funnel shift.
func (f *hfn) funnel(n *node) bool {
	if n.op != ir.Or || bits(n.typ) != 32 || len(n.src) != 2 || n.src[0].Kind != ir.OperandReg || n.src[1].Kind != ir.OperandReg {
		return false
	}
	l, r := f.defOf(value(n.src[0].Reg)), f.defOf(value(n.src[1].Reg))
	if !shiftsLeft(l) {
		l, r = r, l
	}
	if !shiftsLeft(l) || r == nil || r.op != ir.Shr || bits(r.typ) != 32 || signed(r.typ) || shiftCount(l) == 0 || shiftCount(l)+shiftCount(r) != 32 {
		return false
	}
	for _, d := range [...]*node{l, r} {
		if d.guard != n.guard || d.gnot != n.gnot || d.src[0].Kind != ir.OperandReg || f.vals[d.src[0].Reg].defs != 1 {
			return false
		}
	}
	n.op, n.typ, n.src = ir.Shf, ir.B32, []ir.Operand{r.src[0], l.src[0], l.src[1]}
	return true
}

// scaleProduct turns the shift of a widening product with a constant into one
// product with the shifted constant.
func (f *hfn) scaleProduct(ni int32, k int) bool {
	n := &f.nodes[ni]
	if n.src[0].Kind != ir.OperandReg {
		return false
	}
	d := f.defOf(value(n.src[0].Reg))
	if d == nil || d.op != ir.Mul || d.mod&ir.ModWide == 0 || !bits32(d) || d.guard != n.guard || d.gnot != n.gnot || d.src[1].Kind != ir.OperandImm ||
		d.src[0].Kind != ir.OperandReg || f.vals[d.src[0].Reg].defs != 1 || d.src[1].Imm == 0 || d.src[1].Imm<<k >= 1<<31 {
		return false
	}
	c := d.src[1]
	c.Imm <<= k
	n.op, n.typ, n.mod, n.src = ir.Mul, d.typ, d.mod, []ir.Operand{d.src[0], c}
	return true
}

// derive adds a node of the same instruction, block and guard as n that applies
// an operation to x and a constant, and returns its index.
func (f *hfn) derive(n *node, op ir.Op, t ir.Type, x ir.Operand, imm uint64) int32 {
	f.nodes = append(f.nodes, node{op: op, typ: t, pc: n.pc, block: n.block, guard: n.guard, gnot: n.gnot, dst: []value{f.newValue(1, fileGeneral)}, vec: 1,
		src: []ir.Operand{x, {Kind: ir.OperandImm, Imm: imm, Reg: ir.NoReg, Var: -1, Param: -1}}})
	return int32(len(f.nodes) - 1)
}

// joinShifts turns a<<k | b<<m, m smaller and b short enough, into
// (a<<(k-m) | b)<<m, which a multiply-add each can compute.
func (f *hfn) joinShifts(n *node) []int32 {
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
