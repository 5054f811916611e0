package isel

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Operands. An instruction has one flexible slot, which takes an immediate, constant memory or a
// uniform register; all others take general registers.

// gprWord returns word w of an operand for a slot that takes general registers only. Other operands
// than zero are moved to one first.
func (s *selector) gprWord(o ir.Operand, w uint8) mir.Arg {
	switch o.Kind {
	case ir.OperandReg:
		v := s.localCopy(vreg.Value(o.Reg))
		if a, ok := s.lookThroughCvt(v, w); ok {
			return a
		}
		if s.residesUniform(v) {
			s.demand[v] |= (demandLow << w) | demandUniform
			t := s.temp(1)
			s.emit(mir.OpMOV, t, mir.ValueWords(s.twinOf(v), w, 1))
			return t
		}
		s.demand[v] |= (demandLow << w) | demandGeneral
		if s.hir.Values[v].File == vreg.Uniform {
			t := s.temp(1)
			s.emit(mir.OpMOV, t, mir.ValueWords(v, w, 1))
			return t
		}
		return mir.ValueWords(v, w, 1)
	case ir.OperandImm:
		x := int64(int32(o.Imm >> (32 * w)))
		if x == 0 {
			return mir.Arg{Kind: mir.ArgZero}
		}
		t := s.temp(1)
		s.emit(mir.OpMOV, t, mir.Arg{Kind: mir.ArgImm, Imm: x})
		return t
	case ir.OperandVar:
		if w == 1 {
			return mir.Arg{Kind: mir.ArgZero}
		}
		return s.varWord(o)
	}
	return mir.Arg{Kind: mir.ArgZero}
}

// lookThroughCvt returns word w of v as a word of what v is converted, masked or shifted from;
// false where it is computed.
func (s *selector) lookThroughCvt(v vreg.Value, w uint8) (mir.Arg, bool) {
	d := s.hir.DefOf(v)
	if d != nil && w == 0 && d.Op == ir.And && s.availableHere(d) && len(d.Src) == 2 && s.redundantMask(d) && s.hir.Values[d.Src[0].Reg].Defs == 1 {
		return s.gprWord(d.Src[0], 0), true
	}
	if d != nil && s.hir.Values[v].Words == 2 && s.availableHere(d) {
		switch from := wordSource(d, w); {
		case from == wordZero:
			return mir.Arg{Kind: mir.ArgZero}, true
		case from >= 0 && s.hir.Values[d.Src[0].Reg].Defs == 1 && s.hir.Values[d.Src[0].Reg].File == vreg.General && s.hir.Values[d.Src[0].Reg].Words == 2:
			return s.gprWord(d.Src[0], uint8(from)), true
		}
	}
	if d == nil || d.Op != ir.Cvt || !s.availableHere(d) || len(d.Src) != 1 || d.Src[0].Kind != ir.OperandReg || !hir.IsInt(d.Type) || !hir.IsInt(d.SrcType) {
		return mir.Arg{}, false
	}
	src := vreg.Value(d.Src[0].Reg)
	if s.hir.Values[src].Defs != 1 || s.hir.Values[src].File == vreg.Uniform || w == 1 && hir.Bits(d.Type) < 64 {
		return mir.Arg{}, false
	}
	from, to := hir.Bits(d.SrcType), hir.Bits(d.Type)
	switch {
	case from == 32 && to == 64 && w == 0:
		return s.gprWord(d.Src[0], 0), true
	case from == 32 && to == 64 && !hir.Signed(d.SrcType):
		return mir.Arg{Kind: mir.ArgZero}, true
	case from == 32 && to == 64 && w == 1:
		if o, ok := s.signWord(v); ok {
			return s.gprWord(o, 0), true
		}
	case from == 64 && to <= 32, from == 32 && to == 32, from == 32 && to == 16:
		return s.gprWord(d.Src[0], 0), true
	case from == 16 && to == 32 && !hir.Signed(d.SrcType) && s.hir.KnownBits(src) <= 16:
		return s.gprWord(d.Src[0], 0), true
	}
	return mir.Arg{}, false
}

// Results of wordSource other than a word of the source.
const wordZero, wordComputed = -1, -2

// wordSource is the word of its first source that word w of a 64-bit node equals: of masks of whole
// words and shifts by 32. It is wordZero for zero and wordComputed for anything else.
func wordSource(d *hir.Node, w uint8) int {
	if len(d.Src) != 2 || d.Src[0].Kind != ir.OperandReg || d.Src[1].Kind != ir.OperandImm || hir.Bits(d.Type) != 64 {
		return wordComputed
	}
	by := d.Src[1].Imm
	switch mask := uint32(by >> (32 * w)); {
	case d.Op == ir.And && mask == 0, d.Op == ir.Shr && w == 1 && !hir.Signed(d.Type) && by >= 32, d.Op == ir.Shl && w == 0 && by >= 32:
		return wordZero
	case d.Op == ir.And && mask == math.MaxUint32, (d.Op == ir.Or || d.Op == ir.Xor) && mask == 0:
		return int(w)
	case d.Op == ir.Shr && w == 0 && by == 32, d.Op == ir.Shl && w == 1 && by == 32:
		return int(1 - w)
	}
	return wordComputed
}

// availableHere reports whether the result of node d is there wherever the present node executes.
func (s *selector) availableHere(d *hir.Node) bool {
	return d.Guard == vreg.None || d.Guard == s.n.Guard && d.GuardNot == s.n.GuardNot
}

// signWord returns the operand that holds the upper word of a sign extension.
func (s *selector) signWord(v vreg.Value) (ir.Operand, bool) {
	t, ok := s.hir.Sign[v]
	if !ok {
		return ir.Operand{}, false
	}
	o := ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(t), Var: -1, Param: -1}
	s.hir.Resolve(nil, &o)
	return o, true
}

// flexibleWord returns word w of an operand for the flexible slot.
func (s *selector) flexibleWord(o ir.Operand, w uint8) mir.Arg {
	switch o.Kind {
	case ir.OperandImm:
		x := int64(int32(o.Imm >> (32 * w)))
		if x == 0 {
			return mir.Arg{Kind: mir.ArgZero}
		}
		return mir.Arg{Kind: mir.ArgImm, Imm: x}
	case ir.OperandVar:
		if w == 0 && s.hir.Kernel.Vars[o.Var].Space == ir.Shared && s.hir.Target.SharedWindow {
			v := s.sharedBase(o)
			s.demand[v] |= demandLow | demandEither
			return mir.ValueWords(v, 0, 1)
		}
	case ir.OperandReg:
		if a, ok := s.constant(o, w, 1); ok {
			return a
		}
		v := s.localCopy(vreg.Value(o.Reg))
		if s.hir.Values[v].File == vreg.Uniform {
			s.demand[v] |= demandLow << w
			return mir.ValueWords(v, w, 1)
		}
		if d := s.hir.DefOf(v); d != nil && d.Op == ir.Cvt && s.availableHere(d) && hir.IsInt(d.Type) && hir.Bits(d.SrcType) == 32 && hir.Bits(d.Type) == 64 && d.Src[0].Kind == ir.OperandReg && s.hir.Values[d.Src[0].Reg].Defs == 1 {
			if w == 0 {
				return s.flexibleWord(d.Src[0], 0)
			}
			if !hir.Signed(d.SrcType) {
				return mir.Arg{Kind: mir.ArgZero}
			}
			if o, ok := s.signWord(v); ok {
				return s.flexibleWord(o, 0)
			}
		}
		if s.uniformValue(v) {
			s.demand[v] |= (demandLow << w) | demandEither
			return mir.ValueWords(v, w, 1)
		}
	}
	return s.gprWord(o, w)
}

// slotRank is how much an operand needs the flexible slot: 0 not at all, 4 most.
func (s *selector) slotRank(o ir.Operand) int {
	switch o.Kind {
	case ir.OperandImm:
		if o.Imm == 0 {
			return 0
		}
		return 4
	case ir.OperandReg:
		v := vreg.Value(o.Reg)
		if s.hir.Values[v].File == vreg.Uniform {
			return 2
		}
		d := s.hir.DefOf(v)
		if d != nil && s.inPlace(d) {
			return 2
		}
		if s.uniformValue(v) {
			if d != nil && d.Op == ir.Ld && d.Space == ir.Const && s.uniformAddress(d) {
				return 3 // unlike a parameter, which may be in a general register
			}
			return 1
		}
	case ir.OperandVar:
		return 1
	}
	return 0
}

// operands returns word w of several operands. The one that needs it most gets the flexible slot.
func (s *selector) operands(w uint8, ops ...ir.Operand) []mir.Arg {
	best, at := 0, -1
	for i, o := range ops {
		if r := s.slotRank(o); r > best {
			best, at = r, i
		}
	}
	out := make([]mir.Arg, len(ops), 5)
	for i, o := range ops {
		if i == at {
			out[i] = s.flexibleWord(o, w)
		} else {
			out[i] = s.gprWord(o, w)
		}
	}
	return out
}

// pair returns a 64-bit operand as an aligned pair of general registers.
func (s *selector) pair(o ir.Operand) mir.Arg {
	switch o.Kind {
	case ir.OperandReg:
		v := s.localCopy(vreg.Value(o.Reg))
		if s.hir.Values[v].Words == 1 {
			return s.gprWord(o, 0)
		}
		if s.hir.Values[v].File == vreg.Uniform || s.residesUniform(v) {
			break
		}
		s.demand[v] |= demandLow | demandHigh | demandGeneral
		return mir.ValueWords(v, 0, 2)
	case ir.OperandImm:
		if o.Imm == 0 {
			return mir.Arg{Kind: mir.ArgZero}
		}
	}
	t := s.temp(2)
	lo, hi := t, t
	lo.N, hi.N, hi.Word = 1, 1, 1
	a, b := s.flexible(o, 0), s.flexible(o, 1)
	s.emit(mir.OpMOV, lo, a)
	s.emit(mir.OpMOV, hi, b)
	return t
}

// flexible is flexibleWord for a slot that takes no address of a variable.
func (s *selector) flexible(o ir.Operand, w uint8) mir.Arg {
	if o.Kind == ir.OperandVar {
		return s.gprWord(o, w)
	}
	return s.flexibleWord(o, w)
}

// pred returns a predicate operand.
func (s *selector) pred(o ir.Operand) mir.Arg {
	if o.Kind != ir.OperandReg {
		return mir.Arg{Kind: mir.ArgZero}
	}
	s.demand[o.Reg] |= demandLow
	return mir.ValueWords(vreg.Value(o.Reg), 0, 1)
}

// dest returns n words of the node's first result, from word w on.
func (s *selector) dest(w, n uint8) mir.Arg {
	return mir.ValueWords(s.n.Dst[0], w, n)
}

// Constant memory as an operand.
//
// Before Hopper an instruction reads one word or one pair of constant memory in place,
// c[bank][offset]: kernel parameters, constants at a fixed address, the launch's dimensions, and
// 64-bit immediates (CUDA Binary Utilities, instruction sets of Kepler to Ada). Instructions that
// read registers only need a move first. The uniform datapath reads no constant in place.
//
// Evidence, ptxas corpus: all 42,525 multiply-adds that read a constant in 20 convolutions for
// sm_75, and 1,298 of 3,730 in 19 kernels of doubles for sm_86.

// constant returns n words of an operand from word w on as constant memory, if an instruction can
// read it in place.
func (s *selector) constant(o ir.Operand, w, n uint8) (mir.Arg, bool) {
	if !s.hir.Target.ConstOperand || o.Kind != ir.OperandReg {
		return mir.Arg{}, false
	}
	v := vreg.Value(o.Reg)
	if v >= vreg.Value(len(s.demand)) || w+n > s.hir.Values[v].Words {
		return mir.Arg{}, false
	}
	d := s.hir.DefOf(v)
	if d == nil || !s.inPlace(d) {
		return mir.Arg{}, false
	}
	if d.Op == ir.Ld && d.Space == ir.Const {
		s.out.ReadInPlace = append(s.out.ReadInPlace, d.PC)
	}
	return mir.Arg{Kind: mir.ArgConst, Word: w, N: n}, true
}

// inPlace reports whether the value of a node lies in constant memory at a fixed address, in whole
// words.
func (s *selector) inPlace(d *hir.Node) bool {
	switch {
	case !s.hir.Target.ConstOperand || d.Guard != vreg.None:
	case d.Op == ir.Mov:
		return len(d.Dst) == 1 && len(d.Src) == 1 && d.Src[0].Kind == ir.OperandSpecial && isLaunchConstant(d.Src[0].Special)
	case d.Op == ir.Ld:
		return (d.Space == ir.ParamSpace || d.Space == ir.Const) && d.Src[0].Reg == ir.NoReg && hir.Bits(d.Type) >= 32
	}
	return false
}

// isLaunchConstant reports whether a special register is a word of constant memory: a dimension of
// the launch.
func isLaunchConstant(sp ir.Special) bool {
	switch sp {
	case ir.NTidX, ir.NTidY, ir.NTidZ, ir.NCTAIdX, ir.NCTAIdY, ir.NCTAIdZ:
		return true
	}
	return false
}

// moveConstants lowers a node whose value lies in constant memory to moves, for readers that take
// registers only. It returns false for other nodes.
func (s *selector) moveConstants(n *hir.Node) bool {
	if !s.inPlace(n) {
		return false
	}
	if n.Op == ir.Ld && n.Space == ir.Const {
		s.out.ReadInPlace = append(s.out.ReadInPlace, n.PC)
	}
	for _, d := range n.Dst {
		for w := uint8(0); d >= 0 && w < s.hir.Values[d].Words; w++ {
			if s.demand[d]&(demandLow<<w) != 0 {
				s.emit(mir.OpMOV, mir.ValueWords(d, w, 1), mir.Arg{Kind: mir.ArgConst, Word: w, N: 1})
			}
		}
	}
	return true
}

// pairOrConstant returns a 64-bit operand for a slot that also takes constant memory, and reports
// whether it lies there.
func (s *selector) pairOrConstant(o ir.Operand) (a mir.Arg, constant bool) {
	if a, ok := s.constant(o, 0, 2); ok {
		return a, true
	}
	if s.hir.Target.ConstOperand && o.Kind == ir.OperandImm && o.Imm != 0 {
		return mir.Arg{Kind: mir.ArgConst, N: 2}, true
	}
	return s.pair(o), false
}

// wideAddOperands returns the operands of IMAD.WIDE a*b + add. Where add is read in place,
// immediate factors are in registers, common to the block.
func (s *selector) wideAddOperands(a, b, add ir.Operand) (x, y, sum mir.Arg) {
	if c, ok := s.constant(add, 0, 2); ok {
		return s.gprImmediate(a), s.gprImmediate(b), c
	}
	if add.Kind == ir.OperandReg && s.steppedInPlace[s.localCopy(vreg.Value(add.Reg))] {
		return s.gprWord(a, 0), s.gprWord(b, 0), s.uniPair(add)
	}
	m := s.operands(0, a, b)
	return m[0], m[1], s.pair(add)
}

// gprImmediate returns an operand in a general register.
func (s *selector) gprImmediate(o ir.Operand) mir.Arg {
	if o.Kind != ir.OperandImm || o.Imm == 0 {
		return s.gprWord(o, 0)
	}
	key := localKey{block: s.definingBlock(), reg: vreg.None, vr: -1, imm: int32(o.Imm)}
	v, ok := s.local[key]
	if !ok {
		v = s.newValue(1, vreg.General)
		s.hir.Values[v].Uniform, s.hir.Values[v].Remat = true, true
		s.local[key] = v
		s.pending[key.block] = append(s.pending[key.block], localDef{v: v, vr: -1, imm: key.imm})
	}
	s.demand[v] |= demandLow | demandGeneral
	return mir.ValueWords(v, 0, 1)
}
