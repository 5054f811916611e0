package sroa

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// ptxas compares the index of a load and of a store of the same address once. With more than
// maxPredicates elements only the first keptPredicates comparisons are shared, and the others are
// made twice (machine code of deploy/calibrate/ptxas/indexed.py with 8 to 24 elements).
const (
	maxPredicates  = 7
	keptPredicates = 5
)

// promotionWriter writes the kernel with the arrays in registers.
type promotionWriter struct {
	*ir.Rewriter
	*promoter
	word   []ir.Reg          // by variable: the register of its first word, NoReg
	offset map[ir.Reg]ir.Reg // by register that holds an address: the one of how far that is from the start
	equal  map[comparison]ir.Reg
	in     *ir.Instr // the instruction being written
}

// comparison is that of an index, in bytes from the variable's start, with the place of an element.
type comparison struct {
	offset ir.Reg
	place  uint32
}

// kernel writes the kernel with the arrays that are not refused in registers.
func (h *promoter) kernel() *ir.Kernel {
	k := h.k
	s := &promotionWriter{Rewriter: ir.NewRewriter(k, 2*len(k.Instrs)), promoter: h, offset: map[ir.Reg]ir.Reg{}}
	s.registers()
	for b := range k.Blocks {
		s.equal = map[comparison]ir.Reg{}
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			s.Mark(pc)
			s.in = &k.Instrs[pc]
			s.instr(pc)
		}
	}
	return s.Finish()
}

// registers adds a register for each word of the arrays, and an offset for each register that holds
// an address in one.
func (s *promotionWriter) registers() {
	nk := s.To
	s.word = make([]ir.Reg, len(nk.Vars))
	nk.LocalBytes = 0
	for v := range nk.Vars {
		x := &nk.Vars[v]
		if s.word[v] = ir.NoReg; x.Space != ir.Local {
			continue
		}
		if s.refused[v] {
			nk.LocalBytes = max(nk.LocalBytes, x.Offset+x.Size)
			continue
		}
		s.word[v] = ir.Reg(len(nk.Regs))
		for at := 0; at < x.Size; at += 4 {
			nk.Regs = append(nk.Regs, ir.RegInfo{Name: fmt.Sprintf("%s+%d", x.Name, at), Type: ir.B32})
		}
		x.Size = 0
	}
	for r, c := range s.at {
		if c.known && c.variable >= 0 && s.word[c.variable] != ir.NoReg {
			s.offset[ir.Reg(r)] = s.NewReg(s.From.Regs[r].Name+"$offset", ir.B32)
		}
	}
}

// put appends an instruction that stands for the one being written.
func (s *promotionWriter) put(op ir.Op, t ir.Type, guard, dst ir.Reg, src ...ir.Operand) *ir.Instr {
	s.Emit(ir.Instr{Op: op, Type: t, Guard: guard, Dst: []ir.Reg{dst}, Src: src, Target: -1, Pos: s.in.Pos})
	return &s.To.Instrs[s.Next()-1]
}

// instr writes what an instruction becomes.
func (s *promotionWriter) instr(pc int) {
	a, access := s.of[pc]
	switch {
	case access && s.word[a.variable] != ir.NoReg:
		s.access(&a)
	case len(s.in.Dst) == 1 && s.in.Dst[0] != ir.NoReg && s.holds(s.in.Dst[0]):
		s.offsetInstr()
	case s.in.Op == ir.Cvta && s.names(&s.in.Src[0]):
	default:
		s.Emit(*s.in)
	}
}

// holds reports whether a register holds an address in an array that goes to registers.
func (s *promotionWriter) holds(r ir.Reg) bool {
	_, ok := s.offset[r]
	return ok
}

// names reports whether an operand is such an address.
func (s *promotionWriter) names(o *ir.Operand) bool {
	c := congruenceOf(s.From, o, s.at)
	return c.variable >= 0 && s.word[c.variable] != ir.NoReg
}

// offsetInstr computes the offset where the kernel computes an address.
func (s *promotionWriter) offsetInstr() {
	o := s.offset[s.in.Dst[0]]
	src := make([]ir.Operand, len(s.in.Src))
	for i := range src {
		src[i] = s.low(&s.in.Src[i])
	}
	t := ir.U32
	if s.in.Op == ir.Mov || s.in.Op == ir.Selp {
		t = ir.B32
	}
	s.put(s.in.Op, t, ir.NoReg, o, src...)
	for c := range s.equal {
		if c.offset == o {
			delete(s.equal, c)
		}
	}
}

// low returns the lower half of a 64-bit operand, for an address that of its offset.
func (s *promotionWriter) low(o *ir.Operand) ir.Operand {
	switch {
	case o.Kind == ir.OperandVar && s.names(o), o.Kind == ir.OperandImm:
		return ir.ImmOperand(uint64(uint32(o.Imm)))
	case o.Kind != ir.OperandReg || s.From.Regs[o.Reg].Type == ir.Pred:
		return *o
	case s.holds(o.Reg):
		return ir.RegOperand(s.offset[o.Reg])
	}
	low := s.NewReg(s.From.Regs[o.Reg].Name+"$low", ir.B32)
	s.put(ir.Cvt, ir.U32, ir.NoReg, low, *o).SrcType = ir.U64
	return ir.RegOperand(low)
}

// access writes the moves that a load or store becomes.
func (s *promotionWriter) access(a *localAccess) {
	places := a.places(s.From.Vars[a.variable].Size)
	for i, p := range places {
		guard := s.in.Guard
		if a.at.modulus != 0 && len(places) > 1 && (i > 0 || s.in.Op == ir.St) {
			guard = s.matches(i, len(places), uint32(p-s.in.Src[0].Imm))
		}
		for w := range a.words {
			word := s.word[a.variable] + ir.Reg(p/4) + ir.Reg(w)
			var move ir.Operand
			switch {
			case s.in.Op == ir.St:
				move = s.in.Src[1+w]
			case s.in.Dst[w] == ir.NoReg:
				continue
			default:
				word, move = s.in.Dst[w], ir.RegOperand(word)
			}
			s.put(ir.Mov, ir.B32, guard, word, move).GuardNot = s.in.GuardNot
		}
	}
}

// matches returns the predicate that the address being accessed is place i.
func (s *promotionWriter) matches(i, places int, at uint32) ir.Reg {
	c := comparison{s.offset[s.in.Src[0].Reg], at}
	if p, ok := s.equal[c]; ok {
		return p
	}
	p := s.NewReg(fmt.Sprintf("%s==%d", s.To.Regs[c.offset].Name, at), ir.Pred)
	s.put(ir.Setp, ir.U32, ir.NoReg, p, ir.RegOperand(c.offset), ir.WordOperand(int64(at))).Cmp = ir.CmpEQ
	if places <= maxPredicates || i < keptPredicates {
		s.equal[c] = p
	}
	return p
}
