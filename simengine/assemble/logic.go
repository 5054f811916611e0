package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// logic lowers bitwise operations, as many of them into one LOP3 as read three operands.
func (s *selector) logic(n *node, hi bool) {
	v := n.dst[0]
	if s.redundantMask(n) {
		s.emit(opMOV, s.dest(0, 1), s.word(n.src[0], 0))
		return
	}
	if n.op == ir.Or && !hi && s.orProduct(n) {
		return
	}
	if s.tests[v].kind == argNone && s.movesWords(n) {
		return
	}
	ops := s.cone(n)
	if s.want[v]&wantLo != 0 {
		in := s.emit(opLOP3, s.dest(0, 1), s.mix(0, ops...)...)
		in.dst[1] = s.tests[v]
	}
	if hi {
		s.emit(opLOP3, s.dest(1, 1), s.mix(1, ops...)...)
	}
}

// testBits lowers a comparison of a bitwise operation with zero to that operation, whose
// instruction says whether the result is zero as well: one LOP3 where a LOP3 and an ISETP
// would be (5,000 times without its result in the sm_90 machine code of 6,180 programs, 2,100 times with it).
func (s *selector) testBits(n *node, dst arg) bool {
	if !s.f.t.lop3 || n.cmp != ir.CmpEQ && n.cmp != ir.CmpNE || n.src[1].Kind != ir.OperandImm || n.src[1].Imm != 0 || n.guard != noValue || len(n.dst) != 1 {
		return false
	}
	d := s.fold(n.src[0], true)
	if d == nil || !isLogic(d) || words(d.typ) != 1 || len(d.src) != 2 || d.guard != noValue {
		return false
	}
	if s.fold(n.src[0], false) != nil {
		s.emit(opLOP3, dst, s.mix(0, s.cone(d)...)...)
		return true
	}
	v := d.dst[0]
	if s.f.carrier(d) != s.b || s.f.vals[v].uniform || s.f.vals[n.dst[0]].defs != 1 || s.tests[v].kind != argNone || d.op == ir.Or || s.redundantMask(d) {
		return false
	}
	s.tests[v] = dst
	s.want[v] |= wantLo | wantGPR
	return true
}

// orProduct lowers x<<k | y, where y has no more than k bits, to a multiply-add,
// as the real assembler does to spare the integer pipe.
func (s *selector) orProduct(n *node) bool {
	if words(n.typ) != 1 || len(n.src) != 2 || !s.f.t.imadWide {
		return false
	}
	for i := range 2 {
		y := n.src[1-i]
		d := s.fold(n.src[i], false)
		if !shiftsLeft(d) || d.src[0].Kind != ir.OperandReg || y.Kind != ir.OperandReg || s.f.knownBits(value(y.Reg)) > shiftCount(d) {
			continue
		}
		s.emit(opIMAD, s.dest(0, 1), s.word(d.src[0], 0), arg{kind: argImm, imm: 1 << shiftCount(d)}, s.word(y, 0))
		return true
	}
	return false
}

// redundantMask says whether an and only clears bits that are clear already.
func (s *selector) redundantMask(n *node) bool {
	if n.op != ir.And || words(n.typ) != 1 || n.src[1].Kind != ir.OperandImm || n.src[0].Kind != ir.OperandReg {
		return false
	}
	k := s.f.knownBits(value(n.src[0].Reg))
	return k < 32 && uint32(n.src[1].Imm)&(1<<k-1) == 1<<k-1
}

// coneInside is how many operations besides its last a function of three operands is
// looked for in: the majority of three and the choice between two have three.
const coneInside = 4

// cone returns what a bitwise operation reads when it takes in those before it that
// nobody else reads: of the ways to come to three operands the one that takes in most.
func (s *selector) cone(n *node) []ir.Operand {
	best, most := n.src, 0
	if !s.f.t.lop3 || len(n.src) > 2 {
		return best
	}
	var grow func(leaves []ir.Operand, inside int)
	grow = func(leaves []ir.Operand, inside int) {
		if inside > most && len(leaves) <= 3 && s.slots(leaves...) <= 1 {
			best, most = leaves, inside
		}
		if inside == coneInside {
			return
		}
		for i := range leaves {
			d := s.fold(leaves[i], false)
			if d == nil || !isLogic(d) || words(d.typ) != words(n.typ) {
				continue
			}
			// What comes to more than four on the way hardly comes back to three.
			if more := replaced(leaves, i, d.src); len(more) <= 4 {
				grow(more, inside+1)
			}
		}
	}
	grow(n.src, 0)
	return best
}

// isLogic says that a node is an operation on bits of one or two operands.
func isLogic(d *node) bool {
	return d.op == ir.And || d.op == ir.Or || d.op == ir.Xor || d.op == ir.Not
}

// replaced is a list of operands with others for the i-th, each once.
func replaced(leaves []ir.Operand, i int, others []ir.Operand) []ir.Operand {
	out := slices.Clone(others)
	for k, o := range leaves {
		if k != i && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}
