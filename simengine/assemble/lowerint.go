package assemble

import "github.com/warptune/warptune/simengine/ir"

// fold returns the node that computes an operand when its reader may compute
// it as part of itself: it has no other reader (unless many is set), and what
// it reads still holds where the reader stands.
func (s *selector) fold(o ir.Operand, many bool) *node {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg {
		return nil
	}
	v := value(o.Reg)
	d := s.f.defOf(v)
	if d == nil || len(d.dst) != 1 || !s.holds(d) {
		return nil
	}
	if !many && s.uses[v] != 1 || s.want[v]&(wantLo|wantHi) != 0 && !many {
		return nil
	}
	if d.mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat) != 0 {
		return nil
	}
	for i := range d.src {
		if x := &d.src[i]; x.Kind == ir.OperandReg && s.f.vals[x.Reg].defs > 1 && !s.unchanged(value(x.Reg), d) {
			return nil
		}
	}
	return d
}

// unchanged says whether variable v still has at the current node the value it
// had at node d: both in one block with no write between.
func (s *selector) unchanged(v value, d *node) bool {
	if s.f.carrier(d) != s.b {
		return false
	}
	in := false
	for _, ni := range s.f.blocks[s.b].nodes {
		n := &s.f.nodes[ni]
		if n == s.n {
			return in
		}
		if in {
			for _, w := range n.dst {
				if w == v {
					return false
				}
			}
		}
		if n == d {
			in = true
		}
	}
	return false
}

// lowerInt lowers integer arithmetic and logic.
func (s *selector) lowerInt(n *node) error {
	v := n.dst[0]
	wide := s.f.vals[v].words == 2
	hi := wide && s.want[v]&wantHi != 0
	switch n.op {
	case ir.Add, ir.Sub:
		if hi {
			return s.add64(n)
		}
		if !wide && s.addsEither(n) {
			return nil
		}
		s.add32(n, s.dest(0, 1))
		return nil
	case ir.Mul, ir.Mad:
		return s.multiply(n, wide, hi)
	case ir.Shl, ir.Shr:
		return s.shift(n, wide, hi)
	case ir.And, ir.Or, ir.Xor, ir.Not:
		s.logic(n, hi)
		return nil
	case ir.Min, ir.Max:
		if wide {
			return s.minMax64(n)
		}
		if s.minMaxOf3(n) {
			return nil
		}
		s.emit(opIMNMX, s.dest(0, 1), s.mix(0, n.src...)...)
		return nil
	}
	for w := uint8(0); w <= 1; w++ {
		if s.want[v]&(wantLo<<w) != 0 && w < s.f.vals[v].words {
			s.emit(simple[n.op].i32, s.dest(w, 1), s.mix(w, n.src...)...)
		}
	}
	return nil
}

// addsEither lowers x plus one of two constants to the sum with the one, and under the
// condition that with the other over it (validation/fifth align_pairs, on Hopper).
func (s *selector) addsEither(n *node) bool {
	if n.op != ir.Add || n.guard != noValue || !s.f.t.addMinMax || words(n.typ) != 1 {
		return false
	}
	for i := range n.src {
		d, x := s.fold(n.src[i], false), n.src[1-i]
		if d == nil || d.op != ir.Selp || x.Kind != ir.OperandReg || d.src[0].Kind != ir.OperandImm || d.src[1].Kind != ir.OperandImm || d.src[2].Kind != ir.OperandReg {
			continue
		}
		p := value(d.src[2].Reg)
		s.want[p] |= wantLo
		s.emit(opIADD3, s.dest(0, 1), s.mix(0, x, d.src[1])...)
		in := s.emit(opIADD3, s.dest(0, 1), s.mix(0, x, d.src[0])...)
		in.guard, in.gnot, in.keeps = p, d.src[2].Not, true
		return true
	}
	return false
}

// add32 emits a 32-bit sum (or the low word of a 64-bit one) as one
// multiply-add, shift-add or three-input add with what it can fold.
func (s *selector) add32(n *node, dst arg) {
	a, b := n.src[0], n.src[1]
	for i := range 2 {
		x, y := a, b
		if i == 1 {
			x, y = b, a
		}
		if d := s.fold(x, false); d != nil && d.op == ir.Mul && d.mod&ir.ModHi == 0 && isInt(d.typ) && (n.op == ir.Add || i == 1 && d.src[1].Kind == ir.OperandImm && s.f.t.imadWide) {
			s.emit(opIMAD, dst, s.mix(0, d.src[0], d.src[1], y)...)
			return
		}
	}
	for i := range 2 {
		x, y := a, b
		if i == 1 {
			x, y = b, a
		}
		d := s.fold(x, true)
		if d == nil || n.op == ir.Sub && i == 0 {
			continue
		}
		if d.op == ir.Shf && s.f.t.lop3 && n.op == ir.Add && s.uses[x.Reg] == 1 && shiftsBy(d) {
			// LEA.HI: the upper word of a shifted pair, plus a word
			s.emit(opLEAHI, dst, s.word(d.src[0], 0), s.word(d.src[1], 0), s.mixOne(y, 0))
			return
		}
		local := s.uses[x.Reg] == 1 || d.block == s.n.block
		if d.op == ir.Mul && d.mod&ir.ModWide != 0 && local && n.op == ir.Add {
			s.emit(opIMAD, dst, s.mix(0, d.src[0], d.src[1], y)...)
			return
		}
		if (d.op == ir.Shl || d.op == ir.Shr && !signed(d.typ) && words(d.typ) == 1) && shiftCount(d) >= 0 && local && d.src[0].Kind == ir.OperandReg {
			args, op := s.mix(0, d.src[0], y), opLEA
			if d.op == ir.Shr {
				op = opLEAHI
			}
			s.emit(op, dst, args...)
			return
		}
	}
	if s.f.t.iadd3 {
		for i := range 2 {
			x, y := a, b
			if i == 1 {
				x, y = b, a
			}
			d := s.fold(x, false)
			if d != nil && (d.op == ir.Add || d.op == ir.Sub) && isInt(d.typ) && len(d.src) == 2 && !s.wouldFold(d) && s.slots(d.src[0], d.src[1], y) <= 1 {
				s.emit(opIADD3, dst, s.mix(0, d.src[0], d.src[1], y)...)
				return
			}
		}
	}
	s.emit(opIADD3, dst, s.mix(0, a, b)...)
}

// shiftsBy says whether a funnel shift has a constant count.
func shiftsBy(d *node) bool { return d.src[2].Kind == ir.OperandImm }

// slots counts the operands that would need the one non-register slot.
func (s *selector) slots(ops ...ir.Operand) int {
	c := 0
	for _, o := range ops {
		if s.nonGPR(o) > 0 {
			c++
		}
	}
	return c
}

// wouldFold says whether a sum would itself take in a product or shift, which
// is worth more than a third addend.
func (s *selector) wouldFold(d *node) bool {
	for i := range d.src {
		if e := s.fold(d.src[i], true); e != nil {
			switch e.op {
			case ir.Mul, ir.Shl:
				return true
			case ir.Shr:
				return !signed(e.typ)
			case ir.Shf:
				return s.f.t.lop3 && shiftsBy(e) && s.uses[d.src[i].Reg] == 1
			}
		}
	}
	return false
}

// add64 emits a 64-bit sum.
func (s *selector) add64(n *node) error {
	if n.op == ir.Add {
		for _, way := range [...]func(x, y ir.Operand) bool{s.foldAdd64, s.addThree64, s.extendAdd64} {
			for i := range 2 {
				if way(n.src[i], n.src[1-i]) {
					return nil
				}
			}
		}
	}
	s.addPair(n.src[0], n.src[1])
	return nil
}

// carry returns a new predicate for a carry.
func (s *selector) carry() arg { return valueArg(s.newValue(1, filePred), 0, 1) }

// addPair emits the plain two-instruction 64-bit sum or difference.
func (s *selector) addPair(a, b ir.Operand) {
	c := s.carry()
	s.emit(opIADD3, s.dest(0, 1), s.mix(0, a, b)...).dst[1] = c
	args := append(s.mix(1, a, b), c)
	s.emit(opIADD3X, s.dest(1, 1), args...)
}

// foldAdd64 emits x + y where x is a product or a shift that one instruction takes in.
func (s *selector) foldAdd64(x, y ir.Operand) bool {
	d := s.takenIn64(x)
	switch {
	case d == nil:
		return false
	case d.op == ir.Shl:
		s.leaPair(d.src[0], y, false)
	case d.mod&ir.ModWide != 0:
		a, b, sum := s.wideSum(d.src[0], d.src[1], y)
		s.emit(opIMADWIDE, s.dest(0, 2), a, b, sum)
	default:
		s.multiply64(d.src[0], d.src[1], s.pair(y))
	}
	return true
}

// takenIn64 is what computes x if that is a product or a shift that a sum of 64 bits takes in, else nil.
func (s *selector) takenIn64(x ir.Operand) *node {
	d := s.fold(x, true)
	if d == nil {
		return nil
	}
	once := s.uses[x.Reg] == 1
	ok := false
	switch {
	case d.op == ir.Mul && d.mod&ir.ModWide != 0:
		ok = bits32(d) && s.f.t.imadWide && (!s.residesUniform(value(x.Reg)) || s.readAnyway(d))
	case d.op == ir.Mul && d.mod&ir.ModHi == 0:
		ok = words(d.typ) == 2 && once && s.f.t.imadWide
	case d.op == ir.Shl:
		ok = shiftCount(d) > 0 && shiftCount(d) < 32 && (once || d.block == s.n.block) && words(d.typ) == 2 && d.src[0].Kind == ir.OperandReg
	}
	if !ok {
		return nil
	}
	return d
}

// extendAdd64 emits x + y where x is a sign extension, which LEA.HI.X.SX32 takes in.
func (s *selector) extendAdd64(x, y ir.Operand) bool {
	d := s.fold(x, true)
	if d == nil || d.op != ir.Cvt || bits(d.styp) != 32 || !signed(d.styp) || !isInt(d.typ) || d.src[0].Kind != ir.OperandReg {
		return false
	}
	s.leaPair(x, y, true)
	return true
}

// addThree64 emits x + y where x is a sum that nothing else reads, of what no instruction
// takes in but sign extensions: IADD3 with two carries and IADD3.X, of which both are one
// predicate here.
func (s *selector) addThree64(x, y ir.Operand) bool {
	d := s.fold(x, false)
	if d == nil || !s.f.t.iadd3 || d.op != ir.Add || words(d.typ) != 2 || s.f.carrier(d) != s.b || s.slots(d.src[0], d.src[1], y) > 1 {
		return false
	}
	for _, o := range [...]ir.Operand{d.src[0], d.src[1], y} {
		e := s.fold(o, true)
		if o.Kind == ir.OperandImm || s.takenIn64(o) != nil || e != nil && e.op == ir.Mul && s.f.carrier(e) == s.b {
			return false
		}
	}
	c := s.carry()
	s.emit(opIADD3, s.dest(0, 1), s.mix(0, d.src[0], d.src[1], y)...).dst[1] = c
	s.emit(opIADD3X, s.dest(1, 1), append(s.mix(1, d.src[0], d.src[1], y), c)...)
	return true
}

// readAnyway says whether what a node computes with are parameters, constants, and what
// the launch alone gives, which are read into general registers.
func (s *selector) readAnyway(n *node) bool {
	for i := range n.src {
		if n.src[i].Kind != ir.OperandReg {
			continue
		}
		d := s.f.defOf(value(n.src[i].Reg))
		if d == nil || (d.op != ir.Ld || d.space != ir.ParamSpace) && !s.ofSpecials(d) {
			return false
		}
	}
	return true
}

// leaPair emits (x << k) + y for 64-bit x as LEA and LEA.HI.X; an unshifted
// sign extension is taken in, so that only its low word is read.
func (s *selector) leaPair(x, y ir.Operand, extend bool) {
	c := s.carry()
	m := s.mix(0, x, y)
	s.emit(opLEA, s.dest(0, 1), m...).dst[1] = c
	if d := s.f.defOf(value(x.Reg)); extend && d != nil && d.op == ir.Cvt && isInt(d.styp) && bits(d.styp) == 32 && d.src[0].Kind == ir.OperandReg && s.f.vals[d.src[0].Reg].defs == 1 {
		s.emit(opLEAHIX, s.dest(1, 1), s.word(d.src[0], 0), s.anyOnly(y, 1), c)
		return
	}
	s.emit(opLEAHIX, s.dest(1, 1), s.word(x, 0), s.anyOnly(y, 1), s.word(x, 1), c)
}

// anyOnly returns an operand for a non-register slot known to be free.
func (s *selector) anyOnly(o ir.Operand, w uint8) arg { return s.mixOne(o, w) }
