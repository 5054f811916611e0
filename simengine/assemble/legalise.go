package assemble

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// legalise splits operations into ones that value numbering can share: the
// argument of sin and cos is multiplied by 1/2pi first, and the upper word of
// a sign extension becomes a shift of its own; and joins those that one
// instruction does.
func (f *fn) legalise() error {
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
// machine code, deploy/calibrate/datasets/h200-2026-11-22-project-d), by one into a copy.
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
func (f *fn) funnel(n *node) bool {
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
func (f *fn) scaleProduct(ni int32, k int) bool {
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
func (f *fn) derive(n *node, op ir.Op, t ir.Type, x ir.Operand, imm uint64) int32 {
	f.nodes = append(f.nodes, node{op: op, typ: t, pc: n.pc, block: n.block, guard: n.guard, gnot: n.gnot, dst: []value{f.newValue(1, fileGeneral)}, vec: 1,
		src: []ir.Operand{x, {Kind: ir.OperandImm, Imm: imm, Reg: ir.NoReg, Var: -1, Param: -1}}})
	return int32(len(f.nodes) - 1)
}

// sinkCopies turns "y = f(...); ...; x = y" into "...; x = f(...)" where
// nothing else reads y and nothing between writes what f reads, or else into
// "x = f(...); ..." where what reads x between can go before that.
func (f *fn) sinkCopies() error {
	uses := f.countUses()
	for _, b := range f.order {
		nodes := f.blocks[b].nodes
		for i := 0; i < len(nodes); i++ {
			c := &f.nodes[nodes[i]]
			if c.op != ir.Mov || len(c.src) != 1 || len(c.dst) != 1 || c.dst[0] < 0 || c.src[0].Kind != ir.OperandReg || c.src[0].Not || c.guard != noValue || f.vals[c.dst[0]].defs < 2 {
				continue
			}
			x, y := c.dst[0], value(c.src[0].Reg)
			if f.renames(nodes[:i], x, y, uses[y]) {
				*c = node{op: ir.Nop, pc: c.pc, block: c.block, guard: noValue}
				continue
			}
			if f.vals[y].defs != 1 || f.vals[y].words != f.vals[x].words || f.vals[y].file != f.vals[x].file {
				continue
			}
			j := f.definition(nodes[:i], y)
			switch {
			case j < 0:
				continue
			case uses[y] == 1 && f.sinkable(nodes[j:i]):
				d := nodes[j]
				copy(nodes[j:], nodes[j+1:i+1])
				f.nodes[d].dst = []value{x}
				nodes[i] = d
			case !f.overtakes(nodes[j:i], x, y, uses[y]):
				continue
			}
			*c = node{op: ir.Nop, pc: c.pc, block: c.block, guard: noValue}
		}
	}
	f.countDefs()
	return nil
}

// sinkable says that the first of some nodes may move behind the others: none writes what
// it reads.
func (f *fn) sinkable(nodes []int32) bool {
	d := &f.nodes[nodes[0]]
	for _, ni := range nodes[1:] {
		for _, w := range f.nodes[ni].dst {
			if w >= 0 && f.reads(d, w) > 0 {
				return false
			}
		}
	}
	return true
}
