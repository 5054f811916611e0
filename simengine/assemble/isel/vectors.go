package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Registers of vector accesses: their words lie in adjacent ones.

// vector returns adjacent registers for the elements of a vector access. Elements that are written
// once are bound to its words; others are copied. A single element stands for itself.
func (s *selector) vector(regs []vreg.Value, load bool) mir.Arg {
	f := s.hir
	if len(regs) == 1 && regs[0] >= 0 {
		return mir.ValueWords(regs[0], 0, f.Values[regs[0]].Words)
	}
	total := uint8(0)
	for _, r := range regs {
		if r >= 0 {
			total += f.Values[r].Words
		} else {
			total++
		}
	}
	together := load && s.loadedTogether(regs)
	if b, bound := s.sub[max(regs[0], 0)]; bound && together {
		return mir.ValueWords(b.v, 0, total) // another load of the same elements bound them
	}
	if at, ok := s.boundTogether(regs, total); ok && load {
		return at
	}
	g := s.newValue(total, vreg.General)
	w := uint8(0)
	for _, r := range regs {
		if r < 0 {
			w++
			continue
		}
		_, bound := s.sub[r]
		if load && (f.Values[r].Defs == 1 || together) && !bound && f.Values[r].File == vreg.General {
			s.sub[r] = subst{v: g, w: w}
		}
		w += f.Values[r].Words
	}
	return mir.ValueWords(g, 0, total)
}

// boundTogether returns the words that all elements of a load are bound to in order, as for a store
// of the same elements; false where they are not.
func (s *selector) boundTogether(regs []vreg.Value, total uint8) (mir.Arg, bool) {
	first, w := subst{v: vreg.None}, uint8(0)
	for i, r := range regs {
		if r < 0 || s.hir.Values[r].Defs != 1 && s.n.Guard != vreg.None {
			return mir.Arg{}, false
		}
		b, ok := s.sub[r]
		if i == 0 {
			first = b
		}
		if !ok || b.v != first.v || b.w != first.w+w {
			return mir.Arg{}, false
		}
		w += s.hir.Values[r].Words
	}
	return mir.ValueWords(first.v, first.w, total), first.w%total == 0
}

// loadedTogether reports whether variables are written only by loads of all of them in this order,
// such as those of two branches, and by constants.
func (s *selector) loadedTogether(regs []vreg.Value) bool {
	f := s.hir
	for _, r := range regs {
		if r < 0 || f.Values[r].Defs < 2 || f.Values[r].File != vreg.General {
			return false
		}
	}
	if s.writers == nil {
		s.writers = map[vreg.Value][]int32{}
		for _, b := range f.Order {
			for _, ni := range f.Blocks[b].Nodes {
				n := &f.Nodes[ni]
				for _, d := range n.Dst {
					if d >= 0 && f.Values[d].Defs > 1 {
						s.writers[d] = append(s.writers[d], ni)
					}
				}
			}
		}
	}
	for _, r := range regs {
		for _, ni := range s.writers[r] {
			if n := &f.Nodes[ni]; !slices.Equal(n.Dst, regs) && !hir.SetsConstant(n) {
				return false
			}
		}
	}
	return true
}

// unpackVector copies the elements that vector could not bind.
func (s *selector) unpackVector(regs []vreg.Value, g mir.Arg) {
	if len(regs) == 1 {
		return
	}
	w := uint8(0)
	for _, r := range regs {
		if r < 0 {
			w++
			continue
		}
		n := s.hir.Values[r].Words
		if b, ok := s.sub[r]; !ok || b.v != g.Value || b.w != g.Word+w {
			for i := uint8(0); i < n; i++ {
				s.emit(mir.OpMOV, mir.ValueWords(r, i, 1), mir.ValueWords(g.Value, w+i, 1))
			}
		}
		w += n
	}
}

// bindVectors binds variables that a vector store in a loop takes, and nothing else, to adjacent registers, then those
// that a vector load writes. Where two accesses want a variable in two places, it is the one in more loops that has it
// in place.
//
// Evidence, ptxas 13.0 for sm_90a: bitonic_rows keeps each key beside its index, as a loop stores them
// (STS.64), and copies keys beside keys for the store after it. 32 variables of fft4k's loop begin where
// LDG.64 brings them.
func (s *selector) bindVectors() {
	f := s.hir
	blocks := slices.Clone(f.Order)
	slices.SortStableFunc(blocks, func(a, b int) int { return f.Blocks[b].LoopDepth - f.Blocks[a].LoopDepth })
	for _, op := range [...]ir.Op{ir.St, ir.Ld} {
		for _, b := range blocks {
			for _, ni := range f.Blocks[b].Nodes {
				switch n := &f.Nodes[ni]; {
				case n.Op != op || n.Vec < 2:
				case op == ir.St && f.Blocks[b].LoopDepth > 0:
					s.bindVariables(n.Src[1:], hir.Words(n.Type))
				case op == ir.Ld && n.Guard == vreg.None:
					s.bindVariables(operandsOf(n.Dst), hir.Words(n.Type))
				}
			}
		}
	}
}

// bindVariables binds the operands of a vector, of per words each, to adjacent registers if all are
// different variables and none is bound.
func (s *selector) bindVariables(ops []ir.Operand, per uint8) {
	for i, o := range ops {
		if !s.staysInPlace(o, per) || slices.ContainsFunc(ops[:i], func(p ir.Operand) bool { return p.Reg == o.Reg }) {
			return
		}
	}
	g := s.newValue(per*uint8(len(ops)), vreg.General)
	for i, o := range ops {
		s.sub[vreg.Value(o.Reg)] = subst{v: g, w: uint8(i) * per}
	}
}

// operandsOf are the operands that name some values; none of a value that nothing reads.
func operandsOf(vals []vreg.Value) []ir.Operand {
	ops := make([]ir.Operand, len(vals))
	for i, v := range vals {
		if v >= 0 {
			ops[i] = ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(v), Var: -1, Param: -1}
		}
	}
	return ops
}

// staysInPlace reports whether an operand is a variable that may live where the present node, a store,
// wants it, whoever else reads it.
//
// Evidence, ptxas corpus (shared launches of ln_back_rows, sm_90a): sums of a loop lie where a vector
// store after it takes them.
func (s *selector) staysInPlace(o ir.Operand, words uint8) bool {
	if !s.hir.Target.Specific || o.Kind != ir.OperandReg {
		return false
	}
	v := &s.hir.Values[o.Reg]
	_, bound := s.sub[vreg.Value(o.Reg)]
	return v.Defs > 1 && v.Words == words && v.File == vreg.General && !bound
}
