package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

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
		if r < 0 || s.hir.Values[r].Defs != 1 {
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

// gather brings the elements of a vector store into adjacent registers. Elements that only it reads
// are computed in place; others are copied.
func (s *selector) gather(vals []ir.Operand, t ir.Type) mir.Arg {
	per := hir.Words(t)
	if at, ok := s.boundSpan(vals, per); ok {
		s.demandAll(vals)
		return at
	}
	g := s.newValue(per*uint8(len(vals)), vreg.General)
	for i, o := range vals {
		at := uint8(i) * per
		if s.inPlaceOf(o, per) || s.staysInPlace(o, per) {
			s.data(o, t)
			s.sub[vreg.Value(o.Reg)] = subst{v: g, w: at}
			continue
		}
		for w := uint8(0); w < per; w++ {
			s.emit(mir.OpMOV, mir.ValueWords(g, at+w, 1), s.flexible(o, w))
		}
	}
	return mir.ValueWords(g, 0, per*uint8(len(vals)))
}

// inPlaceOf reports whether an operand of that many words may be computed where the present node,
// its only reader, wants it.
func (s *selector) inPlaceOf(o ir.Operand, words uint8) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	f, x := s.hir, vreg.Value(o.Reg)
	_, bound := s.sub[x]
	d := f.DefOf(x)
	there := f.Values[x].Defs > 1 || d != nil && (d.Guard == s.n.Guard || d.Guard == vreg.None && f.Target.Specific) && !s.lookedThrough(x)
	return there && !bound && s.localCopy(x) == x && f.Values[x].Words == words && s.uses[x] == 1 && f.Values[x].File == vreg.General
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

// lookedThrough reports whether readers of x look through the conversion that computes it.
func (s *selector) lookedThrough(x vreg.Value) bool {
	_, ok := s.lookThroughCvt(x, 0)
	return ok
}
