package isel

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// subst says that a value lives inside another one: word w of v on.
type subst struct {
	v vreg.Value
	w uint8
}

// demand says which parts of a value, and in which file, code below needs it.
type demand uint8

const (
	demandLow     demand = 1 << iota // first word
	demandHigh                       // second word
	demandGeneral                    // some reader takes general registers only
	demandEither                     // some reader takes a uniform register as well
	demandUniform                    // a uniform instruction reads it (its twin)
)

// selector lowers nodes to machine instructions. It walks the program
// backwards, so that what a node's readers could fold into themselves is never
// computed on its own, and what nobody reads is dropped.
type selector struct {
	hir               *hir.Func
	out               *mir.Func // what is made
	scratch           *Scratch
	sub               map[vreg.Value]subst
	demand            []demand
	twin              []vreg.Value // the uniform-file copy of a value, noValue none
	buf               []mir.Inst   // instructions of the node being lowered, in order
	n                 *hir.Node
	keep              map[int32]bool // nodes whose guarded writes keep the old value
	b                 int            // block being lowered
	local             map[localKey]vreg.Value
	pending           [][]localDef           // by block: what to define there
	comparedWithConst []bool                 // parameters compared with constants
	visiting          []bool                 // what general is finding out
	filesDecided      bool                   // which variables are uniform is decided
	halfPicked        bool                   // the operands that plains returned last are halves of words
	uses              []int32                // readers of each value
	absorbed          []bool                 // products that all their readers compute, see dissolve
	innermost         []bool                 // blocks of innermost loops
	writers           map[vreg.Value][]int32 // of each value that has several, nil until asked for
	hoisted           map[localKey]bool
	hoistedAt         map[int]int            // by block, the registers of those hoisted to it
	zeroTests         map[vreg.Value]mir.Arg // predicates that say whether values are zero, set with them
	steppedInPlace    map[vreg.Value]bool    // pointers in uniform registers that products are added to in place
	mmaInputs         map[vreg.Value]int32   // operands A and B of products that a value is in
}

// Select lowers every block.
func Select(f *hir.Func, x *Scratch) (*mir.Func, error) {
	m := &mir.Func{Kernel: f.Kernel, Target: f.Target, Check: f.Check, Order: f.Order, UniformNumbers: map[vreg.Value]bool{}}
	s := &selector{hir: f, out: m, scratch: x, sub: map[vreg.Value]subst{}, demand: make([]demand, len(f.Values)), twin: make([]vreg.Value, len(f.Values)), keep: map[int32]bool{},
		local: map[localKey]vreg.Value{}, pending: make([][]localDef, len(f.Blocks)), uses: f.CountUses(), innermost: f.InnermostLoops(), hoisted: map[localKey]bool{}, hoistedAt: map[int]int{}, steppedInPlace: map[vreg.Value]bool{}, zeroTests: map[vreg.Value]mir.Arg{}}
	for i := range s.twin {
		s.twin[i] = vreg.None
	}
	s.findAbsorbed()
	m.Blocks = make([]mir.Block, len(f.Blocks))
	for b := range f.Blocks {
		hb := &f.Blocks[b]
		m.Blocks[b] = mir.Block{Merged: hb.Merged, Holds: hb.Holds, Succs: hb.Succs, Preds: hb.Preds, LoopDepth: hb.LoopDepth}
	}
	s.demandVariables()
	s.bindFragments()
	for i := len(f.Order) - 1; i >= 0; i-- {
		if err := s.block(f.Order[i]); err != nil {
			return nil, err
		}
	}
	s.prologue()
	s.applySubst()
	s.narrow()
	m.Values = f.Values
	if m.Check {
		m.MayBeUnwritten = s.undefined()
	}
	return m, nil
}

// undefined returns the values that the PTX itself may read unwritten, as compilers leave
// those that nobody looks at, with what selection made of them: vectors that they are part of.
func (s *selector) undefined() map[vreg.Value]bool {
	all := map[vreg.Value]bool{}
	if len(s.hir.Order) == 0 {
		return all
	}
	entry := s.hir.Kernel.Liveness().In[s.hir.Order[0]]
	for r := range s.hir.Kernel.Regs {
		v := vreg.Value(r)
		if !entry.Has(ir.Reg(r)) && s.hir.Values[v].Defs == 1 {
			continue
		}
		all[v] = true
		if b, bound := s.sub[v]; bound {
			all[b.v] = true
		}
	}
	return all
}

// Scratch is reused by selections one after another.
type Scratch struct{ rev []mir.Inst }

// block lowers one block from its end.
func (s *selector) block(b int) error {
	f := s.hir
	hb := &f.Blocks[b]
	rev := s.scratch.rev[:0]
	s.b = b
	if f.IsExit(b) {
		return nil // every predecessor exits itself
	}
	s.n, s.buf = &hir.Node{Guard: vreg.None}, s.buf[:0]
	s.closeBlock()
	for _, in := range s.buf {
		in.PC = -1
		rev = append(rev, in)
	}
	for i := len(hb.Nodes) - 1; i >= 0; i-- {
		ni := hb.Nodes[i]
		n := &f.Nodes[ni]
		if !s.wanted(n) {
			continue
		}
		s.n, s.buf = n, s.buf[:0]
		if n.Guard != vreg.None {
			s.demand[n.Guard] |= demandLow
		}
		if err := s.lowerNode(n); err != nil {
			return err
		}
		for j := range s.buf {
			in := &s.buf[j]
			if in.Guard == vreg.None && in.Op.Class() != mir.Uniform {
				in.Guard, in.GuardNot = n.Guard, n.GuardNot
			}
			in.KeepsOld = in.KeepsOld || s.keep[ni] && in.Guard != vreg.None && s.writesVariable(in)
			in.PC = n.PC
			in.Carried = -1
			if int(n.Block) != b {
				in.Carried = n.Block
			}
		}
		for j := len(s.buf) - 1; j >= 0; j-- {
			rev = append(rev, s.buf[j])
		}
	}
	slices.Reverse(rev)
	s.scratch.rev = rev
	s.out.Blocks[b].Insts = s.define(b, rev)
	return nil
}

// writesVariable says whether an instruction writes what has other writers, too,
// and not what only its own node reads.
func (s *selector) writesVariable(in *mir.Inst) bool {
	for i := range in.Dst {
		a := &in.Dst[i]
		if a.Kind != mir.ArgValue {
			continue
		}
		if s.hir.Values[a.Value].Defs > 1 || slices.ContainsFunc(s.n.Dst, func(d vreg.Value) bool {
			b, bound := s.sub[d]
			return d == a.Value || bound && b.v == a.Value && s.hir.Values[d].Defs > 1
		}) {
			return true
		}
	}
	return false
}

// emit appends an instruction of the current node.
func (s *selector) emit(op mir.Op, dst mir.Arg, src ...mir.Arg) *mir.Inst {
	in := mir.Inst{Op: op, Guard: vreg.None, SpillSlot: -1, MemVar: -1, MemBase: vreg.None, Carried: -1, NSrc: uint8(len(src))}
	in.Dst[0] = dst
	copy(in.Src[:], src)
	s.buf = append(s.buf, in)
	return &s.buf[len(s.buf)-1]
}

// temp returns a new general register of w words.
func (s *selector) temp(w uint8) mir.Arg {
	return mir.ValueWords(s.newValue(w, vreg.General), 0, w)
}

func (s *selector) newValue(w uint8, fl vreg.File) vreg.Value {
	v := s.hir.NewValue(w, fl)
	s.demand = append(s.demand, 0)
	s.twin = append(s.twin, vreg.None)
	return v
}

// twinOf returns the uniform-file copy of a value.
func (s *selector) twinOf(v vreg.Value) vreg.Value {
	if s.hir.Values[v].File == vreg.Uniform {
		return v
	}
	if s.twin[v] == vreg.None {
		t := s.newValue(s.hir.Values[v].Words, vreg.Uniform)
		s.twin[v] = t
	}
	return s.twin[v]
}

// word returns word w of an operand for a slot that takes general registers
// only. Constants other than zero are moved to a register first.
func (s *selector) word(o ir.Operand, w uint8) mir.Arg {
	switch o.Kind {
	case ir.OperandReg:
		v := s.localCopy(vreg.Value(o.Reg))
		if a, ok := s.throughCvt(v, w); ok {
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

// throughCvt looks through a widening of an unsigned value: its low word is
// the source, its high word is zero; and through narrowing.
func (s *selector) throughCvt(v vreg.Value, w uint8) (mir.Arg, bool) {
	d := s.hir.DefOf(v)
	if d != nil && w == 0 && d.Op == ir.And && s.holds(d) && len(d.Src) == 2 && s.redundantMask(d) && s.hir.Values[d.Src[0].Reg].Defs == 1 {
		return s.word(d.Src[0], 0), true
	}
	if d != nil && s.hir.Values[v].Words == 2 && s.holds(d) {
		switch from := movedFrom(d, w); {
		case from == wordZero:
			return mir.Arg{Kind: mir.ArgZero}, true
		case from >= 0 && s.hir.Values[d.Src[0].Reg].Defs == 1 && s.hir.Values[d.Src[0].Reg].File == vreg.General && s.hir.Values[d.Src[0].Reg].Words == 2:
			return s.word(d.Src[0], uint8(from)), true
		}
	}
	if d == nil || d.Op != ir.Cvt || !s.holds(d) || len(d.Src) != 1 || d.Src[0].Kind != ir.OperandReg || !hir.IsInt(d.Type) || !hir.IsInt(d.SrcType) {
		return mir.Arg{}, false
	}
	src := vreg.Value(d.Src[0].Reg)
	if s.hir.Values[src].Defs != 1 || s.hir.Values[src].File == vreg.Uniform || w == 1 && hir.Bits(d.Type) < 64 {
		return mir.Arg{}, false
	}
	from, to := hir.Bits(d.SrcType), hir.Bits(d.Type)
	switch {
	case from == 32 && to == 64 && w == 0:
		return s.word(d.Src[0], 0), true
	case from == 32 && to == 64 && !hir.Signed(d.SrcType):
		return mir.Arg{Kind: mir.ArgZero}, true
	case from == 32 && to == 64 && w == 1:
		if o, ok := s.signWord(v); ok {
			return s.word(o, 0), true
		}
	case from == 64 && to <= 32, from == 32 && to == 32, from == 32 && to == 16:
		return s.word(d.Src[0], 0), true
	case from == 16 && to == 32 && !hir.Signed(d.SrcType) && s.hir.KnownBits(src) <= 16:
		return s.word(d.Src[0], 0), true
	}
	return mir.Arg{}, false
}

// What a word of a node's result is, if not the word so numbered of its first source.
const wordZero, wordComputed = -1, -2

// movedFrom is the word of its first source that word w of what a node computes is: of masks with all of
// a word's bits or none of them, and of shifts by a word.
func movedFrom(d *hir.Node, w uint8) int {
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

// holds says whether what a node computes is there wherever the current one
// executes.
func (s *selector) holds(d *hir.Node) bool {
	return d.Guard == vreg.None || d.Guard == s.n.Guard && d.GuardNot == s.n.GuardNot
}

// signWord is the operand that holds the upper word of a sign extension.
func (s *selector) signWord(v vreg.Value) (ir.Operand, bool) {
	t, ok := s.hir.Sign[v]
	if !ok {
		return ir.Operand{}, false
	}
	o := ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(t), Var: -1, Param: -1}
	s.hir.Resolve(nil, &o)
	return o, true
}

// anyWord returns word w of an operand for the one slot of an instruction that
// also takes an immediate, a constant or a uniform register.
func (s *selector) anyWord(o ir.Operand, w uint8) mir.Arg {
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
		if d := s.hir.DefOf(v); d != nil && d.Op == ir.Cvt && s.holds(d) && hir.IsInt(d.Type) && hir.Bits(d.SrcType) == 32 && hir.Bits(d.Type) == 64 && d.Src[0].Kind == ir.OperandReg && s.hir.Values[d.Src[0].Reg].Defs == 1 {
			if w == 0 {
				return s.anyWord(d.Src[0], 0)
			}
			if !hir.Signed(d.SrcType) {
				return mir.Arg{Kind: mir.ArgZero}
			}
			if o, ok := s.signWord(v); ok {
				return s.anyWord(o, 0)
			}
		}
		if s.uniformValue(v) {
			s.demand[v] |= (demandLow << w) | demandEither
			return mir.ValueWords(v, w, 1)
		}
	}
	return s.word(o, w)
}

// nonGPR says whether an operand would need the non-register slot.
func (s *selector) nonGPR(o ir.Operand) int {
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
				return 3 // a parameter can wait in a general register, this cannot
			}
			return 1
		}
	case ir.OperandVar:
		return 1
	}
	return 0
}

// mix returns word w of operands for an instruction with one non-register
// slot: it goes to an immediate first, then to a uniform value.
func (s *selector) mix(w uint8, ops ...ir.Operand) []mir.Arg {
	best, at := 0, -1
	for i, o := range ops {
		if r := s.nonGPR(o); r > best {
			best, at = r, i
		}
	}
	out := make([]mir.Arg, len(ops), 5)
	for i, o := range ops {
		if i == at {
			out[i] = s.anyWord(o, w)
		} else {
			out[i] = s.word(o, w)
		}
	}
	return out
}

// pair returns an operand as an aligned pair of general registers.
func (s *selector) pair(o ir.Operand) mir.Arg {
	switch o.Kind {
	case ir.OperandReg:
		v := s.localCopy(vreg.Value(o.Reg))
		if s.hir.Values[v].Words == 1 {
			return s.word(o, 0)
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
	a, b := s.mixOne(o, 0), s.mixOne(o, 1)
	s.emit(mir.OpMOV, lo, a)
	s.emit(mir.OpMOV, hi, b)
	return t
}

func (s *selector) mixOne(o ir.Operand, w uint8) mir.Arg {
	if o.Kind == ir.OperandVar {
		return s.word(o, w)
	}
	return s.anyWord(o, w)
}

// pred returns a predicate operand.
func (s *selector) pred(o ir.Operand) mir.Arg {
	if o.Kind != ir.OperandReg {
		return mir.Arg{Kind: mir.ArgZero}
	}
	s.demand[o.Reg] |= demandLow
	return mir.ValueWords(vreg.Value(o.Reg), 0, 1)
}

// dest returns word w of the node's first result.
func (s *selector) dest(w, n uint8) mir.Arg {
	return mir.ValueWords(s.n.Dst[0], w, n)
}
