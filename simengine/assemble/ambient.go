package assemble

import "github.com/warptune/warptune/simengine/ir"

// Parameters and the shared window's base are ambient: they can be had anywhere
// with an instruction or three and no operands, so every block that needs one
// defines its own copy (outside the innermost loop), as the real assembler
// rematerialises them.

// ambientKey names an ambient value and the block that defines it.
type ambientKey struct {
	block int
	reg   value // the ld.param's result, noValue for others
	vr    int32 // -1 for others than a variable
	imm   int32
}

// ambientDef is an ambient value to define in a block.
type ambientDef struct {
	v    value
	node *node // the ld.param, nil for others
	vr   int32 // the variable, -1 for others
	imm  int32 // the constant, of neither
}

// home returns the block where an ambient value used in the current block is
// defined: the block itself, or the one before it if it lies in a loop without
// loops in it.
func (s *selector) home() int {
	if !s.inner[s.b] {
		return s.b
	}
	return s.outside()
}

// outside returns the block before the innermost loop around the current one.
func (s *selector) outside() int {
	f := s.f
	head := f.k.Blocks[s.b].LoopHead
	if head < 0 {
		return s.b
	}
	for f.blocks[head].merged >= 0 {
		head = f.blocks[head].merged
	}
	p := head
	for f.blocks[p].idom != p && f.blocks[p].idom >= 0 {
		p = f.blocks[p].idom
		if f.blocks[p].depth < f.blocks[head].depth {
			return p
		}
	}
	return s.b
}

// local returns the copy of a parameter that the current block uses, and any
// other value unchanged.
func (s *selector) local(v value) value {
	d := s.f.defOf(v)
	if d == nil || d.op != ir.Ld || d.space != ir.ParamSpace || d.guard != noValue || d.vec != 1 || len(d.dst) != 1 {
		return v
	}
	key := ambientKey{block: s.home(), reg: v, vr: -1}
	if a, ok := s.ambient[key]; ok {
		return a
	}
	a := s.newAmbient(key)
	s.pending[key.block] = append(s.pending[key.block], ambientDef{v: a, node: d, vr: -1})
	return a
}

// uniformValue says whether a value may be read from the uniform file: it is
// an ambient copy, or the only result of a uniform node.
func (s *selector) uniformValue(v value) bool {
	vi := &s.f.vals[v]
	switch d := s.f.defOf(v); {
	case d == nil:
	case d.op == ir.Mov && len(d.src) == 1 && d.src[0].Kind == ir.OperandSpecial:
		return false // read into a general register unless a uniform instruction wants it
	case d.typ.IsFloat() && !loads(d):
		return false // the uniform datapath does not compute it
	}
	return s.f.t.uniform && vi.uniform && vi.file == fileGeneral && (vi.defs == 1 || vi.remat)
}

// spare counts the registers that hoisting a parameter, which some instruction takes from general
// registers, out of a loop with loops in it would have taken: of several nests the one that would take
// most. What uniform registers hold takes none (sgemm's counts are exact for 435 of 531 programs so, 423 with it). Addresses of shared
// memory are not among them, which ptxas makes anew in each of a kernel's loops (lavamd and
// benchmark_hub's hotspot_milo, whose registers come out for 10 and 11 programs so, for 5 and 2 with them).
func (s *selector) spare(key ambientKey, words uint8) {
	out := s.outside()
	if out == key.block {
		return
	}
	key.block = out
	if !s.spared[key] {
		s.spared[key] = true
		s.sparedAt[out] += int(words)
		s.m.spared = max(s.m.spared, s.sparedAt[out])
	}
}

// sharedBase returns the ambient value of a shared variable's address.
func (s *selector) sharedBase(o ir.Operand) value {
	key := ambientKey{block: s.home(), reg: noValue, vr: o.Var}
	if a, ok := s.ambient[key]; ok {
		return a
	}
	a := s.newValue(1, fileGeneral)
	s.f.vals[a].uniform = true
	s.f.vals[a].remat = true
	s.ambient[key] = a
	s.pending[key.block] = append(s.pending[key.block], ambientDef{v: a, vr: o.Var})
	return a
}

// varWord returns the low word of a variable's address in a general register.
func (s *selector) varWord(o ir.Operand) arg {
	v := &s.f.k.Vars[o.Var]
	if v.Space == ir.Shared && s.f.t.sharedWindow {
		b := s.sharedBase(o)
		s.want[b] |= wantLo | wantGPR
		if o.Imm == 0 {
			return valueArg(b, 0, 1)
		}
		t := s.temp(1)
		s.emit(opIADD3, t, valueArg(b, 0, 1), arg{kind: argImm, imm: int64(o.Imm)})
		return t
	}
	off := int64(v.Offset) + int64(o.Imm)
	if off == 0 && v.Space == ir.Shared {
		return arg{kind: argZero}
	}
	t := s.temp(1)
	s.emit(opMOV, t, arg{kind: argImm, imm: off})
	return t
}

// define puts the ambient definitions of a block in front of its code, or
// before its branch when they serve a loop below; insts stays the caller's.
func (s *selector) define(b int, insts []inst) []inst {
	s.buf = s.buf[:0]
	for _, d := range s.pending[b] {
		if !s.borrow(d, b) {
			s.defineAmbient(d)
		}
	}
	for i := range s.buf {
		s.buf[i].pc, s.buf[i].carried = -1, -1
	}
	out := make([]inst, 0, len(insts)+len(s.buf)+4) // room for the prologue and convergence barriers
	out = append(out, s.buf...)
	return append(out, insts...)
}

// borrow takes a parameter that only the uniform datapath wants in block b from a block
// before that reads it, too, where only guarded exits are between them (sm_90 machine code
// of deploy/calibrate/validation/eighth rotate_image: the width is read once for the
// comparison that its rows exit on and for what comes after).
func (s *selector) borrow(d ambientDef, b int) bool {
	f := s.f
	if d.node == nil || !f.t.uniform || s.want[d.v]&wantGPR != 0 || f.vals[d.v].file != fileGeneral {
		return false
	}
	for p := s.before(b); p != b; b, p = p, s.before(p) {
		key := ambientKey{block: p, reg: d.node.dst[0], vr: -1}
		a, ok := s.ambient[key]
		if !ok && !s.reads(p, key.reg) {
			continue
		}
		if !ok {
			a = s.newAmbient(key)
			s.pending[p] = append(s.pending[p], ambientDef{v: a, node: d.node, vr: -1})
		}
		s.sub[d.v] = subst{v: s.twinOf(a)}
		if t := s.twin[d.v]; t != noValue {
			s.sub[t] = s.sub[d.v]
		}
		return true
	}
	return false
}

// before is the block that leads to b only past an exit, b if there is none.
func (s *selector) before(b int) int {
	f := s.f
	p := f.blocks[b].idom
	if p < 0 || !f.oneWay(b) || f.blocks[p].depth != f.blocks[b].depth || f.blocks[p].merged >= 0 {
		return b
	}
	for _, x := range f.blocks[p].succs {
		if x != b && !f.exitBlock(x) {
			return b
		}
	}
	return p
}

// reads says that a node of a block, or of what is merged into it, reads a value.
func (s *selector) reads(b int, v value) bool {
	for _, ni := range s.f.blocks[b].nodes {
		for i := range s.f.nodes[ni].src {
			if o := &s.f.nodes[ni].src[i]; o.Kind == ir.OperandReg && value(o.Reg) == v {
				return true
			}
		}
	}
	return false
}

// newAmbient makes the value of a parameter in a block.
func (s *selector) newAmbient(key ambientKey) value {
	a := s.newValue(s.f.vals[key.reg].words, fileGeneral)
	s.f.vals[a].uniform, s.f.vals[a].remat = true, true
	s.ambient[key] = a
	return a
}

// defineAmbient emits the definition of one ambient value in the files wanted.
func (s *selector) defineAmbient(d ambientDef) {
	f := s.f
	w := s.want[d.v]
	gpr := w&wantGPR != 0 || !f.t.uniform
	uni := s.twin[d.v] != noValue || !gpr
	n := f.vals[d.v].words
	if gpr && d.node != nil {
		s.spare(ambientKey{block: s.b, reg: d.node.dst[0], vr: -1}, n)
	}
	switch {
	case d.node != nil && gpr && s.moveAmbient(d, n):
		if uni {
			s.emit(opULDC, valueArg(s.twinOf(d.v), 0, n), arg{kind: argConst, imm: int64(d.node.src[0].Param)})
		}
	case d.node != nil:
		c := arg{kind: argConst, imm: int64(d.node.src[0].Param)}
		if gpr {
			s.emit(opLDC, valueArg(d.v, 0, n), c)
		}
		if uni {
			s.emit(opULDC, valueArg(s.twinOf(d.v), 0, n), c)
		}
	case d.vr < 0:
		s.emit(opMOV, valueArg(d.v, 0, 1), arg{kind: argImm, imm: int64(d.imm)})
	default:
		off := arg{kind: argImm, imm: 0x400 + int64(f.k.Vars[d.vr].Offset)}
		if gpr {
			a, b := s.temp(1), s.temp(1)
			s.emit(opMOV, a, off)
			s.emit(opS2R, b)
			s.emit(opLEA, valueArg(d.v, 0, 1), b, a)
		}
		if uni {
			a, b := valueArg(s.newValue(1, fileUniform), 0, 1), valueArg(s.newValue(1, fileUniform), 0, 1)
			s.emit(opUMOV, a, off)
			s.emit(opS2UR, b)
			s.emit(opULEA, valueArg(s.twinOf(d.v), 0, 1), b, a)
		}
	}
	if !gpr {
		s.sub[d.v] = subst{v: s.twinOf(d.v)}
	}
}

// moveAmbient brings a parameter that lies in constant memory in whole words to
// general registers, where an instruction reads it in place; false elsewhere.
func (s *selector) moveAmbient(d ambientDef, words uint8) bool {
	if !s.inPlace(d.node) {
		return false
	}
	for w := range words {
		if s.want[d.v]&(wantLo<<w) != 0 {
			s.emit(opMOV, valueArg(d.v, w, 1), arg{kind: argConst, imm: int64(d.node.src[0].Param), w: w, n: 1})
		}
	}
	return true
}
