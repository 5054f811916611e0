package hir

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Uniformity (divergence) analysis: Karrenberg and Hack, "Improving Performance of OpenCL on CPUs",
// CC 2012, section 3; here optimistic, from "all is uniform".

// FindUniform marks the values that are the same in all lanes of a warp, and the branches that
// lanes may leave by different ways. A value is uniform if it is computed from uniform values and,
// where it has several definitions, none of them stands where part of a warp may be alone.
func (f *Func) FindUniform() error {
	for v := range f.Values {
		f.Values[v].Uniform = true
	}
	for b := range f.Blocks {
		f.Blocks[b].Divergent, f.Blocks[b].Partial = false, false
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Order {
			for _, ni := range f.Blocks[b].Nodes {
				n := &f.Nodes[ni]
				if f.nodeUniform(n, f.Blocks[b].Partial) {
					continue
				}
				for _, d := range n.Dst {
					if d >= 0 && f.Values[d].Uniform {
						f.Values[d].Uniform, changed = false, true
					}
				}
				if n.IsTerminator() && !f.Blocks[b].Divergent && n.Op != ir.Exit {
					f.Blocks[b].Divergent, changed = true, true
					f.markRegion(b)
				}
			}
		}
	}
	f.markApart()
	return nil
}

// markApart marks the blocks of PTX for one architecture that lanes of a warp may reach apart: the partial ones, and all
// that follow a divergent branch with an instruction between it and its post-dominator that a warp executes together.
// ptxas has no convergence barrier there (BSSY, BSYNC), and WARPSYNC.ALL before each later instruction that wants all
// lanes.
//
// Evidence, ptxas corpus (728 programs, sm_90a): the 39 with BRA.DIV before shuffles have them in such blocks, and no
// others do (lookback_scan, cluster_norm, cluster_decode).
func (f *Func) markApart() {
	if !f.Target.Specific {
		return
	}
	var work []int
	for _, b := range f.Order {
		hb := &f.Blocks[b]
		if hb.Apart = hb.Partial; hb.Divergent && hb.IPDom >= 0 && f.syncsBefore(b, hb.IPDom) {
			work = append(work, hb.IPDom)
		}
	}
	seen := map[int]bool{}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[b] {
			seen[b], f.Blocks[b].Apart = true, true
			work = append(work, f.Blocks[b].Succs...)
		}
	}
}

// syncsBefore reports whether an instruction of a whole warp stands between divergent branch b and block stop.
func (f *Func) syncsBefore(b, stop int) bool {
	seen, work := map[int]bool{stop: true}, slices.Clone(f.Blocks[b].Succs)
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[s] || !f.Blocks[s].Partial {
			continue
		}
		seen[s] = true
		for _, ni := range f.Blocks[s].Nodes {
			switch f.Nodes[ni].Op {
			case ir.BarWarp, ir.Shfl, ir.Vote, ir.Match, ir.Redux:
				return true
			}
		}
		work = append(work, f.Blocks[s].Succs...)
	}
	return false
}

// markRegion marks the blocks between divergent branch b and its post-dominator as Partial.
func (f *Func) markRegion(b int) {
	for _, s := range f.Blocks[b].Succs {
		if f.OnlyExits(s) {
			return // some lanes exit; the others stay together
		}
	}
	stop := f.Blocks[b].IPDom
	work := append([]int(nil), f.Blocks[b].Succs...)
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s == stop || f.Blocks[s].Partial {
			continue
		}
		f.Blocks[s].Partial = true
		work = append(work, f.Blocks[s].Succs...)
	}
}

// nodeUniform reports whether a node has the same result in every lane. split says that only some
// lanes of a warp may execute it.
func (f *Func) nodeUniform(n *Node, split bool) bool {
	if n.Guard != vreg.None && !f.Values[n.Guard].Uniform {
		return false
	}
	for _, d := range n.Dst {
		if split && d >= 0 && f.Values[d].Defs > 1 {
			return false
		}
	}
	switch n.Op {
	case ir.Shfl:
		return f.Target.Specific && n.Bool == ir.ShflIdx && len(n.Src) > 2 && n.Src[1].Kind == ir.OperandImm && n.OfAllLanes() && !split
	case ir.Atom, ir.Tex, ir.Txq, ir.Suld, ir.Match, ir.Elect, ir.Mma, ir.Movmatrix, ir.Wgmma, ir.MbarArrive:
		return false
	case ir.MbarWait: // lanes that wait in a loop leave it together
		return true
	case ir.Ld, ir.Ldu:
		// ptxas takes what lanes load together from one place in global memory for the same (ptxas corpus,
		// shared launches of decode_split, sm_90a: the length of a sequence goes through R2UR).
		global := f.Target.Specific && n.Space == ir.Global && n.Mod&ir.ModVolatile == 0 && !split
		if n.Space != ir.ParamSpace && n.Space != ir.Const && !global {
			return false
		}
	}
	for i := range n.Src {
		o := &n.Src[i]
		switch o.Kind {
		case ir.OperandSpecial:
			switch o.Special {
			case ir.TidX, ir.TidY, ir.TidZ, ir.LaneID, ir.LaneMaskEQ, ir.LaneMaskGE, ir.LaneMaskGT, ir.LaneMaskLE, ir.LaneMaskLT,
				ir.Clock, ir.ClockHi, ir.Clock64, ir.GlobalTimer:
				return false
			}
		case ir.OperandReg, ir.OperandAddr:
			if o.Reg != ir.NoReg && !f.Values[o.Reg].Uniform {
				return false
			}
		}
	}
	return true
}
