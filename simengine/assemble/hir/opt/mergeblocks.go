package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Simplification of the control-flow graph.

// mergeSuccessor appends to block b its only successor, if nothing else leads there, and reports
// whether it did. Blocks that lanes enter one after another stay alone.
func mergeSuccessor(f *hir.Func, b int) bool {
	hb := &f.Blocks[b]
	if len(hb.Succs) != 1 {
		return false
	}
	s := hb.Succs[0]
	if s == b || !f.OnePredecessor(s) || f.OnlyExits(s) || f.Kernel.Instrs[f.Kernel.Blocks[s].Start].Together() && slices.Contains(f.Yields, true) {
		return false
	}
	if n := len(hb.Nodes); n > 0 {
		switch last := &f.Nodes[hb.Nodes[n-1]]; {
		case last.Op == ir.Bra && last.Guard == vreg.None:
			hb.Nodes = hb.Nodes[:n-1]
		case last.IsTerminator():
			return false
		}
	}
	appendBlock(f, b, s)
	return true
}

// skipJump redirects the branch that ends block b past a block that only jumps, and reports whether
// it did. LLVM ends loops with a branch out and a jump back; ptxas makes one branch back of them.
func skipJump(f *hir.Func, b int) bool {
	hb := &f.Blocks[b]
	br := f.CondBranch(b)
	if br == nil {
		return false
	}
	for i, e := range hb.Succs {
		eb := &f.Blocks[e]
		if !f.OnePredecessor(e) || len(eb.Succs) != 1 || len(eb.Nodes) != 1 || e == b {
			continue
		}
		to := eb.Succs[0]
		if j := &f.Nodes[eb.Nodes[0]]; j.Op != ir.Bra || j.Guard != vreg.None || to == e || to == hb.Succs[1-i] || f.OnlyExits(to) {
			continue
		}
		if i == 0 { // the target becomes the fall-through
			br.GuardNot = !br.GuardNot
			hb.Succs = []int{hb.Succs[1], to}
		} else {
			hb.Succs = []int{hb.Succs[0], to}
		}
		absorb(f, b, e)
		return true
	}
	return false
}

// shortCircuit makes one branch of two that lead to the same block, where the second computes
// nothing but its condition (a && b), and predicates the arms. It reports whether it did.
//
// Evidence, kernels: ptxas does so for a condition of 5 instructions with arms of 9, and not for
// one of 6 with arms of 16.
func shortCircuit(f *hir.Func, b int) bool {
	hb := &f.Blocks[b]
	br := f.CondBranch(b)
	if br == nil {
		return false
	}
	for i, a := range hb.Succs {
		out, second := hb.Succs[1-i], f.CondBranch(a)
		if second == nil || a == out || a == b || !f.OnePredecessor(a) {
			continue
		}
		as := f.Blocks[a].Succs
		if as[0] != out && as[1] != out || as[0] == as[1] {
			continue
		}
		leads, ok := nestedArms(f, a)
		if !ok {
			continue
		}
		joinConditions(f, b, a, i == 0, as[1] == out)
		f.Link()
		f.CountDefs()
		return predicateArms(f, b, leads)
	}
	return false
}

// nestedArms returns where the arms of block a lead, as predicateArms takes them, and whether they
// are short enough together with the condition that a computes.
func nestedArms(f *hir.Func, a int) ([2]int, bool) {
	leads := [2]int{-1, -1}
	cost := conditionCost(f, a)
	if cost < 0 {
		return leads, false
	}
	for i, s := range f.Blocks[a].Succs {
		c := armCost(f, s)
		for _, p := range f.Blocks[s].Preds {
			if p != a && p != f.Blocks[a].Preds[0] {
				c = -1
			}
		}
		if c >= 0 && s != 0 && len(f.Blocks[s].Succs) == 1 {
			leads[i] = f.Blocks[s].Succs[0]
			cost += c
		}
	}
	s, join := f.Blocks[a].Succs, leads[0]
	if leads[1] == s[0] {
		join = s[0]
	}
	meet := join >= 0 && (leads[0] == leads[1] || leads[0] == s[1] || leads[1] == s[0])
	return leads, meet && cost <= ifConvertLimit && !f.OnlyExits(join)
}

// joinConditions appends block a to block b, which branches to it or to one of a's arms. first and
// second say for each branch whether that arm is its target rather than its fall-through.
func joinConditions(f *hir.Func, b, a int, first, second bool) {
	hb := &f.Blocks[b]
	both := f.NewValue(1, vreg.Predicate) // set where neither branch leads out
	onward := func(n *hir.Node, out bool) ir.Operand {
		return ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(n.Guard), Var: -1, Param: -1, Not: n.GuardNot != out}
	}
	br := f.CondBranch(a)
	f.Nodes = append(f.Nodes, hir.Node{Op: ir.And, Type: ir.Pred, Vec: 1, PC: br.PC, Block: br.Block, Guard: vreg.None, Dst: []vreg.Value{both},
		Src: []ir.Operand{onward(f.CondBranch(b), first), onward(br, second)}})
	br = f.CondBranch(a) // f.Nodes may have moved
	br.Guard, br.GuardNot = both, second
	ns := f.Blocks[a].Nodes
	hb.Nodes = append(hb.Nodes[:len(hb.Nodes)-1:len(hb.Nodes)-1], ns[:len(ns)-1]...)
	hb.Nodes = append(hb.Nodes, int32(len(f.Nodes)-1), ns[len(ns)-1])
	hb.Succs = f.Blocks[a].Succs
	hb.Divergent = hb.Divergent || f.Blocks[a].Divergent
	absorb(f, b, a)
}

// conditionCost is the number of instructions of a block before its branch, -1 where they do more
// than compute values without other definitions.
func conditionCost(f *hir.Func, b int) int {
	ns := f.Blocks[b].Nodes
	for _, ni := range ns[:len(ns)-1] {
		n := &f.Nodes[ni]
		switch n.Op {
		case ir.Setp, ir.And, ir.Or, ir.Xor, ir.Not, ir.Mov, ir.Cvt, ir.Add, ir.Sub, ir.Min, ir.Max, ir.Mul, ir.Mad, ir.Fma:
		default:
			return -1
		}
		if n.Guard != vreg.None {
			return -1
		}
		for _, d := range n.Dst {
			if d >= 0 && f.Values[d].Defs != 1 {
				return -1
			}
		}
	}
	return len(ns) - 1
}
