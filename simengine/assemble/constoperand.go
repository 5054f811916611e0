package assemble

import "github.com/warptune/warptune/simengine/ir"

// Until Hopper an instruction reads one word or pair of constant memory in place,
// c[bank][offset]: of kernel parameters, of constants at a fixed address, of what is
// told of the launch, and of immediates of 64 bits (CUDA Binary Utilities, instruction
// sets of Kepler to Ada; all of 42,525 multiply-adds that read a constant in the sm_75
// code of 20 convolutions do so, and 1,298 of 3,730 in the sm_86 code of 19 kernels of
// doubles). What takes registers only reads it through a move. The uniform datapath
// reads no constant in place: it loads it first, as on later ones.

// constant returns n words of an operand from word w on as constant memory that an
// instruction reads in place.
func (s *selector) constant(o ir.Operand, w, n uint8) (arg, bool) {
	if !s.f.t.constOperand || o.Kind != ir.OperandReg {
		return arg{}, false
	}
	v := value(o.Reg)
	if v >= value(len(s.want)) || w+n > s.f.vals[v].words {
		return arg{}, false
	}
	d := s.f.defOf(v)
	if d == nil || !s.inPlace(d) {
		return arg{}, false
	}
	if d.op == ir.Ld && d.space == ir.Const {
		s.m.inPlace = append(s.m.inPlace, d.pc)
	}
	return arg{kind: argConst, w: w, n: n}, true
}

// inPlace says whether what a node brings to registers lies in constant memory at a
// fixed address, in whole words.
func (s *selector) inPlace(d *node) bool {
	switch {
	case !s.f.t.constOperand || d.guard != noValue:
	case d.op == ir.Mov:
		return len(d.dst) == 1 && len(d.src) == 1 && d.src[0].Kind == ir.OperandSpecial && toldOfLaunch(d.src[0].Special)
	case d.op == ir.Ld:
		return (d.space == ir.ParamSpace || d.space == ir.Const) && d.src[0].Reg == ir.NoReg && bits(d.typ) >= 32
	}
	return false
}

// toldOfLaunch says whether a special register is a word of constant memory.
func toldOfLaunch(sp ir.Special) bool {
	switch sp {
	case ir.NTidX, ir.NTidY, ir.NTidZ, ir.NCTAIdX, ir.NCTAIdY, ir.NCTAIdZ:
		return true
	}
	return false
}

// moveConstants lowers a node that brings constants to registers, some of which
// readers take in no other way; false when it is none.
func (s *selector) moveConstants(n *node) bool {
	if !s.inPlace(n) {
		return false
	}
	if n.op == ir.Ld && n.space == ir.Const {
		s.m.inPlace = append(s.m.inPlace, n.pc)
	}
	for _, d := range n.dst {
		for w := uint8(0); d >= 0 && w < s.f.vals[d].words; w++ {
			if s.want[d]&(wantLo<<w) != 0 {
				s.emit(opMOV, valueArg(d, w, 1), arg{kind: argConst, w: w, n: 1})
			}
		}
	}
	return true
}

// pairOrConstant returns an operand of two words for the slot of an instruction that
// takes constant memory too, and whether that is where it lies.
func (s *selector) pairOrConstant(o ir.Operand) (a arg, constant bool) {
	if a, ok := s.constant(o, 0, 2); ok {
		return a, true
	}
	if s.f.t.constOperand && o.Kind == ir.OperandImm && o.Imm != 0 {
		return arg{kind: argConst, n: 2}, true
	}
	return s.pair(o), false
}

// wideSum returns the operands of a product of words and a pair that it is added to:
// where the pair is read in place, an immediate factor is in a register, which
// instructions of a block share.
func (s *selector) wideSum(a, b, add ir.Operand) (x, y, sum arg) {
	if c, ok := s.constant(add, 0, 2); ok {
		return s.factor(a), s.factor(b), c
	}
	if add.Kind == ir.OperandReg && s.summed[s.local(value(add.Reg))] {
		return s.word(a, 0), s.word(b, 0), s.uniPair(add)
	}
	m := s.mix(0, a, b)
	return m[0], m[1], s.pair(add)
}

// factor returns an operand in a general register.
func (s *selector) factor(o ir.Operand) arg {
	if o.Kind != ir.OperandImm || o.Imm == 0 {
		return s.word(o, 0)
	}
	key := ambientKey{block: s.home(), reg: noValue, vr: -1, imm: int32(o.Imm)}
	v, ok := s.ambient[key]
	if !ok {
		v = s.newValue(1, fileGeneral)
		s.f.vals[v].uniform, s.f.vals[v].remat = true, true
		s.ambient[key] = v
		s.pending[key.block] = append(s.pending[key.block], ambientDef{v: v, vr: -1, imm: key.imm})
	}
	s.want[v] |= wantLo | wantGPR
	return valueArg(v, 0, 1)
}
