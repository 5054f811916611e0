package assemble

import "github.com/warptune/warptune/simengine/ir"

// lowerPairs lowers sums, least and greatest of pairs of 16-bit integers to what Hopper has
// for two operations; it says whether it did. (sm_90 machine code of CUDA's SIMD intrinsics.)
func (s *selector) lowerPairs(n *node) bool {
	switch n.op {
	case ir.Min, ir.Max:
		return s.minMaxOf3(n)
	case ir.Add:
		for i := range n.src {
			if x, ok := s.negatedPair(n.src[i]); ok {
				s.emit(opIADD3, s.dest(0, 1), s.mix(0, n.src[1-i], x)...)
				return true
			}
		}
	}
	return false
}

// minMaxOf3 lowers the least or greatest of three, and of a sum and another, if n is that.
func (s *selector) minMaxOf3(n *node) bool {
	if !s.f.t.addMinMax || words(n.typ) != 1 {
		return false
	}
	for i := range n.src {
		if d := s.fold(n.src[i], false); d != nil && d.op == n.op && d.typ == n.typ {
			s.emit(opIMNMX3, s.dest(0, 1), s.mix(0, d.src[0], d.src[1], n.src[1-i])...)
			return true
		}
	}
	for i := range n.src {
		if d := s.fold(n.src[i], false); d != nil && d.op == ir.Add && (isInt(d.typ) == isInt(n.typ)) && d.typ.Packed().IsFloat() == n.typ.Packed().IsFloat() && len(d.src) == 2 {
			s.emit(opADDMNMX, s.dest(0, 1), s.mix(0, d.src[0], d.src[1], n.src[1-i])...)
			return true
		}
	}
	return false
}

// negatedPair is the word of which o has both halves negated: unpacked, negated one by one
// and packed, which is how CUDA writes a difference of pairs.
func (s *selector) negatedPair(o ir.Operand) (ir.Operand, bool) {
	pack := s.fold(o, false)
	if pack == nil || pack.op != ir.Mov || len(pack.src) != 2 {
		return o, false
	}
	var of *node
	for i := range 2 {
		neg := s.fold(pack.src[i], false)
		if neg == nil || neg.op != ir.Neg || bits(neg.typ) != 16 || neg.src[0].Kind != ir.OperandReg {
			return o, false
		}
		v := value(neg.src[0].Reg)
		d := s.f.defOf(v)
		if d == nil || d.op != ir.Mov || len(d.dst) != 2 || d.dst[i] != v || of != nil && d != of {
			return o, false
		}
		of = d
	}
	x := of.src[0]
	if x.Kind != ir.OperandReg || s.f.vals[x.Reg].defs != 1 || s.f.vals[x.Reg].words != 1 {
		return o, false
	}
	return x, true
}
