package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// straighten appends to block b the one that always follows it and that nothing
// else leads to, unless lanes come there one after another. Compilers leave such pairs: LLVM branches around an
// unconditional branch.
func (f *hfn) straighten(b int) bool {
	hb := &f.blocks[b]
	if len(hb.succs) != 1 {
		return false
	}
	s := hb.succs[0]
	if s == b || !f.oneWay(s) || f.exitOnly(s) || f.k.Instrs[f.k.Blocks[s].Start].Together() && slices.Contains(f.yields, true) {
		return false
	}
	if n := len(hb.nodes); n > 0 {
		switch last := &f.nodes[hb.nodes[n-1]]; {
		case last.op == ir.Bra && last.guard == noValue:
			hb.nodes = hb.nodes[:n-1]
		case last.isTerminator():
			return false
		}
	}
	f.appendBlock(b, s)
	return true
}

// skipJump makes the branch that ends block b go where a block leads that does
// nothing but jump: LLVM ends loops with a branch out and a jump back, which
// the real assembler turns into one branch back.
func (f *hfn) skipJump(b int) bool {
	hb := &f.blocks[b]
	br := f.branch(b)
	if br == nil {
		return false
	}
	for i, e := range hb.succs {
		eb := &f.blocks[e]
		if !f.oneWay(e) || len(eb.succs) != 1 || len(eb.nodes) != 1 || e == b {
			continue
		}
		to := eb.succs[0]
		if j := &f.nodes[eb.nodes[0]]; j.op != ir.Bra || j.guard != noValue || to == e || to == hb.succs[1-i] || f.exitOnly(to) {
			continue
		}
		if i == 0 { // what was the target follows now
			br.gnot = !br.gnot
			hb.succs = []int{hb.succs[1], to}
		} else {
			hb.succs = []int{hb.succs[0], to}
		}
		f.absorb(b, e)
		return true
	}
	return false
}

// shortCircuit makes one branch of two where the second, in a block of its own
// that computes nothing but its condition, leads to where the first does: what
// compilers make of a && b. The real assembler does so where it then predicates
// what they lead to: a condition of 5 instructions and arms of 9, and not one of
// 6 and arms of 16.
func (f *hfn) shortCircuit(b int) bool {
	hb := &f.blocks[b]
	br := f.branch(b)
	if br == nil {
		return false
	}
	for i, a := range hb.succs {
		out, second := hb.succs[1-i], f.branch(a)
		if second == nil || a == out || a == b || !f.oneWay(a) {
			continue
		}
		as := f.blocks[a].succs
		if as[0] != out && as[1] != out || as[0] == as[1] {
			continue
		}
		leads, ok := f.nestedArms(a)
		if !ok {
			continue
		}
		f.joinConditions(b, a, i == 0, as[1] == out)
		f.link()
		f.countDefs()
		return f.predicateArms(b, leads)
	}
	return false
}

// nestedArms returns where the arms lead to that block a branches to, as
// predicateArms takes them, and whether they are short enough together with
// what a computes. The only block before a may lead to an arm as well.
func (f *hfn) nestedArms(a int) ([2]int, bool) {
	leads := [2]int{-1, -1}
	cost := f.conditionCost(a)
	if cost < 0 {
		return leads, false
	}
	for i, s := range f.blocks[a].succs {
		c := f.armCost(s)
		for _, p := range f.blocks[s].preds {
			if p != a && p != f.blocks[a].preds[0] {
				c = -1
			}
		}
		if c >= 0 && s != 0 && len(f.blocks[s].succs) == 1 && !f.waits(a, s) {
			leads[i] = f.blocks[s].succs[0]
			cost += c
		}
	}
	s, join := f.blocks[a].succs, leads[0]
	if leads[1] == s[0] {
		join = s[0]
	}
	meet := join >= 0 && (leads[0] == leads[1] || leads[0] == s[1] || leads[1] == s[0])
	return leads, meet && cost <= ifConvertLimit && !f.exitOnly(join)
}

// joinConditions appends block a to block b, which branches to it or to one
// of the blocks that a branches to; out says for each branch whether that
// block is its target, or where it falls through.
func (f *hfn) joinConditions(b, a int, first, second bool) {
	hb := &f.blocks[b]
	both := f.newValue(1, filePred) // neither branch leads out
	onward := func(n *node, out bool) ir.Operand {
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(n.guard), Var: -1, Param: -1, Not: n.gnot != out}
	}
	br := f.branch(a)
	f.nodes = append(f.nodes, node{op: ir.And, typ: ir.Pred, vec: 1, pc: br.pc, block: br.block, guard: noValue, dst: []value{both},
		src: []ir.Operand{onward(f.branch(b), first), onward(br, second)}})
	br = f.branch(a) // the table of nodes may have moved
	br.guard, br.gnot = both, second
	ns := f.blocks[a].nodes
	hb.nodes = append(hb.nodes[:len(hb.nodes)-1:len(hb.nodes)-1], ns[:len(ns)-1]...)
	hb.nodes = append(hb.nodes, int32(len(f.nodes)-1), ns[len(ns)-1])
	hb.succs = f.blocks[a].succs
	hb.div = hb.div || f.blocks[a].div
	f.absorb(b, a)
}

// conditionCost is the number of instructions of a block before its branch, -1
// when they do more than compute values that nothing else writes.
func (f *hfn) conditionCost(b int) int {
	ns := f.blocks[b].nodes
	for _, ni := range ns[:len(ns)-1] {
		n := &f.nodes[ni]
		switch n.op {
		case ir.Setp, ir.And, ir.Or, ir.Xor, ir.Not, ir.Mov, ir.Cvt, ir.Add, ir.Sub, ir.Min, ir.Max, ir.Mul, ir.Mad, ir.Fma:
		default:
			return -1
		}
		if n.guard != noValue {
			return -1
		}
		for _, d := range n.dst {
			if d >= 0 && f.vals[d].defs != 1 {
				return -1
			}
		}
	}
	return len(ns) - 1
}
