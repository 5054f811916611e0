package hir

import (
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// FindUniform marks the values that are the same in every thread of a warp,
// and the branches that may split one. A value is uniform when it is computed
// from uniform values only and, if it is written in several places, in no
// place that only part of a warp may reach.
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
	return nil
}

// markRegion marks the blocks between a divergent branch and its
// post-dominator.
func (f *Func) markRegion(b int) {
	for _, s := range f.Blocks[b].Succs {
		if f.OnlyExits(s) {
			return // lanes leave for good; the others stay together
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

// nodeUniform says whether a node gives the same result in every lane.
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
	case ir.Atom, ir.Shfl, ir.Match, ir.Elect, ir.Mma, ir.Movmatrix:
		return false
	case ir.Ld, ir.Ldu:
		if n.Space != ir.ParamSpace && n.Space != ir.Const {
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
