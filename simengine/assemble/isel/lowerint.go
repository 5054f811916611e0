package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Integer addition and what it can take in: multiply-add, shift-add, three-input add.

// fold returns the node that computes an operand if the reader may compute it as part of itself,
// else nil: it has no other reader (or many is set), and its operands still hold where the reader
// stands.
func (s *selector) fold(o ir.Operand, many bool) *hir.Node {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg {
		return nil
	}
	v := vreg.Value(o.Reg)
	d := s.hir.DefOf(v)
	if d == nil || len(d.Dst) != 1 || !s.availableHere(d) {
		return nil
	}
	if !many && s.uses[v] != 1 || s.demand[v]&(demandLow|demandHigh) != 0 && !many {
		return nil
	}
	if d.Mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat) != 0 {
		return nil
	}
	for i := range d.Src {
		if x := &d.Src[i]; x.Kind == ir.OperandReg && s.hir.Values[x.Reg].Defs > 1 && !s.unchanged(vreg.Value(x.Reg), d) {
			return nil
		}
	}
	return d
}

// unchanged reports whether variable v still has the value it had at node d: both are in one block
// and nothing between writes it.
func (s *selector) unchanged(v vreg.Value, d *hir.Node) bool {
	if s.hir.Carrier(d) != s.b {
		return false
	}
	in := false
	for _, ni := range s.hir.Blocks[s.b].Nodes {
		n := &s.hir.Nodes[ni]
		if n == s.n {
			return in
		}
		if in {
			for _, w := range n.Dst {
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
func (s *selector) lowerInt(n *hir.Node) error {
	v := n.Dst[0]
	wide := s.hir.Values[v].Words == 2
	hi := wide && s.demand[v]&demandHigh != 0
	switch n.Op {
	case ir.Add, ir.Sub:
		if hi {
			return s.add64(n)
		}
		if !wide && s.addSelected(n) {
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
		s.emit(mir.OpIMNMX, s.dest(0, 1), s.operands(0, n.Src...)...)
		return nil
	}
	for w := uint8(0); w <= 1; w++ {
		if s.demand[v]&(demandLow<<w) != 0 && w < s.hir.Values[v].Words {
			s.emit(simple[n.Op].i32, s.dest(w, 1), s.operands(w, n.Src...)...)
		}
	}
	return nil
}

// addSelected lowers x plus a selection between two constants to two additions, the second guarded,
// on Hopper. It reports whether it did.
//
// Evidence, kernels: align_pairs.
func (s *selector) addSelected(n *hir.Node) bool {
	if n.Op != ir.Add || n.Guard != vreg.None || !s.hir.Target.AddMinMax || hir.Words(n.Type) != 1 {
		return false
	}
	for i := range n.Src {
		d, x := s.fold(n.Src[i], false), n.Src[1-i]
		if d == nil || d.Op != ir.Selp || x.Kind != ir.OperandReg || d.Src[0].Kind != ir.OperandImm || d.Src[1].Kind != ir.OperandImm || d.Src[2].Kind != ir.OperandReg {
			continue
		}
		p := vreg.Value(d.Src[2].Reg)
		s.demand[p] |= demandLow
		s.emit(mir.OpIADD3, s.dest(0, 1), s.operands(0, x, d.Src[1])...)
		in := s.emit(mir.OpIADD3, s.dest(0, 1), s.operands(0, x, d.Src[0])...)
		in.Guard, in.GuardNot, in.KeepsOld = p, d.Src[2].Not, true
		return true
	}
	return false
}

// add32 emits a 32-bit addition, or the low word of a 64-bit one.
func (s *selector) add32(n *hir.Node, dst mir.Arg) {
	a, b := n.Src[0], n.Src[1]
	for i := range 2 {
		x, y := a, b
		if i == 1 {
			x, y = b, a
		}
		if d := s.fold(x, false); d != nil && d.Op == ir.Mul && d.Mod&ir.ModHi == 0 && hir.IsInt(d.Type) && (n.Op == ir.Add || i == 1 && d.Src[1].Kind == ir.OperandImm && s.hir.Target.IMADWide) {
			s.emit(mir.OpIMAD, dst, s.operands(0, d.Src[0], d.Src[1], y)...)
			return
		}
	}
	for i := range 2 {
		x, y := a, b
		if i == 1 {
			x, y = b, a
		}
		d := s.fold(x, true)
		if d == nil || n.Op == ir.Sub && i == 0 {
			continue
		}
		if d.Op == ir.Shf && s.hir.Target.LOP3 && n.Op == ir.Add && s.uses[x.Reg] == 1 && shiftsBy(d) {
			// LEA.HI: the upper word of a shifted pair, plus a word
			s.emit(mir.OpLEAHI, dst, s.gprWord(d.Src[0], 0), s.gprWord(d.Src[1], 0), s.flexible(y, 0))
			return
		}
		local := s.uses[x.Reg] == 1 || d.Block == s.n.Block
		if d.Op == ir.Mul && d.Mod&ir.ModWide != 0 && local && n.Op == ir.Add {
			s.emit(mir.OpIMAD, dst, s.operands(0, d.Src[0], d.Src[1], y)...)
			return
		}
		// A signed shift that nothing else reads is LEA.HI.SX32, unless the other side is scaled or uniform (ptxas 13.0 for sm_90a:
		// i+(i>>5) in places of padded rows, lookback_scan and fft4k; not in sgemm).
		right := d.Op == ir.Shr && hir.Words(d.Type) == 1 && (!hir.Signed(d.Type) || n.Op == ir.Add && s.uses[x.Reg] == 1 && s.slotRank(y) == 0 && !s.isScaled(y))
		if (d.Op == ir.Shl || right) && hir.ShiftCount(d) >= 0 && local && d.Src[0].Kind == ir.OperandReg {
			args, op := s.operands(0, d.Src[0], y), mir.OpLEA
			if d.Op == ir.Shr {
				op = mir.OpLEAHI
			}
			s.emit(op, dst, args...)
			return
		}
	}
	if s.hir.Target.IADD3 {
		for i := range 2 {
			x, y := a, b
			if i == 1 {
				x, y = b, a
			}
			d := s.fold(x, false)
			if d != nil && (d.Op == ir.Add || d.Op == ir.Sub) && hir.IsInt(d.Type) && len(d.Src) == 2 && !s.wouldFold(d) && s.slotsNeeded(d.Src[0], d.Src[1], y) <= 1 {
				s.emit(mir.OpIADD3, dst, s.operands(0, d.Src[0], d.Src[1], y)...)
				return
			}
		}
	}
	s.emit(mir.OpIADD3, dst, s.operands(0, a, b)...)
}

// isScaled reports whether an operand is a product or a shift to the left, which an addition may take in.
func (s *selector) isScaled(o ir.Operand) bool {
	d := s.fold(o, true)
	return d != nil && (d.Op == ir.Mul || d.Op == ir.Shl)
}

// shiftsBy reports whether a funnel shift has a constant count.
func shiftsBy(d *hir.Node) bool { return d.Src[2].Kind == ir.OperandImm }

// slotsNeeded counts the operands that would need the flexible slot.
func (s *selector) slotsNeeded(ops ...ir.Operand) int {
	c := 0
	for _, o := range ops {
		if s.slotRank(o) > 0 {
			c++
		}
	}
	return c
}

// wouldFold reports whether an addition takes in a multiplication or a shift itself, which gains
// more than a third addend.
func (s *selector) wouldFold(d *hir.Node) bool {
	for i := range d.Src {
		if e := s.fold(d.Src[i], true); e != nil {
			switch e.Op {
			case ir.Mul, ir.Shl:
				return true
			case ir.Shr:
				return !hir.Signed(e.Type)
			case ir.Shf:
				return s.hir.Target.LOP3 && shiftsBy(e) && s.uses[d.Src[i].Reg] == 1
			}
		}
	}
	return false
}

// add64 emits a 64-bit addition or subtraction.
func (s *selector) add64(n *hir.Node) error {
	if n.Op == ir.Add {
		for _, way := range [...]func(x, y ir.Operand) bool{s.foldAdd64, s.addThree64, s.extendAdd64} {
			for i := range 2 {
				if way(n.Src[i], n.Src[1-i]) {
					return nil
				}
			}
		}
	}
	s.addPair(n.Src[0], n.Src[1])
	return nil
}

// carry returns a new predicate.
func (s *selector) carry() mir.Arg { return mir.ValueWords(s.newValue(1, vreg.Predicate), 0, 1) }

// addPair emits a 64-bit addition or subtraction as two instructions.
func (s *selector) addPair(a, b ir.Operand) {
	c := s.carry()
	s.emit(mir.OpIADD3, s.dest(0, 1), s.operands(0, a, b)...).Dst[1] = c
	args := append(s.operands(1, a, b), c)
	s.emit(mir.OpIADD3X, s.dest(1, 1), args...)
}

// foldAdd64 emits x + y with the multiplication or shift that computes x taken in, and reports
// whether it could.
func (s *selector) foldAdd64(x, y ir.Operand) bool {
	d := s.foldable64(x)
	switch {
	case d == nil:
		return false
	case d.Op == ir.Shl:
		s.leaPair(d.Src[0], y, false)
	case d.Mod&ir.ModWide != 0:
		a, b, sum := s.wideAddOperands(d.Src[0], d.Src[1], y)
		s.emit(mir.OpIMADWIDE, s.dest(0, 2), a, b, sum)
	default:
		s.multiply64(d.Src[0], d.Src[1], s.pair(y))
	}
	return true
}

// foldable64 returns the node that computes x if it is a multiplication or shift that a 64-bit
// addition takes in, else nil.
func (s *selector) foldable64(x ir.Operand) *hir.Node {
	d := s.fold(x, true)
	if d == nil {
		return nil
	}
	once := s.uses[x.Reg] == 1
	ok := false
	switch {
	case d.Op == ir.Mul && d.Mod&ir.ModWide != 0:
		ok = hir.Is32Bit(d) && s.hir.Target.IMADWide && (!s.residesUniform(vreg.Value(x.Reg)) || s.inGeneralAnyway(d))
	case d.Op == ir.Mul && d.Mod&ir.ModHi == 0:
		ok = hir.Words(d.Type) == 2 && once && s.hir.Target.IMADWide
	case d.Op == ir.Shl:
		ok = hir.ShiftCount(d) > 0 && hir.ShiftCount(d) < 32 && (once || d.Block == s.n.Block) && hir.Words(d.Type) == 2 && d.Src[0].Kind == ir.OperandReg
	}
	if !ok {
		return nil
	}
	return d
}

// extendAdd64 emits x + y where x is a sign extension, which LEA.HI.X.SX32 takes in, and reports
// whether it is.
func (s *selector) extendAdd64(x, y ir.Operand) bool {
	d := s.fold(x, true)
	if d == nil || d.Op != ir.Cvt || hir.Bits(d.SrcType) != 32 || !hir.Signed(d.SrcType) || !hir.IsInt(d.Type) || d.Src[0].Kind != ir.OperandReg {
		return false
	}
	s.leaPair(x, y, true)
	return true
}

// addThree64 emits x + y where x is itself an addition that nothing else reads: IADD3 and IADD3.X
// with two carries, one predicate here. It reports whether it did.
func (s *selector) addThree64(x, y ir.Operand) bool {
	d := s.fold(x, false)
	if d == nil || !s.hir.Target.IADD3 || d.Op != ir.Add || hir.Words(d.Type) != 2 || s.hir.Carrier(d) != s.b || s.slotsNeeded(d.Src[0], d.Src[1], y) > 1 {
		return false
	}
	for _, o := range [...]ir.Operand{d.Src[0], d.Src[1], y} {
		e := s.fold(o, true)
		if o.Kind == ir.OperandImm || s.foldable64(o) != nil || e != nil && e.Op == ir.Mul && s.hir.Carrier(e) == s.b {
			return false
		}
	}
	c := s.carry()
	s.emit(mir.OpIADD3, s.dest(0, 1), s.operands(0, d.Src[0], d.Src[1], y)...).Dst[1] = c
	s.emit(mir.OpIADD3X, s.dest(1, 1), append(s.operands(1, d.Src[0], d.Src[1], y), c)...)
	return true
}

// inGeneralAnyway reports whether a node computes from parameters, constants and special registers
// only, which are read into general registers.
func (s *selector) inGeneralAnyway(n *hir.Node) bool {
	for i := range n.Src {
		if n.Src[i].Kind != ir.OperandReg {
			continue
		}
		d := s.hir.DefOf(vreg.Value(n.Src[i].Reg))
		if d == nil || (d.Op != ir.Ld || d.Space != ir.ParamSpace) && !s.onlySpecials(d) {
			return false
		}
	}
	return true
}

// leaPair emits (x << k) + y for 64-bit x as LEA and LEA.HI.X. With extend, x is a sign extension
// of which only the low word is read.
func (s *selector) leaPair(x, y ir.Operand, extend bool) {
	c := s.carry()
	m := s.operands(0, x, y)
	s.emit(mir.OpLEA, s.dest(0, 1), m...).Dst[1] = c
	if d := s.hir.DefOf(vreg.Value(x.Reg)); extend && d != nil && d.Op == ir.Cvt && hir.IsInt(d.SrcType) && hir.Bits(d.SrcType) == 32 && d.Src[0].Kind == ir.OperandReg && s.hir.Values[d.Src[0].Reg].Defs == 1 {
		s.emit(mir.OpLEAHIX, s.dest(1, 1), s.gprWord(d.Src[0], 0), s.flexible(y, 1), c)
		return
	}
	s.emit(mir.OpLEAHIX, s.dest(1, 1), s.gprWord(x, 0), s.flexible(y, 1), s.gprWord(x, 1), c)
}
