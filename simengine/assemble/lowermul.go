package assemble

import "github.com/warptune/warptune/simengine/ir"

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
		if c != nil && s.f.t.imadWide {
			x, y, sum := s.wideSum(a, b, *c)
			s.emit(opIMADWIDE, s.dest(0, 2), x, y, sum)
			return nil
		}
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
	case n.mod&ir.ModHi != 0 && wide && c == nil && !signed(n.typ) && s.f.t.imadWide && s.f.t.iadd3:
		s.multiplyHigh64(a, b)
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
		s.emit(opSHL, s.dest(0, 1), s.mixOne(a, 0))
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

// multiply64 emits the low 64 bits of a 64-bit product plus add. A single cross
// product is added to the upper word as it is made.
func (s *selector) multiply64(a, b ir.Operand, add arg) {
	m := s.mix(0, a, b)
	ah, bh := s.mixOne(a, 1), s.mixOne(b, 1)
	if ah.kind != argZero && bh.kind != argZero {
		t, u := s.temp(1), s.temp(1)
		s.emit(opIMAD, t, ah, m[1])
		s.emit(opIMADWIDE, s.dest(0, 2), m[0], m[1], add)
		s.emit(opIMAD, u, m[0], bh, t)
		s.emit(opIADD3, s.dest(1, 1), s.dest(1, 1), u)
		return
	}
	s.emit(opIMADWIDE, s.dest(0, 2), m[0], m[1], add)
	switch {
	case ah.kind != argZero:
		s.emit(opIMAD, s.dest(1, 1), ah, m[1], s.dest(1, 1))
	case bh.kind != argZero:
		s.emit(opIMAD, s.dest(1, 1), m[0], bh, s.dest(1, 1))
	}
}

// multiplyHigh64 emits the upper 64 bits of an unsigned 64-bit product: the cross products are added with a carry,
// which the product of the upper words takes in with what carries out of the lower words, seven instructions
// (sm_90 machine code of modexp_mont and ntt_gold).
func (s *selector) multiplyHigh64(a, b ir.Operand) {
	if a.Kind == ir.OperandImm {
		a, b = b, a
	}
	al, ah, bl, bh := s.word(a, 0), s.word(a, 1), s.anyWord(b, 0), s.anyWord(b, 1)
	word := func(pair arg, w uint8) arg {
		pair.w, pair.n = w, 1
		return pair
	}
	cross, both, low, upper := s.temp(2), s.temp(2), s.temp(2), s.temp(2)
	carry, lower, none := s.carry(), s.carry(), arg{kind: argZero}
	s.emit(opIMADWIDE, cross, ah, bl, none)
	s.emit(opIMADWIDE, both, al, bh, cross).dst[1] = carry
	s.emit(opIMADWIDE, low, al, bl, none)
	s.emit(opIADD3X, word(upper, 1), none, none, carry)
	s.emit(opIADD3, lower, word(low, 1), word(both, 0))
	s.emit(opMOV, word(upper, 0), word(both, 1))
	s.emit(opIMADWIDE, s.dest(0, 2), ah, bh, upper, lower)
}

// shift lowers shifts.
func (s *selector) shift(n *node, wide, hi bool) error {
	left := n.op == ir.Shl
	if !wide || left && !hi {
		op := opSHF
		if left && shiftCount(n) >= 0 {
			op = opSHL
		}
		s.emit(op, s.dest(0, 1), s.mix(0, n.src...)...)
		return nil
	}
	if s.movesWords(n) {
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
