package assemble

import "github.com/warptune/warptune/simengine/ir"

// ifConvertLimit is the largest number of instructions a branch arm may have
// and still be predicated: the real assembler predicates an arm of 14 (a
// five-point stencil's interior) and branches around one of 16.
const ifConvertLimit = 14

// ifConvert turns short branch arms into predicated instructions of the block
// that branches, and appends a join that only those arms reach.
func (f *fn) ifConvert() error {
	for changed := true; changed; {
		changed = false
		// Innermost first: later blocks of the order are deeper.
		for i := len(f.order) - 1; i >= 0; i-- {
			b := f.order[i]
			if f.blocks[b].merged < 0 && f.convertBranch(b) {
				f.link()
				f.countDefs()
				changed = true
				break
			}
		}
	}
	return nil
}

// exitOnly says whether a block does nothing but exit.
func (f *fn) exitOnly(b int) bool {
	ns := f.blocks[b].nodes
	return len(ns) == 1 && f.nodes[ns[0]].op == ir.Exit && f.nodes[ns[0]].guard == noValue
}

// convertBranch if-converts the branch that ends block b where it may.
func (f *fn) convertBranch(b int) bool {
	hb := &f.blocks[b]
	if len(hb.nodes) == 0 || len(hb.succs) != 2 {
		return false
	}
	br := &f.nodes[hb.nodes[len(hb.nodes)-1]]
	if br.op != ir.Bra || br.guard == noValue || f.vals[br.guard].defs != 1 {
		return false
	}
	fall, target := hb.succs[0], hb.succs[1]
	cond, not := br.guard, br.gnot
	var join int
	var arms []int
	fallArm, targetArm := f.arm(b, fall), f.arm(b, target)
	switch {
	case fall == target:
		return false
	case fallArm >= 0 && targetArm >= 0 && fallArm == targetArm:
		join, arms = fallArm, []int{fall, target}
	case fallArm == target:
		join, arms = target, []int{fall}
	case targetArm == fall:
		join, arms = fall, []int{target}
	default:
		return false
	}
	if f.exitOnly(join) {
		return false
	}
	hb.nodes = hb.nodes[:len(hb.nodes)-1]
	for _, a := range arms {
		f.predicate(b, a, cond, not == (a == target))
	}
	hb.succs = []int{join}
	f.link()
	if ps := f.blocks[join].preds; len(ps) == 1 && ps[0] == b && join != b {
		f.appendBlock(b, join)
	}
	return true
}

// arm returns the only successor of a block that can be predicated into its
// only predecessor b, -1 when it cannot.
func (f *fn) arm(b, a int) int {
	ab := &f.blocks[a]
	if len(ab.preds) != 1 || ab.preds[0] != b || len(ab.succs) != 1 || ab.succs[0] == a || ab.succs[0] == b {
		return -1
	}
	count := 0
	for _, ni := range ab.nodes {
		n := &f.nodes[ni]
		switch n.op {
		case ir.Bra:
			if n.guard != noValue {
				return -1
			}
			continue
		case ir.Mov, ir.Cvta, ir.Nop:
			continue
		case ir.Bar, ir.BarRed, ir.BarWarp, ir.Brx, ir.Exit, ir.Trap, ir.Shfl, ir.Vote, ir.Match, ir.Redux, ir.Elect, ir.Nanosleep, ir.Div, ir.Rem:
			return -1
		}
		if n.guard != noValue {
			return -1
		}
		count++
	}
	if count > ifConvertLimit {
		return -1
	}
	return ab.succs[0]
}

// predicate moves the nodes of arm a to the end of block b under a guard.
func (f *fn) predicate(b, a int, cond value, not bool) {
	hb, ab := &f.blocks[b], &f.blocks[a]
	for _, ni := range ab.nodes {
		n := &f.nodes[ni]
		if n.op == ir.Bra {
			continue
		}
		if n.op != ir.Nop {
			n.guard, n.gnot = cond, not
		}
		hb.nodes = append(hb.nodes, ni)
	}
	f.absorb(b, a)
}

// appendBlock appends block a, which always follows b, to b.
func (f *fn) appendBlock(b, a int) {
	hb, ab := &f.blocks[b], &f.blocks[a]
	hb.nodes = append(hb.nodes, ab.nodes...)
	hb.succs = ab.succs
	hb.ipdom = ab.ipdom
	hb.div = ab.div
	f.absorb(b, a)
}

// absorb records that a now lives in b.
func (f *fn) absorb(b, a int) {
	ab := &f.blocks[a]
	ab.nodes, ab.succs, ab.merged = nil, nil, b
	for i := range f.blocks {
		if f.blocks[i].merged == a {
			f.blocks[i].merged = b
		}
		if f.blocks[i].ipdom == a {
			f.blocks[i].ipdom = b
		}
	}
}
