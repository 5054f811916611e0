package assemble

import "github.com/warptune/warptune/simengine/ir"

// uses of each value by nodes, counted once before selection.
func (f *fn) countUses() []int32 {
	uses := make([]int32, len(f.vals))
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.guard != noValue {
				uses[n.guard]++
			}
			for i := range n.src {
				if o := &n.src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg {
					uses[o.Reg]++
				}
			}
		}
	}
	return uses
}

// fold returns the node that computes an operand when its reader may compute
// it as part of itself: it has no other reader (unless many is set), and what
// it reads still holds where the reader stands.
func (s *selector) fold(o ir.Operand, many bool) *node {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg {
		return nil
	}
	v := value(o.Reg)
	d := s.f.defOf(v)
	if d == nil || len(d.dst) != 1 || d.guard != noValue && (d.guard != s.n.guard || d.gnot != s.n.gnot) {
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

// shiftCount returns the constant shift of a node, -1 when it has none.
func shiftCount(n *node) int {
	if len(n.src) == 2 && n.src[1].Kind == ir.OperandImm && n.src[1].Imm < 64 {
		return int(n.src[1].Imm)
	}
	return -1
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
		if s.f.t.addMinMax && words(n.typ) == 1 {
			for i := range n.src {
				if d := s.fold(n.src[i], false); d != nil && d.op == ir.Add && isInt(d.typ) && len(d.src) == 2 {
					s.emit(opADDMNMX, s.dest(0, 1), s.mix(0, d.src[0], d.src[1], n.src[1-i])...)
					return nil
				}
			}
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

// add32 emits a 32-bit sum (or the low word of a 64-bit one) as one
// multiply-add, shift-add or three-input add with what it can fold.
func (s *selector) add32(n *node, dst arg) {
	a, b := n.src[0], n.src[1]
	for i := range 2 {
		x, y := a, b
		if i == 1 {
			x, y = b, a
		}
		if d := s.fold(x, false); d != nil && d.op == ir.Mul && d.mod&ir.ModHi == 0 && isInt(d.typ) && n.op == ir.Add {
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
		local := s.uses[x.Reg] == 1 || s.f.carrier(d) == s.b
		if d.op == ir.Mul && d.mod&ir.ModWide != 0 && local && n.op == ir.Add {
			s.emit(opIMAD, dst, s.mix(0, d.src[0], d.src[1], y)...)
			return
		}
		if (d.op == ir.Shl || d.op == ir.Shr && !signed(d.typ) && words(d.typ) == 1) && shiftCount(d) >= 0 && local && d.src[0].Kind == ir.OperandReg {
			args := s.mix(0, d.src[0], y)
			s.emit(opLEA, dst, args...)
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
			}
		}
	}
	return false
}

// add64 emits a 64-bit sum.
func (s *selector) add64(n *node) error {
	if n.op == ir.Add {
		for i := range 2 {
			if s.foldAdd64(n.src[i], n.src[1-i]) {
				return nil
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

// foldAdd64 emits x + y where x is a product, a shift or a sign extension that
// one instruction takes in.
func (s *selector) foldAdd64(x, y ir.Operand) bool {
	d := s.fold(x, true)
	if d == nil {
		return false
	}
	local := s.uses[x.Reg] == 1 || s.f.carrier(d) == s.b
	switch {
	case d.op == ir.Mul && d.mod&ir.ModWide != 0 && bits32(d) && s.f.t.imadWide:
		m := s.mix(0, d.src[0], d.src[1])
		s.emit(opIMADWIDE, s.dest(0, 2), m[0], m[1], s.pair(y))
		return true
	case d.op == ir.Mul && d.mod&ir.ModWide == 0 && d.mod&ir.ModHi == 0 && words(d.typ) == 2 && s.uses[x.Reg] == 1 && s.f.t.imadWide:
		s.multiply64(d.src[0], d.src[1], s.pair(y))
		return true
	case d.op == ir.Shl && shiftCount(d) > 0 && shiftCount(d) < 32 && local && words(d.typ) == 2 && d.src[0].Kind == ir.OperandReg:
		s.leaPair(d.src[0], y, false)
		return true
	case d.op == ir.Cvt && bits(d.styp) == 32 && signed(d.styp) && isInt(d.typ) && d.src[0].Kind == ir.OperandReg:
		s.leaPair(x, y, true)
		return true
	}
	return false
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

// bits32 says whether a widening multiply has 32-bit sources.
func bits32(n *node) bool {
	switch n.typ {
	case ir.U32, ir.S32, ir.B32:
		return true
	}
	return false
}

// multiply lowers integer mul and mad.
func (s *selector) multiply(n *node, wide, hi bool) error {
	a, b := n.src[0], n.src[1]
	add := arg{kind: argZero}
	var c *ir.Operand
	if n.op == ir.Mad {
		c = &n.src[2]
	}
	switch {
	case n.mod&ir.ModWide != 0 && bits32(n) && hi:
		m := s.mix(0, a, b)
		if c != nil {
			add = s.pair(*c)
		}
		if !s.f.t.imadWide {
			s.emit(opIMAD, s.dest(0, 1), m[0], m[1], add)
			s.emit(opIMADHI, s.dest(1, 1), m[0], m[1], s.dest(0, 1))
			return nil
		}
		s.emit(opIMADWIDE, s.dest(0, 2), m[0], m[1], add)
	case n.mod&ir.ModHi != 0 && wide:
		s.chain(8, opIMADWIDE, s.dest(0, 2), s.pair(a), s.pair(b))
	case n.mod&ir.ModHi != 0:
		if c != nil {
			add = s.word(*c, 0)
		}
		m := s.mix(0, a, b)
		s.emit(opIMADHI, s.dest(0, 1), m[0], m[1], add)
	case words(n.typ) == 2 && hi:
		if c != nil {
			add = s.pair(*c)
		}
		s.multiply64(a, b, add)
	default:
		s.multiply32(a, b, c)
	}
	return nil
}

// multiply32 emits a 32-bit product, as a shift when a factor is a power of two.
func (s *selector) multiply32(a, b ir.Operand, c *ir.Operand) {
	if c != nil {
		s.emit(opIMAD, s.dest(0, 1), s.mix(0, a, b, *c)...)
		return
	}
	if b.Kind == ir.OperandImm && uint32(b.Imm) != 0 && uint32(b.Imm)&(uint32(b.Imm)-1) == 0 {
		s.emit(opSHF, s.dest(0, 1), s.mixOne(a, 0))
		return
	}
	if s.f.t.xmad {
		s.emit(opIMAD, s.dest(0, 1), s.mix(0, a, b)...)
		s.emit(opIMAD, s.dest(0, 1), s.dest(0, 1))
		s.emit(opIMAD, s.dest(0, 1), s.dest(0, 1))
		return
	}
	s.emit(opIMAD, s.dest(0, 1), s.mix(0, a, b)...)
}

// multiply64 emits the low 64 bits of a 64-bit product plus add.
func (s *selector) multiply64(a, b ir.Operand, add arg) {
	m := s.mix(0, a, b)
	ah, bh := s.mixOne(a, 1), s.mixOne(b, 1)
	t := arg{kind: argZero}
	if ah.kind != argZero {
		t = s.temp(1)
		s.emit(opIMAD, t, ah, m[1])
	}
	s.emit(opIMADWIDE, s.dest(0, 2), m[0], m[1], add)
	if bh.kind != argZero {
		u := s.temp(1)
		s.emit(opIMAD, u, m[0], bh, t)
		t = u
	}
	if t.kind != argZero {
		s.emit(opIADD3, s.dest(1, 1), s.dest(1, 1), t)
	}
}

// shift lowers shifts.
func (s *selector) shift(n *node, wide, hi bool) error {
	left := n.op == ir.Shl
	if !wide || left && !hi {
		s.emit(opSHF, s.dest(0, 1), s.mix(0, n.src...)...)
		return nil
	}
	amount := s.word(ir.Operand{Kind: ir.OperandImm, Var: -1, Param: -1}, 0)
	if shiftCount(n) < 0 {
		amount = s.word(n.src[1], 0)
	}
	lo, h := s.word(n.src[0], 0), s.word(n.src[0], 1)
	if s.want[n.dst[0]]&wantLo != 0 {
		if left {
			s.emit(opSHF, s.dest(0, 1), lo, amount)
		} else {
			s.emit(opSHF, s.dest(0, 1), lo, h, amount)
		}
	}
	if hi {
		if left {
			s.emit(opSHF, s.dest(1, 1), lo, h, amount)
		} else {
			s.emit(opSHF, s.dest(1, 1), h, amount)
		}
	}
	return nil
}

// logic lowers bitwise operations, two of them into one LOP3 where it can.
func (s *selector) logic(n *node, hi bool) {
	v := n.dst[0]
	if s.redundantMask(n) {
		s.emit(opMOV, s.dest(0, 1), s.word(n.src[0], 0))
		return
	}
	ops := n.src
	if s.f.t.lop3 && len(n.src) == 2 {
		for i := range 2 {
			d := s.fold(n.src[i], false)
			if d == nil || (d.op != ir.And && d.op != ir.Or && d.op != ir.Xor && d.op != ir.Not) || words(d.typ) != words(n.typ) {
				continue
			}
			all := append(append([]ir.Operand(nil), d.src...), n.src[1-i])
			if s.slots(all...) <= 1 {
				ops = all
				break
			}
		}
	}
	if s.want[v]&wantLo != 0 {
		s.emit(opLOP3, s.dest(0, 1), s.mix(0, ops...)...)
	}
	if hi {
		s.emit(opLOP3, s.dest(1, 1), s.mix(1, ops...)...)
	}
}

// redundantMask says whether an and only clears bits that are clear already.
func (s *selector) redundantMask(n *node) bool {
	if n.op != ir.And || words(n.typ) != 1 || n.src[1].Kind != ir.OperandImm || n.src[0].Kind != ir.OperandReg {
		return false
	}
	k := s.knownBits(value(n.src[0].Reg))
	return k < 32 && uint32(n.src[1].Imm)&(1<<k-1) == 1<<k-1
}

// minMax64 emits a 64-bit minimum or maximum.
func (s *selector) minMax64(n *node) error {
	p := s.carry()
	a, b := s.pair(n.src[0]), s.pair(n.src[1])
	op := opISETP
	if n.typ == ir.F64 {
		op = opDSETP
	} else {
		s.emit(op, p, a, b)
	}
	s.emit(op, p, a, b)
	for w := uint8(0); w < 2; w++ {
		x, y := a, b
		x.w, x.n, y.w, y.n = x.w+w, 1, y.w+w, 1
		s.emit(opSEL, s.dest(w, 1), x, y, p)
	}
	return nil
}

// lowerCarry lowers extended-precision arithmetic, one instruction each (two
// for a widening one); the carry travels in a predicate.
func (s *selector) lowerCarry(n *node) error {
	op := opIADD3X
	if n.op == ir.MadC {
		op = opIMAD
	}
	for w := uint8(0); w < s.f.vals[n.dst[0]].words; w++ {
		s.emit(op, s.dest(w, 1), s.mix(w, n.src...)...)
	}
	return nil
}
