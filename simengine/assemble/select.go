package assemble

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// subst says that a value lives inside another one: word w of v on.
type subst struct {
	v value
	w uint8
}

// want says which parts of a value, and in which file, code below needs it.
type want uint8

const (
	wantLo  want = 1 << iota // first word
	wantHi                   // second word
	wantGPR                  // some reader takes general registers only
	wantAny                  // some reader takes a uniform register as well
	wantUni                  // a uniform instruction reads it (its twin)
)

// selector lowers nodes to machine instructions. It walks the program
// backwards, so that what a node's readers could fold into themselves is never
// computed on its own, and what nobody reads is dropped.
type selector struct {
	f         *hfn
	m         *mfn // what is made
	scratch   *selectScratch
	sub       map[value]subst
	want      []want
	twin      []value // the uniform-file copy of a value, noValue none
	buf       []inst  // instructions of the node being lowered, in order
	n         *node
	keep      map[int32]bool // nodes whose guarded writes keep the old value
	b         int            // block being lowered
	ambient   map[ambientKey]value
	pending   [][]ambientDef    // by block: what to define there
	hard      []bool            // parameters compared with constants
	asked     []bool            // what general is finding out
	settled   bool              // which variables are uniform is decided
	picked    bool              // the operands that plains returned last are halves of words
	uses      []int32           // readers of each value
	dissolved []bool            // products that all their readers compute, see dissolve
	inner     []bool            // blocks of innermost loops
	writers   map[value][]int32 // of each value that has several, nil until asked for
	spared    map[ambientKey]bool
	sparedAt  map[int]int     // by block, the registers of those hoisted to it
	tests     map[value]arg   // predicates that say whether values are zero, set with them
	summed    map[value]bool  // pointers in uniform registers that products are added to in place
	factors   map[value]int32 // operands A and B of products that a value is in
}

// selectInstructions lowers every block.
func (f *hfn) selectInstructions(x *selectScratch) (*mfn, error) {
	m := &mfn{k: f.k, t: f.t, check: f.check, order: f.order, numbers: map[value]bool{}}
	s := &selector{f: f, m: m, scratch: x, sub: map[value]subst{}, want: make([]want, len(f.vals)), twin: make([]value, len(f.vals)), keep: map[int32]bool{},
		ambient: map[ambientKey]value{}, pending: make([][]ambientDef, len(f.blocks)), uses: f.countUses(), inner: f.innermostLoops(), spared: map[ambientKey]bool{}, sparedAt: map[int]int{}, summed: map[value]bool{}, tests: map[value]arg{}}
	for i := range s.twin {
		s.twin[i] = noValue
	}
	s.dissolve()
	m.blocks = make([]mblock, len(f.blocks))
	for b := range f.blocks {
		hb := &f.blocks[b]
		m.blocks[b] = mblock{merged: hb.merged, holds: hb.holds, succs: hb.succs, preds: hb.preds, depth: hb.depth}
	}
	s.wantVariables()
	s.bindFragments()
	for i := len(f.order) - 1; i >= 0; i-- {
		if err := s.block(f.order[i]); err != nil {
			return nil, err
		}
	}
	s.prologue()
	s.applySubst()
	s.narrow()
	m.vals = f.vals
	if m.check {
		m.undefined = s.undefined()
	}
	return m, nil
}

// undefined returns the values that the PTX itself may read unwritten, as compilers leave
// those that nobody looks at, with what selection made of them: vectors that they are part of.
func (s *selector) undefined() map[value]bool {
	all := map[value]bool{}
	if len(s.f.order) == 0 {
		return all
	}
	entry := s.f.k.Liveness().In[s.f.order[0]]
	for r := range s.f.k.Regs {
		v := value(r)
		if !entry.Has(ir.Reg(r)) && s.f.vals[v].defs == 1 {
			continue
		}
		all[v] = true
		if b, bound := s.sub[v]; bound {
			all[b.v] = true
		}
	}
	return all
}

// selectScratch is reused by selections one after another.
type selectScratch struct{ rev []inst }

// block lowers one block from its end.
func (s *selector) block(b int) error {
	f := s.f
	hb := &f.blocks[b]
	rev := s.scratch.rev[:0]
	s.b = b
	if f.exitBlock(b) {
		return nil // every predecessor exits itself
	}
	s.n, s.buf = &node{guard: noValue}, s.buf[:0]
	s.closeBlock()
	for _, in := range s.buf {
		in.pc = -1
		rev = append(rev, in)
	}
	for i := len(hb.nodes) - 1; i >= 0; i-- {
		ni := hb.nodes[i]
		n := &f.nodes[ni]
		if !s.wanted(n) {
			continue
		}
		s.n, s.buf = n, s.buf[:0]
		if n.guard != noValue {
			s.want[n.guard] |= wantLo
		}
		if err := s.lowerNode(n); err != nil {
			return err
		}
		for j := range s.buf {
			in := &s.buf[j]
			if in.guard == noValue && in.op.class() != Uniform {
				in.guard, in.gnot = n.guard, n.gnot
			}
			in.keeps = in.keeps || s.keep[ni] && in.guard != noValue && s.writesVariable(in)
			in.pc = n.pc
			in.carried = -1
			if int(n.block) != b {
				in.carried = n.block
			}
		}
		for j := len(s.buf) - 1; j >= 0; j-- {
			rev = append(rev, s.buf[j])
		}
	}
	slices.Reverse(rev)
	s.scratch.rev = rev
	s.m.blocks[b].insts = s.define(b, rev)
	return nil
}

// writesVariable says whether an instruction writes what has other writers, too,
// and not what only its own node reads.
func (s *selector) writesVariable(in *inst) bool {
	for i := range in.dst {
		a := &in.dst[i]
		if a.kind != argValue {
			continue
		}
		if s.f.vals[a.v].defs > 1 || slices.ContainsFunc(s.n.dst, func(d value) bool {
			b, bound := s.sub[d]
			return d == a.v || bound && b.v == a.v && s.f.vals[d].defs > 1
		}) {
			return true
		}
	}
	return false
}

// emit appends an instruction of the current node.
func (s *selector) emit(op mop, dst arg, src ...arg) *inst {
	in := inst{op: op, guard: noValue, spill: -1, memVar: -1, memVal: noValue, carried: -1, nsrc: uint8(len(src))}
	in.dst[0] = dst
	copy(in.src[:], src)
	s.buf = append(s.buf, in)
	return &s.buf[len(s.buf)-1]
}

// temp returns a new general register of w words.
func (s *selector) temp(w uint8) arg {
	return valueArg(s.newValue(w, fileGeneral), 0, w)
}

func (s *selector) newValue(w uint8, fl file) value {
	v := s.f.newValue(w, fl)
	s.want = append(s.want, 0)
	s.twin = append(s.twin, noValue)
	return v
}

// twinOf returns the uniform-file copy of a value.
func (s *selector) twinOf(v value) value {
	if s.f.vals[v].file == fileUniform {
		return v
	}
	if s.twin[v] == noValue {
		t := s.newValue(s.f.vals[v].words, fileUniform)
		s.twin[v] = t
	}
	return s.twin[v]
}

// word returns word w of an operand for a slot that takes general registers
// only. Constants other than zero are moved to a register first.
func (s *selector) word(o ir.Operand, w uint8) arg {
	switch o.Kind {
	case ir.OperandReg:
		v := s.local(value(o.Reg))
		if a, ok := s.throughCvt(v, w); ok {
			return a
		}
		if s.residesUniform(v) {
			s.want[v] |= (wantLo << w) | wantUni
			t := s.temp(1)
			s.emit(opMOV, t, valueArg(s.twinOf(v), w, 1))
			return t
		}
		s.want[v] |= (wantLo << w) | wantGPR
		if s.f.vals[v].file == fileUniform {
			t := s.temp(1)
			s.emit(opMOV, t, valueArg(v, w, 1))
			return t
		}
		return valueArg(v, w, 1)
	case ir.OperandImm:
		x := int64(int32(o.Imm >> (32 * w)))
		if x == 0 {
			return arg{kind: argZero}
		}
		t := s.temp(1)
		s.emit(opMOV, t, arg{kind: argImm, imm: x})
		return t
	case ir.OperandVar:
		if w == 1 {
			return arg{kind: argZero}
		}
		return s.varWord(o)
	}
	return arg{kind: argZero}
}

// throughCvt looks through a widening of an unsigned value: its low word is
// the source, its high word is zero; and through narrowing.
func (s *selector) throughCvt(v value, w uint8) (arg, bool) {
	d := s.f.defOf(v)
	if d != nil && w == 0 && d.op == ir.And && s.holds(d) && len(d.src) == 2 && s.redundantMask(d) && s.f.vals[d.src[0].Reg].defs == 1 {
		return s.word(d.src[0], 0), true
	}
	if d != nil && s.f.vals[v].words == 2 && s.holds(d) {
		switch from := movedFrom(d, w); {
		case from == wordZero:
			return arg{kind: argZero}, true
		case from >= 0 && s.f.vals[d.src[0].Reg].defs == 1 && s.f.vals[d.src[0].Reg].file == fileGeneral && s.f.vals[d.src[0].Reg].words == 2:
			return s.word(d.src[0], uint8(from)), true
		}
	}
	if d == nil || d.op != ir.Cvt || !s.holds(d) || len(d.src) != 1 || d.src[0].Kind != ir.OperandReg || !isInt(d.typ) || !isInt(d.styp) {
		return arg{}, false
	}
	src := value(d.src[0].Reg)
	if s.f.vals[src].defs != 1 || s.f.vals[src].file == fileUniform || w == 1 && bits(d.typ) < 64 {
		return arg{}, false
	}
	from, to := bits(d.styp), bits(d.typ)
	switch {
	case from == 32 && to == 64 && w == 0:
		return s.word(d.src[0], 0), true
	case from == 32 && to == 64 && !signed(d.styp):
		return arg{kind: argZero}, true
	case from == 32 && to == 64 && w == 1:
		if o, ok := s.signWord(v); ok {
			return s.word(o, 0), true
		}
	case from == 64 && to <= 32, from == 32 && to == 32, from == 32 && to == 16:
		return s.word(d.src[0], 0), true
	case from == 16 && to == 32 && !signed(d.styp) && s.f.knownBits(src) <= 16:
		return s.word(d.src[0], 0), true
	}
	return arg{}, false
}

// What a word of a node's result is, if not the word so numbered of its first source.
const wordZero, wordComputed = -1, -2

// movedFrom is the word of its first source that word w of what a node computes is: of masks with all of
// a word's bits or none of them, and of shifts by a word.
func movedFrom(d *node, w uint8) int {
	if len(d.src) != 2 || d.src[0].Kind != ir.OperandReg || d.src[1].Kind != ir.OperandImm || bits(d.typ) != 64 {
		return wordComputed
	}
	by := d.src[1].Imm
	switch mask := uint32(by >> (32 * w)); {
	case d.op == ir.And && mask == 0, d.op == ir.Shr && w == 1 && !signed(d.typ) && by >= 32, d.op == ir.Shl && w == 0 && by >= 32:
		return wordZero
	case d.op == ir.And && mask == math.MaxUint32, (d.op == ir.Or || d.op == ir.Xor) && mask == 0:
		return int(w)
	case d.op == ir.Shr && w == 0 && by == 32, d.op == ir.Shl && w == 1 && by == 32:
		return int(1 - w)
	}
	return wordComputed
}

// holds says whether what a node computes is there wherever the current one
// executes.
func (s *selector) holds(d *node) bool {
	return d.guard == noValue || d.guard == s.n.guard && d.gnot == s.n.gnot
}

// signWord is the operand that holds the upper word of a sign extension.
func (s *selector) signWord(v value) (ir.Operand, bool) {
	t, ok := s.f.sign[v]
	if !ok {
		return ir.Operand{}, false
	}
	o := ir.Operand{Kind: ir.OperandReg, Reg: ir.Reg(t), Var: -1, Param: -1}
	s.f.resolve(nil, &o)
	return o, true
}

// anyWord returns word w of an operand for the one slot of an instruction that
// also takes an immediate, a constant or a uniform register.
func (s *selector) anyWord(o ir.Operand, w uint8) arg {
	switch o.Kind {
	case ir.OperandImm:
		x := int64(int32(o.Imm >> (32 * w)))
		if x == 0 {
			return arg{kind: argZero}
		}
		return arg{kind: argImm, imm: x}
	case ir.OperandVar:
		if w == 0 && s.f.k.Vars[o.Var].Space == ir.Shared && s.f.t.sharedWindow {
			v := s.sharedBase(o)
			s.want[v] |= wantLo | wantAny
			return valueArg(v, 0, 1)
		}
	case ir.OperandReg:
		if a, ok := s.constant(o, w, 1); ok {
			return a
		}
		v := s.local(value(o.Reg))
		if s.f.vals[v].file == fileUniform {
			s.want[v] |= wantLo << w
			return valueArg(v, w, 1)
		}
		if d := s.f.defOf(v); d != nil && d.op == ir.Cvt && s.holds(d) && isInt(d.typ) && bits(d.styp) == 32 && bits(d.typ) == 64 && d.src[0].Kind == ir.OperandReg && s.f.vals[d.src[0].Reg].defs == 1 {
			if w == 0 {
				return s.anyWord(d.src[0], 0)
			}
			if !signed(d.styp) {
				return arg{kind: argZero}
			}
			if o, ok := s.signWord(v); ok {
				return s.anyWord(o, 0)
			}
		}
		if s.uniformValue(v) {
			s.want[v] |= (wantLo << w) | wantAny
			return valueArg(v, w, 1)
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
		v := value(o.Reg)
		if s.f.vals[v].file == fileUniform {
			return 2
		}
		d := s.f.defOf(v)
		if d != nil && s.inPlace(d) {
			return 2
		}
		if s.uniformValue(v) {
			if d != nil && d.op == ir.Ld && d.space == ir.Const && s.uniformAddress(d) {
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
func (s *selector) mix(w uint8, ops ...ir.Operand) []arg {
	best, at := 0, -1
	for i, o := range ops {
		if r := s.nonGPR(o); r > best {
			best, at = r, i
		}
	}
	out := make([]arg, len(ops), 5)
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
func (s *selector) pair(o ir.Operand) arg {
	switch o.Kind {
	case ir.OperandReg:
		v := s.local(value(o.Reg))
		if s.f.vals[v].words == 1 {
			return s.word(o, 0)
		}
		if s.f.vals[v].file == fileUniform || s.residesUniform(v) {
			break
		}
		s.want[v] |= wantLo | wantHi | wantGPR
		return valueArg(v, 0, 2)
	case ir.OperandImm:
		if o.Imm == 0 {
			return arg{kind: argZero}
		}
	}
	t := s.temp(2)
	lo, hi := t, t
	lo.n, hi.n, hi.w = 1, 1, 1
	a, b := s.mixOne(o, 0), s.mixOne(o, 1)
	s.emit(opMOV, lo, a)
	s.emit(opMOV, hi, b)
	return t
}

func (s *selector) mixOne(o ir.Operand, w uint8) arg {
	if o.Kind == ir.OperandVar {
		return s.word(o, w)
	}
	return s.anyWord(o, w)
}

// pred returns a predicate operand.
func (s *selector) pred(o ir.Operand) arg {
	if o.Kind != ir.OperandReg {
		return arg{kind: argZero}
	}
	s.want[o.Reg] |= wantLo
	return valueArg(value(o.Reg), 0, 1)
}

// dest returns word w of the node's first result.
func (s *selector) dest(w, n uint8) arg {
	return valueArg(s.n.dst[0], w, n)
}
