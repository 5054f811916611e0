package assemble

import "github.com/warptune/warptune/simengine/ir"

// findUniform marks the values that are the same in every thread of a warp,
// and the branches that may split one. A value is uniform when it is computed
// from uniform values only and, if it is written in several places, in no
// place that only part of a warp may reach.
func (f *hfn) findUniform() error {
	for v := range f.vals {
		f.vals[v].uniform = true
	}
	for b := range f.blocks {
		f.blocks[b].div, f.blocks[b].split = false, false
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.order {
			for _, ni := range f.blocks[b].nodes {
				n := &f.nodes[ni]
				if f.nodeUniform(n, f.blocks[b].split) {
					continue
				}
				for _, d := range n.dst {
					if d >= 0 && f.vals[d].uniform {
						f.vals[d].uniform, changed = false, true
					}
				}
				if n.isTerminator() && !f.blocks[b].div && n.op != ir.Exit {
					f.blocks[b].div, changed = true, true
					f.markRegion(b)
				}
			}
		}
	}
	return nil
}

// markRegion marks the blocks between a divergent branch and its
// post-dominator.
func (f *hfn) markRegion(b int) {
	for _, s := range f.blocks[b].succs {
		if f.exitOnly(s) {
			return // lanes leave for good; the others stay together
		}
	}
	stop := f.blocks[b].ipdom
	work := append([]int(nil), f.blocks[b].succs...)
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s == stop || f.blocks[s].split {
			continue
		}
		f.blocks[s].split = true
		work = append(work, f.blocks[s].succs...)
	}
}

// nodeUniform says whether a node gives the same result in every lane.
func (f *hfn) nodeUniform(n *node, split bool) bool {
	if n.guard != noValue && !f.vals[n.guard].uniform {
		return false
	}
	for _, d := range n.dst {
		if split && d >= 0 && f.vals[d].defs > 1 {
			return false
		}
	}
	switch n.op {
	case ir.Atom, ir.Shfl, ir.Match, ir.Elect, ir.Mma, ir.Movmatrix:
		return false
	case ir.Ld, ir.Ldu:
		if n.space != ir.ParamSpace && n.space != ir.Const {
			return false
		}
	}
	for i := range n.src {
		o := &n.src[i]
		switch o.Kind {
		case ir.OperandSpecial:
			switch o.Special {
			case ir.TidX, ir.TidY, ir.TidZ, ir.LaneID, ir.LaneMaskEQ, ir.LaneMaskGE, ir.LaneMaskGT, ir.LaneMaskLE, ir.LaneMaskLT,
				ir.Clock, ir.ClockHi, ir.Clock64, ir.GlobalTimer:
				return false
			}
		case ir.OperandReg, ir.OperandAddr:
			if o.Reg != ir.NoReg && !f.vals[o.Reg].uniform {
				return false
			}
		}
	}
	return true
}
