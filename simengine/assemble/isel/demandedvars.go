package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// demandVariables marks all variables that are read as demanded, since a reader may come round a
// loop, and chooses the register file of each.
func (s *selector) demandVariables() {
	f := s.hir
	upper := f.UpperWords()
	for _, b := range f.Order {
		guarded := map[vreg.Value]int32{}
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			for _, d := range n.Dst {
				if d < 0 || f.Values[d].Defs < 2 || n.Guard == vreg.None {
					continue
				}
				s.keep[ni] = true
				if m, ok := guarded[d]; ok && f.Nodes[m].Guard == n.Guard && f.Nodes[m].GuardNot != n.GuardNot {
					s.keep[m] = false
				} else if !ok {
					guarded[d] = ni
				}
			}
			for i := range n.Src {
				if o := &n.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && f.Values[o.Reg].Defs > 1 {
					s.demand[o.Reg] |= demandLow
					if upper[o.Reg] {
						s.demand[o.Reg] |= demandHigh
					}
				}
			}
			if n.Guard != vreg.None {
				s.demand[n.Guard] |= demandLow
			}
		}
	}
	s.findComparedWithConst()
	if f.Target.Uniform {
		s.uniformVariables()
	}
	s.filesDecided = true
	if f.Target.Uniform && f.Target.Uses(rules.UniformInduction) {
		s.uniformPointers()
	}
}

// isDemanded reports whether a node must be lowered: it has an effect, or its result is demanded.
func (s *selector) isDemanded(n *hir.Node) bool {
	if n.HasEffect() {
		return true
	}
	for _, d := range n.Dst {
		if d >= 0 && s.demand[d] != 0 {
			return true
		}
	}
	return false
}
