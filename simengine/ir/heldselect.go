package ir

import "fmt"

// Where there are more places than mostPredicates, only the first keptPredicates comparisons
// serve the load and the store of an address, and the others are made twice (as ptxas has it
// with 8 to 24 places in deploy/calibrate/ptxas/indexed.py's machine code).
const (
	mostPredicates = 7
	keptPredicates = 5
)

// selecter writes a kernel in which arrays are registers.
type selecter struct {
	unroller
	*holder
	word   []Reg       // by variable: the register of its first word, NoReg
	offset map[Reg]Reg // by register that holds an address: the one of how far that is from the start
	equal  map[comparison]Reg
	in     *Instr // the instruction being written
}

// comparison is that of an offset with a place.
type comparison struct {
	offset Reg
	place  uint32
}

// kernel is the kernel with the arrays that are not refused in registers.
func (h *holder) kernel() *Kernel {
	k := h.k
	nk := *k
	nk.Regs, nk.Vars = append([]RegInfo(nil), k.Regs...), append([]Var(nil), k.Vars...)
	nk.Instrs, nk.Blocks, nk.NoUnroll = make([]Instr, 0, 2*len(k.Instrs)), nil, nil
	s := &selecter{holder: h, offset: map[Reg]Reg{}}
	s.unroller = unroller{k: k, out: &nk, moved: make([]int, len(k.Instrs)+1)}
	s.registers()
	for b := range k.Blocks {
		s.equal = map[comparison]Reg{}
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			s.moved[pc] = len(nk.Instrs)
			s.in = &k.Instrs[pc]
			s.instr(pc)
		}
	}
	s.retarget()
	for _, pc := range k.NoUnroll {
		nk.NoUnroll = append(nk.NoUnroll, s.moved[pc])
	}
	nk.buildCFG()
	return &nk
}

// registers makes a register for each word of the arrays, and one for the offset in each that
// holds an address of one.
func (s *selecter) registers() {
	nk := s.out
	s.word = make([]Reg, len(nk.Vars))
	nk.LocalBytes = 0
	for v := range nk.Vars {
		x := &nk.Vars[v]
		if s.word[v] = NoReg; x.Space != Local {
			continue
		}
		if s.refused[v] {
			nk.LocalBytes = max(nk.LocalBytes, x.Offset+x.Size)
			continue
		}
		s.word[v] = Reg(len(nk.Regs))
		for at := 0; at < x.Size; at += 4 {
			nk.Regs = append(nk.Regs, RegInfo{fmt.Sprintf("%s+%d", x.Name, at), B32})
		}
		x.Size = 0
	}
	for r, c := range s.at {
		if c.known && c.variable >= 0 && s.word[c.variable] != NoReg {
			s.offset[Reg(r)] = s.add(s.holder.k.Regs[r].Name+"$offset", B32)
		}
	}
}

// add adds a register.
func (s *selecter) add(name string, t Type) Reg {
	s.out.Regs = append(s.out.Regs, RegInfo{name, t})
	return Reg(len(s.out.Regs) - 1)
}

// put appends an instruction that stands for the one being written.
func (s *selecter) put(op Op, t Type, guard, dst Reg, src ...Operand) *Instr {
	s.emit(Instr{Op: op, Type: t, Guard: guard, Dst: []Reg{dst}, Src: src, Target: -1, Pos: s.in.Pos})
	return &s.out.Instrs[len(s.out.Instrs)-1]
}

// instr writes what an instruction becomes.
func (s *selecter) instr(pc int) {
	a, access := s.of[pc]
	switch {
	case access && s.word[a.variable] != NoReg:
		s.access(&a)
	case len(s.in.Dst) == 1 && s.in.Dst[0] != NoReg && s.holds(s.in.Dst[0]):
		s.walk()
	case s.in.Op == Cvta && s.names(&s.in.Src[0]):
	default:
		s.emit(*s.in)
	}
}

// holds says whether a register holds an address of an array that is in registers.
func (s *selecter) holds(r Reg) bool {
	_, ok := s.offset[r]
	return ok
}

// names says whether an operand is such an address.
func (s *selecter) names(o *Operand) bool {
	c := s.holder.k.congruenceOf(o, s.at)
	return c.variable >= 0 && s.word[c.variable] != NoReg
}

// walk computes the offset where the kernel computes an address.
func (s *selecter) walk() {
	o := s.offset[s.in.Dst[0]]
	src := make([]Operand, len(s.in.Src))
	for i := range src {
		src[i] = s.low(&s.in.Src[i])
	}
	t := U32
	if s.in.Op == Mov || s.in.Op == Selp {
		t = B32
	}
	s.put(s.in.Op, t, NoReg, o, src...)
	for c := range s.equal {
		if c.offset == o {
			delete(s.equal, c)
		}
	}
}

// low is the lower half of an operand of 64 bits, of an address that of its offset.
func (s *selecter) low(o *Operand) Operand {
	switch {
	case o.Kind == OperandVar && s.names(o), o.Kind == OperandImm:
		return immediate(uint64(uint32(o.Imm)))
	case o.Kind != OperandReg || s.holder.k.Regs[o.Reg].Type == Pred:
		return *o
	case s.holds(o.Reg):
		return regOperand(s.offset[o.Reg])
	}
	low := s.add(s.holder.k.Regs[o.Reg].Name+"$low", B32)
	s.put(Cvt, U32, NoReg, low, *o).SrcType = U64
	return regOperand(low)
}

// access moves what a load or store does.
func (s *selecter) access(a *localAccess) {
	places := a.places(s.holder.k.Vars[a.variable].Size)
	for i, p := range places {
		guard := s.in.Guard
		if a.at.modulus != 0 && len(places) > 1 && (i > 0 || s.in.Op == St) {
			guard = s.matches(i, len(places), uint32(p-s.in.Src[0].Imm))
		}
		for w := range a.words {
			word := s.word[a.variable] + Reg(p/4) + Reg(w)
			var move Operand
			switch {
			case s.in.Op == St:
				move = s.in.Src[1+w]
			case s.in.Dst[w] == NoReg:
				continue
			default:
				word, move = s.in.Dst[w], regOperand(word)
			}
			s.put(Mov, B32, guard, word, move).GuardNot = s.in.GuardNot
		}
	}
}

// matches is the predicate that the address being accessed is the given one of its places.
func (s *selecter) matches(i, places int, at uint32) Reg {
	c := comparison{s.offset[s.in.Src[0].Reg], at}
	if p, ok := s.equal[c]; ok {
		return p
	}
	p := s.add(fmt.Sprintf("%s==%d", s.out.Regs[c.offset].Name, at), Pred)
	s.put(Setp, U32, NoReg, p, regOperand(c.offset), word(int64(at))).Cmp = CmpEQ
	if places <= mostPredicates || i < keptPredicates {
		s.equal[c] = p
	}
	return p
}
