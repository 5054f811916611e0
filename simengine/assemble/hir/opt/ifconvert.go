package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// If-conversion: short arms of a branch become predicated instructions of the block that branches
// (Allen et al., "Conversion of Control Dependence to Data Dependence", POPL 1983).

// ifConvertLimit is how many instructions an arm has at most that is predicated.
//
// Evidence, kernels: ptxas predicates arms of 15 and branches around one of 16 (an interpolation in
// a table).
const ifConvertLimit = 15

// Of PTX for one architecture ptxas predicates an arm of few results only if it is shorter, its jump counted.
//
// Evidence, microbenchmark (ptxas 12.8, sm_90a): arms of FFMAs with one or two results are predicated up to 8, with and
// without an else, in one chain and in several; those with 3, 4 and 8 results up to 20. Stores alone are, too, up to 8,
// but with those times come out worse (fp8_ws_gemm: MAPE 15.1 % for 13.9). geglu_tanh_backward, whose tanh() has arms
// of 7 and 9: 43 and 44 registers for 42 and 43, and 49 and 48 where the arms are predicated; rank correlation of its
// times on an H100 0.91 for 0.78.
const (
	fewResults      = 2
	fewResultsLimit = 8
)

// IfConvert predicates short arms, appends a join that only those arms reach to the branching
// block, and simplifies branches until nothing changes.
func IfConvert(f *hir.Func) error {
	for changed := true; changed; {
		changed = false
		// Inner arms first: an outer arm is one block once they are predicated.
		for _, b := range f.Order {
			if f.Blocks[b].Merged >= 0 {
				continue
			}
			moved := mergeSuccessor(f, b) || skipJump(f, b) || convertBranch(f, b)
			if changed = moved || f.Target.Uses(rules.SinkLoads) && sinkLoads(f, b) || shortCircuit(f, b); changed {
				if f.Link(); !moved { // definitions that only move are as many as before
					f.CountDefs()
				}
				break
			}
		}
	}
	f.CountDefs()
	return nil
}

// convertBranch predicates the arms of the branch that ends block b, and reports whether it did.
func convertBranch(f *hir.Func, b int) bool {
	if f.CondBranch(b) == nil {
		return false
	}
	s := f.Blocks[b].Succs
	return predicateArms(f, b, [2]int{arm(f, b, s[0]), arm(f, b, s[1])})
}

// predicateArms predicates what block b branches to. leads is where each arm, fall-through first,
// leads to, -1 for an arm that stays. It reports whether it did.
func predicateArms(f *hir.Func, b int, leads [2]int) bool {
	hb := &f.Blocks[b]
	fall, target := hb.Succs[0], hb.Succs[1]
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
	if f.OnlyExits(join) {
		return false
	}
	br := f.CondBranch(b)
	cond, not := br.Guard, br.GuardNot
	hb.Nodes = hb.Nodes[:len(hb.Nodes)-1]
	for _, a := range arms {
		predicate(f, b, a, cond, not == (a == target))
	}
	hb.Succs = []int{join}
	f.Link()
	if f.OnePredecessor(join) && f.Blocks[join].Preds[0] == b && join != b {
		appendBlock(f, b, join)
	}
	return true
}

// arm returns the only successor of block a if a can be predicated into its only predecessor b,
// else -1.
func arm(f *hir.Func, b, a int) int {
	ab := &f.Blocks[a]
	if !f.OnePredecessor(a) || ab.Preds[0] != b || len(ab.Succs) != 1 || ab.Succs[0] == a || ab.Succs[0] == b {
		return -1
	}
	if c := armCost(f, a); c < 0 || c > ifConvertLimit || f.Target.Specific && tooLongFor(f, a, c) {
		return -1
	}
	return ab.Succs[0]
}

// tooLongFor reports whether an arm of cost instructions is too long for the results that it has: variables that others
// write, too.
func tooLongFor(f *hir.Func, a, cost int) bool {
	nodes := f.Blocks[a].Nodes
	if len(nodes) > 0 && f.Nodes[nodes[len(nodes)-1]].Op == ir.Bra {
		cost++
	}
	if cost <= fewResultsLimit {
		return false
	}
	var results []vreg.Value
	for _, ni := range nodes {
		for _, v := range f.Nodes[ni].Dst {
			if v >= 0 && f.Values[v].Defs > 1 && !slices.Contains(results, v) {
				results = append(results, v)
			}
		}
	}
	return len(results) > 0 && len(results) <= fewResults
}

// armCost is the number of instructions to predicate for an arm, -1 where it cannot be. ptxas
// branches around an atomic, were it alone, and around cp.async (kernels: gemm_async).
func armCost(f *hir.Func, a int) int {
	count := 0
	for _, ni := range f.Blocks[a].Nodes {
		n := &f.Nodes[ni]
		if n.Guard != vreg.None {
			return -1 // predicated already
		}
		switch n.Op {
		case ir.Bra, ir.Mov, ir.Cvta, ir.Nop:
			continue
		case ir.Bar, ir.BarRed, ir.BarWarp, ir.Brx, ir.Exit, ir.Trap, ir.Shfl, ir.Vote, ir.Match, ir.Redux, ir.Elect, ir.Mma, ir.Movmatrix, ir.Nanosleep, ir.Div, ir.Rem, ir.Atom, ir.Red, ir.CpAsync, ir.Tex, ir.Txq, ir.Suld, ir.Sust:
			return -1
		case ir.Wgmma, ir.WgmmaFence, ir.WgmmaCommit, ir.WgmmaWait, ir.MbarInit, ir.MbarInval, ir.MbarWait, ir.CpAsyncArrive, ir.BulkCopy, ir.BulkPrefetch, ir.BulkCommit,
			ir.BulkWait, ir.FenceProxy, ir.TensormapSet, ir.TensormapCopy, ir.Setmaxnreg, ir.ClusterBarrier:
			return -1
		}
		if n.HasSlowPath() || n.Mod&ir.ModMatrix != 0 {
			return -1
		}
		count++
	}
	return count
}

// predicate moves the nodes of arm a to the end of block b under a guard.
func predicate(f *hir.Func, b, a int, cond vreg.Value, not bool) {
	hb, ab := &f.Blocks[b], &f.Blocks[a]
	for _, ni := range ab.Nodes {
		n := &f.Nodes[ni]
		if n.Op == ir.Bra {
			continue
		}
		if n.Op != ir.Nop {
			n.Guard, n.GuardNot = cond, not
		}
		hb.Nodes = append(hb.Nodes, ni)
	}
	absorb(f, b, a)
}

// appendBlock appends block a, which always follows b, to b.
func appendBlock(f *hir.Func, b, a int) {
	hb, ab := &f.Blocks[b], &f.Blocks[a]
	hb.Nodes = append(hb.Nodes, ab.Nodes...)
	hb.Succs = ab.Succs
	hb.IPDom = ab.IPDom
	hb.Divergent = ab.Divergent
	absorb(f, b, a)
}

// absorb records that the code of block a now is part of block b.
func absorb(f *hir.Func, b, a int) {
	ab := &f.Blocks[a]
	ab.Nodes, ab.Succs, ab.Merged = nil, nil, b
	if ab.Holds != 0 {
		f.Blocks[b].Holds = ab.Holds
	}
	for i := range f.Blocks {
		if f.Blocks[i].Merged == a {
			f.Blocks[i].Merged = b
		}
		if f.Blocks[i].IPDom == a {
			f.Blocks[i].IPDom = b
		}
		if f.Blocks[i].Holds == a {
			f.Blocks[i].Holds = b
		}
	}
}
