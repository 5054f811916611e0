package assemble

import "github.com/warptune/warptune/simengine/ir"

// Branch arms may have that many instructions and still be predicated: the real
// assembler predicates arms of 15 (an interpolation in a table) and branches
// around one of 16. Where the arm's loads have to wait for what comes before the
// branch, a store or a barrier, only arms of 4 (a step of a reduction in shared
// memory) were seen predicated, and none of 9 (a five-point stencil on a tile,
// an interpolation that stores in between).
const (
	ifConvertLimit = 15
	waitingLimit   = 7
)

// ifConvert turns short branch arms into predicated instructions of the block
// that branches, and appends a join that only those arms reach.
func (f *hfn) ifConvert() error {
	for changed := true; changed; {
		changed = false
		// An outer arm has one block once what is inside is predicated.
		for _, b := range f.order {
			if f.blocks[b].merged < 0 && (f.straighten(b) || f.skipJump(b) || f.convertBranch(b) || f.sinkArm(b) || f.shortCircuit(b)) {
				f.link()
				f.countDefs()
				changed = true
				break
			}
		}
	}
	return nil
}

// convertBranch if-converts the branch that ends block b where it may.
func (f *hfn) convertBranch(b int) bool {
	if f.branch(b) == nil {
		return false
	}
	s := f.blocks[b].succs
	return f.predicateArms(b, [2]int{f.arm(b, s[0]), f.arm(b, s[1])})
}

// predicateArms makes predicated instructions of what block b branches to,
// given where each arm, fall-through first, leads to, -1 when it is to stay.
func (f *hfn) predicateArms(b int, leads [2]int) bool {
	hb := &f.blocks[b]
	fall, target := hb.succs[0], hb.succs[1]
	var join int
	var arms []int
	switch {
	case fall == target:
		return false
	case leads[0] >= 0 && leads[0] == leads[1]:
		join, arms = leads[0], []int{fall, target}
	case leads[0] == target:
		join, arms = target, []int{fall}
	case leads[1] == fall:
		join, arms = fall, []int{target}
	default:
		return false
	}
	if f.exitOnly(join) {
		return false
	}
	br := f.branch(b)
	cond, not := br.guard, br.gnot
	hb.nodes = hb.nodes[:len(hb.nodes)-1]
	for _, a := range arms {
		f.predicate(b, a, cond, not == (a == target))
	}
	hb.succs = []int{join}
	f.link()
	if f.oneWay(join) && f.blocks[join].preds[0] == b && join != b {
		f.appendBlock(b, join)
	}
	return true
}

// arm returns the only successor of a block that can be predicated into its
// only predecessor b, -1 when it cannot.
func (f *hfn) arm(b, a int) int {
	ab := &f.blocks[a]
	if !f.oneWay(a) || ab.preds[0] != b || len(ab.succs) != 1 || ab.succs[0] == a || ab.succs[0] == b {
		return -1
	}
	if c := f.armCost(a); c < 0 || c > ifConvertLimit || c > waitingLimit && f.waits(b, a) {
		return -1
	}
	return ab.succs[0]
}

// waits says whether a load of block a has to stay behind something in block b.
func (f *hfn) waits(b, a int) bool {
	for _, ni := range f.blocks[b].nodes {
		n := &f.nodes[ni]
		switch n.op {
		case ir.Bar, ir.BarRed, ir.Membar, ir.St, ir.Atom, ir.Red:
		default:
			continue
		}
		for _, ai := range f.blocks[a].nodes {
			if l := &f.nodes[ai]; l.op == ir.Ld && l.mod&ir.ModNonCoherent == 0 && l.space != ir.ParamSpace && l.space != ir.Const &&
				(n.space == l.space || n.space == ir.Generic || l.space == ir.Generic) {
				return true
			}
		}
	}
	return false
}

// armCost is the number of instructions to predicate for an arm, -1 when it
// cannot be: the real assembler branches around an atomic, were it alone, and around
// cp.async (gemm_async, deploy/calibrate/validation/further).
func (f *hfn) armCost(a int) int {
	count := 0
	for _, ni := range f.blocks[a].nodes {
		n := &f.nodes[ni]
		if n.guard != noValue {
			return -1 // what is predicated already
		}
		switch n.op {
		case ir.Bra, ir.Mov, ir.Cvta, ir.Nop:
			continue
		case ir.Bar, ir.BarRed, ir.BarWarp, ir.Brx, ir.Exit, ir.Trap, ir.Shfl, ir.Vote, ir.Match, ir.Redux, ir.Elect, ir.Mma, ir.Movmatrix, ir.Nanosleep, ir.Div, ir.Rem, ir.Atom, ir.Red, ir.CpAsync:
			return -1
		}
		if n.branches() || n.mod&ir.ModMatrix != 0 {
			return -1
		}
		count++
	}
	return count
}

// predicate moves the nodes of arm a to the end of block b under a guard.
func (f *hfn) predicate(b, a int, cond value, not bool) {
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
func (f *hfn) appendBlock(b, a int) {
	hb, ab := &f.blocks[b], &f.blocks[a]
	hb.nodes = append(hb.nodes, ab.nodes...)
	hb.succs = ab.succs
	hb.ipdom = ab.ipdom
	hb.div = ab.div
	f.absorb(b, a)
}

// absorb records that a now lives in b.
func (f *hfn) absorb(b, a int) {
	ab := &f.blocks[a]
	ab.nodes, ab.succs, ab.merged = nil, nil, b
	if ab.holds != 0 {
		f.blocks[b].holds = ab.holds
	}
	for i := range f.blocks {
		if f.blocks[i].merged == a {
			f.blocks[i].merged = b
		}
		if f.blocks[i].ipdom == a {
			f.blocks[i].ipdom = b
		}
		if f.blocks[i].holds == a {
			f.blocks[i].holds = b
		}
	}
}
