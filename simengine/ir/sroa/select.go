package sroa

import (
	"fmt"

	"github.com/warptune/warptune/simengine/ir"
)

// Where there are more places than mostPredicates, only the first keptPredicates comparisons
// serve the load and the store of an address, and the others are made twice (as ptxas has it
// with 8 to 24 places in deploy/calibrate/ptxas/indexed.py's machine code).
const (
	mostPredicates = 7
	keptPredicates = 5
)

// selecter writes a kernel in which arrays are registers.
type selecter struct {
	*ir.Rewriter
	*holder
	word   []ir.Reg          // by variable: the register of its first word, NoReg
	offset map[ir.Reg]ir.Reg // by register that holds an address: the one of how far that is from the start
	equal  map[comparison]ir.Reg
	in     *ir.Instr // the instruction being written
}

// comparison is that of an offset with a place.
type comparison struct {
	offset ir.Reg
	place  uint32
}

// kernel is the kernel with the arrays that are not refused in registers.
func (h *holder) kernel() *ir.Kernel {
	k := h.k
	s := &selecter{Rewriter: ir.NewRewriter(k, 2*len(k.Instrs)), holder: h, offset: map[ir.Reg]ir.Reg{}}
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

// registers makes a register for each word of the arrays, and one for the offset in each that
// holds an address of one.
func (s *selecter) registers() {
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
func (s *selecter) put(op ir.Op, t ir.Type, guard, dst ir.Reg, src ...ir.Operand) *ir.Instr {
	s.Emit(ir.Instr{Op: op, Type: t, Guard: guard, Dst: []ir.Reg{dst}, Src: src, Target: -1, Pos: s.in.Pos})
	return &s.To.Instrs[s.Next()-1]
}

// instr writes what an instruction becomes.
func (s *selecter) instr(pc int) {
	a, access := s.of[pc]
	switch {
	case access && s.word[a.variable] != ir.NoReg:
		s.access(&a)
	case len(s.in.Dst) == 1 && s.in.Dst[0] != ir.NoReg && s.holds(s.in.Dst[0]):
		s.walk()
	case s.in.Op == ir.Cvta && s.names(&s.in.Src[0]):
	default:
		s.Emit(*s.in)
	}
}

// holds reports whether a register holds an address of an array that is in registers.
func (s *selecter) holds(r ir.Reg) bool {
	_, ok := s.offset[r]
	return ok
}

// names reports whether an operand is such an address.
func (s *selecter) names(o *ir.Operand) bool {
	c := congruenceOf(s.From, o, s.at)
	return c.variable >= 0 && s.word[c.variable] != ir.NoReg
}

// walk computes the offset where the kernel computes an address.
func (s *selecter) walk() {
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

// low is the lower half of an operand of 64 bits, of an address that of its offset.
func (s *selecter) low(o *ir.Operand) ir.Operand {
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

// access moves what a load or store does.
func (s *selecter) access(a *localAccess) {
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

// matches is the predicate that the address being accessed is the given one of its places.
func (s *selecter) matches(i, places int, at uint32) ir.Reg {
	c := comparison{s.offset[s.in.Src[0].Reg], at}
	if p, ok := s.equal[c]; ok {
		return p
	}
	p := s.NewReg(fmt.Sprintf("%s==%d", s.To.Regs[c.offset].Name, at), ir.Pred)
	s.put(ir.Setp, ir.U32, ir.NoReg, p, ir.RegOperand(c.offset), ir.WordOperand(int64(at))).Cmp = ir.CmpEQ
	if places <= mostPredicates || i < keptPredicates {
		s.equal[c] = p
	}
	return p
}
