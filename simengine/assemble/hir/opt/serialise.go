package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Warpgroup MMAs that ptxas makes one after the other: each with a fence before it and a wait
// after it, in place of the program's own (ptxas warns of that: C7510 to C7515).
//
//	WARPGROUP.ARRIVE
//	HGMMA R24, ...
//	WARPGROUP.DEPBAR.LE gsb0, 0x0

// Interrupted reports whether, in program order, something else than a product writes accumulators of
// products that are in flight: the reason of ptxas' warning C7515.
//
// Evidence, ptxas corpus (shared launches, 12.8 and 13.0, sm_90a): 42 of 42 programs with that warning,
// and none of 205 without; two more are serialised for lack of registers.
func Interrupted(k *ir.Kernel) bool {
	var open map[ir.Reg]int // by accumulator: the number of groups committed when its last product was made
	committed, done := 0, 0 // groups, and those that are not in flight any more
	for i := range k.Instrs {
		switch in := &k.Instrs[i]; in.Op {
		case ir.Wgmma:
			if open == nil {
				open = map[ir.Reg]int{}
			}
			for _, d := range in.Dst {
				open[d] = committed
			}
		case ir.WgmmaCommit:
			committed++
		case ir.WgmmaWait:
			if len(in.Src) > 0 && in.Src[0].Imm <= uint64(committed) {
				done = max(done, committed-int(in.Src[0].Imm))
			}
		default:
			for _, d := range in.Dst {
				if group, ok := open[d]; ok && group >= done {
					return true
				}
			}
		}
	}
	return false
}

// SerialiseProducts makes products one after the other. A kernel without a commit or a wait for all
// products is left alone.
func SerialiseProducts(f *hir.Func) {
	k := f.Kernel
	fence := slices.IndexFunc(k.Instrs, func(in ir.Instr) bool { return in.Op == ir.WgmmaFence })
	commit := slices.IndexFunc(k.Instrs, func(in ir.Instr) bool { return in.Op == ir.WgmmaCommit })
	wait := slices.IndexFunc(k.Instrs, func(in ir.Instr) bool { return in.Op == ir.WgmmaWait && len(in.Src) > 0 && in.Src[0].Imm == 0 })
	if fence < 0 || commit < 0 || wait < 0 {
		return
	}
	for _, b := range f.Order {
		hb := &f.Blocks[b]
		if !slices.ContainsFunc(hb.Nodes, func(ni int32) bool { return groups(f.Nodes[ni].Op) || f.Nodes[ni].Op == ir.Wgmma }) {
			continue
		}
		out := make([]int32, 0, 2*len(hb.Nodes))
		for _, ni := range hb.Nodes {
			switch n := &f.Nodes[ni]; {
			case groups(n.Op):
			case n.Op == ir.Wgmma:
				from := *n
				out = append(out, groupNode(f, &from, ir.WgmmaFence, fence), ni, groupNode(f, &from, ir.WgmmaCommit, commit), groupNode(f, &from, ir.WgmmaWait, wait))
			default:
				out = append(out, ni)
			}
		}
		hb.Nodes = out
	}
	f.CountDefs()
}

// groups reports whether an instruction fences, commits or awaits products.
func groups(op ir.Op) bool {
	return op == ir.WgmmaFence || op == ir.WgmmaCommit || op == ir.WgmmaWait
}

// groupNode adds a fence, commit or wait for a product. It goes by a PTX instruction of its kind.
func groupNode(f *hir.Func, n *hir.Node, op ir.Op, pc int) int32 {
	f.Nodes = append(f.Nodes, hir.Node{Op: op, PC: int32(pc), Block: n.Block, Guard: vreg.None, Vec: 1, Src: slices.Clone(f.Kernel.Instrs[pc].Src)})
	return int32(len(f.Nodes) - 1)
}
