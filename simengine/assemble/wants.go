package assemble

import "github.com/warptune/warptune/simengine/ir"

// wantVariables marks what is written in several places as wanted, since a
// reader may come round a loop, and puts uniform ones in the uniform file.
func (s *selector) wantVariables() {
	f := s.f
	upper := f.upperWords()
	for _, b := range f.order {
		guarded := map[value]int32{}
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			for _, d := range n.dst {
				if d < 0 || f.vals[d].defs < 2 || n.guard == noValue {
					continue
				}
				s.keep[ni] = true
				if m, ok := guarded[d]; ok && f.nodes[m].guard == n.guard && f.nodes[m].gnot != n.gnot {
					s.keep[m] = false
				} else if !ok {
					guarded[d] = ni
				}
			}
			for i := range n.src {
				if o := &n.src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && f.vals[o.Reg].defs > 1 {
					s.want[o.Reg] |= wantLo
					if upper[o.Reg] {
						s.want[o.Reg] |= wantHi
					}
				}
			}
			if n.guard != noValue {
				s.want[n.guard] |= wantLo
			}
		}
	}
	s.findHard()
	if f.t.uniform {
		s.uniformVariables()
	}
	s.settled = true
	if f.t.uniform {
		s.uniformPointers()
	}
}

// wanted says whether a node must be lowered.
func (s *selector) wanted(n *node) bool {
	if n.hasEffect() {
		return true
	}
	for _, d := range n.dst {
		if d >= 0 && s.want[d] != 0 {
			return true
		}
	}
	return false
}
