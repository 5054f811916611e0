package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// multiply lowers integer mul and mad.
func (s *selector) multiply(n *hir.Node, wide, hi bool) error {
	a, b := n.Src[0], n.Src[1]
	add := mir.Arg{Kind: mir.ArgZero}
	var c *ir.Operand
	if n.Op == ir.Mad {
		c = &n.Src[2]
	}
	switch {
	case n.Mod&ir.ModWide != 0 && hir.Is32Bit(n) && hi:
		if c != nil && s.shiftsWide(b, *c) {
			s.leaWide(a, *c)
			return nil
		}
		if c != nil && s.hir.Target.IMADWide {
			x, y, sum := s.wideAddOperands(a, b, *c)
			s.emit(mir.OpIMADWIDE, s.dest(0, 2), x, y, sum)
			return nil
		}
		m := s.operands(0, a, b)
		if c != nil {
			add = s.pair(*c)
		}
		if !s.hir.Target.IMADWide {
			s.emit(mir.OpIMAD, s.dest(0, 1), m[0], m[1], add)
			s.emit(mir.OpIMADHI, s.dest(1, 1), m[0], m[1], s.dest(0, 1))
			return nil
		}
		s.emit(mir.OpIMADWIDE, s.dest(0, 2), m[0], m[1], add)
	case n.Mod&ir.ModHi != 0 && wide && c == nil && !hir.Signed(n.Type) && s.hir.Target.IMADWide && s.hir.Target.IADD3:
		s.multiplyHigh64(a, b)
	case n.Mod&ir.ModHi != 0 && wide:
		s.chain(8, mir.OpIMADWIDE, s.dest(0, 2), s.pair(a), s.pair(b))
	case n.Mod&ir.ModHi != 0:
		if c != nil {
			add = s.gprWord(*c, 0)
		}
		m := s.operands(0, a, b)
		s.emit(mir.OpIMADHI, s.dest(0, 1), m[0], m[1], add)
	case hir.Words(n.Type) == 2 && hi:
		if c != nil {
			add = s.pair(*c)
		}
		s.multiply64(a, b, add)
	default:
		s.multiply32(a, b, c)
	}
	return nil
}

// shiftsWide reports whether a mad.wide by factor b, plus sum, becomes LEA and LEA.HI.X: where the factor is a
// power of two. The sum then may be in uniform registers. A multiplication and an addition of their own stay
// IMAD.WIDE.
//
// Evidence, ptxas corpus (public Triton kernels, sm_90a): 44 programs without mul.wide have 883 such mad.wide, 895
// LEA.HI.X or ULEA.HI.X and 74 IMAD.WIDE or UIMAD.WIDE; 66 programs without mad.wide have 453 mul.wide, 240 and 1,461.
func (s *selector) shiftsWide(b, sum ir.Operand) bool {
	if b.Kind != ir.OperandImm || b.Imm < 2 || b.Imm&(b.Imm-1) != 0 || sum.Kind != ir.OperandReg {
		return false
	}
	return !s.steppedInPlace[s.localCopy(vreg.Value(sum.Reg))]
}

// leaWide emits the extension of a, shifted, plus a sum of 64 bits.
func (s *selector) leaWide(a, sum ir.Operand) {
	c := s.carry()
	s.emit(mir.OpLEA, s.dest(0, 1), s.operands(0, a, sum)...).Dst[1] = c
	s.emit(mir.OpLEAHIX, s.dest(1, 1), s.gprWord(a, 0), s.flexible(sum, 1), c)
}

// multiply32 emits a 32-bit multiplication, a shift where one factor is a power of two.
func (s *selector) multiply32(a, b ir.Operand, c *ir.Operand) {
	if c != nil {
		s.emit(mir.OpIMAD, s.dest(0, 1), s.operands(0, a, b, *c)...)
		return
	}
	if b.Kind == ir.OperandImm && uint32(b.Imm) != 0 && uint32(b.Imm)&(uint32(b.Imm)-1) == 0 {
		s.emit(mir.OpSHL, s.dest(0, 1), s.flexible(a, 0))
		return
	}
	if s.hir.Target.XMAD {
		s.emit(mir.OpIMAD, s.dest(0, 1), s.operands(0, a, b)...)
		s.emit(mir.OpIMAD, s.dest(0, 1), s.dest(0, 1))
		s.emit(mir.OpIMAD, s.dest(0, 1), s.dest(0, 1))
		return
	}
	s.emit(mir.OpIMAD, s.dest(0, 1), s.operands(0, a, b)...)
}

// multiply64 emits the low 64 bits of a 64-bit multiplication, plus add. A single cross product is
// added to the upper word as it is computed.
func (s *selector) multiply64(a, b ir.Operand, add mir.Arg) {
	m := s.operands(0, a, b)
	ah, bh := s.flexible(a, 1), s.flexible(b, 1)
	if ah.Kind != mir.ArgZero && bh.Kind != mir.ArgZero {
		t, u := s.temp(1), s.temp(1)
		s.emit(mir.OpIMAD, t, ah, m[1])
		s.emit(mir.OpIMADWIDE, s.dest(0, 2), m[0], m[1], add)
		s.emit(mir.OpIMAD, u, m[0], bh, t)
		s.emit(mir.OpIADD3, s.dest(1, 1), s.dest(1, 1), u)
		return
	}
	s.emit(mir.OpIMADWIDE, s.dest(0, 2), m[0], m[1], add)
	switch {
	case ah.Kind != mir.ArgZero:
		s.emit(mir.OpIMAD, s.dest(1, 1), ah, m[1], s.dest(1, 1))
	case bh.Kind != mir.ArgZero:
		s.emit(mir.OpIMAD, s.dest(1, 1), m[0], bh, s.dest(1, 1))
	}
}

// multiplyHigh64 emits the upper 64 bits of an unsigned 64-bit multiplication in seven
// instructions: cross products with a carry, then the product of the upper words.
//
// Evidence, kernels: modexp_mont, ntt_gold.
func (s *selector) multiplyHigh64(a, b ir.Operand) {
	if a.Kind == ir.OperandImm {
		a, b = b, a
	}
	al, ah, bl, bh := s.gprWord(a, 0), s.gprWord(a, 1), s.flexibleWord(b, 0), s.flexibleWord(b, 1)
	word := func(pair mir.Arg, w uint8) mir.Arg {
		pair.Word, pair.N = w, 1
		return pair
	}
	cross, both, low, upper := s.temp(2), s.temp(2), s.temp(2), s.temp(2)
	carry, lower, none := s.carry(), s.carry(), mir.Arg{Kind: mir.ArgZero}
	s.emit(mir.OpIMADWIDE, cross, ah, bl, none)
	s.emit(mir.OpIMADWIDE, both, al, bh, cross).Dst[1] = carry
	s.emit(mir.OpIMADWIDE, low, al, bl, none)
	s.emit(mir.OpIADD3X, word(upper, 1), none, none, carry)
	s.emit(mir.OpIADD3, lower, word(low, 1), word(both, 0))
	s.emit(mir.OpMOV, word(upper, 0), word(both, 1))
	s.emit(mir.OpIMADWIDE, s.dest(0, 2), ah, bh, upper, lower)
}

// shift lowers shifts.
func (s *selector) shift(n *hir.Node, wide, hi bool) error {
	left := n.Op == ir.Shl
	if !wide || left && !hi {
		op := mir.OpSHF
		if left && hir.ShiftCount(n) >= 0 {
			op = mir.OpSHL
		}
		s.emit(op, s.dest(0, 1), s.operands(0, n.Src...)...)
		return nil
	}
	if s.onlyMovesWords(n) {
		return nil
	}
	amount := s.gprWord(ir.Operand{Kind: ir.OperandImm, Var: -1, Param: -1}, 0)
	if hir.ShiftCount(n) < 0 {
		amount = s.gprWord(n.Src[1], 0)
	}
	lo, h := s.gprWord(n.Src[0], 0), s.gprWord(n.Src[0], 1)
	if s.demand[n.Dst[0]]&demandLow != 0 {
		if left {
			s.emit(mir.OpSHF, s.dest(0, 1), lo, amount)
		} else {
			s.emit(mir.OpSHF, s.dest(0, 1), lo, h, amount)
		}
	}
	if hi {
		if left {
			s.emit(mir.OpSHF, s.dest(1, 1), lo, h, amount)
		} else {
			s.emit(mir.OpSHF, s.dest(1, 1), h, amount)
		}
	}
	return nil
}

// minMax64 emits a 64-bit minimum or maximum.
func (s *selector) minMax64(n *hir.Node) error {
	p := s.carry()
	a, b := s.pair(n.Src[0]), s.pair(n.Src[1])
	op := mir.OpISETP
	if n.Type == ir.F64 {
		op = mir.OpDSETP
	} else {
		s.emit(op, p, a, b)
	}
	s.emit(op, p, a, b)
	for w := uint8(0); w < 2; w++ {
		x, y := a, b
		x.Word, x.N, y.Word, y.N = x.Word+w, 1, y.Word+w, 1
		s.emit(mir.OpSEL, s.dest(w, 1), x, y, p)
	}
	return nil
}

// lowerCarry lowers extended-precision arithmetic, one instruction a word. The carry is a
// predicate.
func (s *selector) lowerCarry(n *hir.Node) error {
	op := mir.OpIADD3X
	if n.Op == ir.MadC {
		op = mir.OpIMAD
	}
	for w := uint8(0); w < s.hir.Values[n.Dst[0]].Words; w++ {
		s.emit(op, s.dest(w, 1), s.operands(w, n.Src...)...)
	}
	return nil
}
