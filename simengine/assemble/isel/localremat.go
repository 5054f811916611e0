package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Values that every block defines for itself.
//
// A parameter, the base of shared memory or an immediate costs one to three instructions without operands. ptxas
// rematerialises them rather than keep them in registers: each block that needs one defines its own copy. An
// innermost loop has it defined in the block before.

// localKey names such a value and the block that defines it.
type localKey struct {
	block int
	reg   vreg.Value // the parameter's register; None for others
	vr    int32      // the variable; -1 for others
	imm   int32      // the immediate of neither
}

// localDef is a value to be defined in a block.
type localDef struct {
	v    vreg.Value
	node *hir.Node // the ld.param; nil for others
	vr   int32     // the variable; -1 for others
	imm  int32     // the immediate of neither
}

// definingBlock is the block that defines a value used in the present one: itself, or the one
// before the loop if it is in an innermost loop. Where registers are scarce loops define it themselves.
//
// Evidence, ptxas corpus (shared launches of gated_scan, sm_90a): LDC.64 of pointers in the loop.
func (s *selector) definingBlock() int {
	if !s.innermost[s.b] || s.hir.Scarce && s.hir.Target.Specific {
		return s.b
	}
	return s.preheader()
}

// preheader is the block before the innermost loop around the present block.
func (s *selector) preheader() int {
	f := s.hir
	head := f.Kernel.Blocks[s.b].LoopHead
	if head < 0 {
		return s.b
	}
	for f.Blocks[head].Merged >= 0 {
		head = f.Blocks[head].Merged
	}
	p := head
	for f.Blocks[p].IDom != p && f.Blocks[p].IDom >= 0 {
		p = f.Blocks[p].IDom
		if f.Blocks[p].LoopDepth < f.Blocks[head].LoopDepth {
			return p
		}
	}
	return s.b
}

// localCopy returns the copy of a parameter for the present block, and any other value unchanged.
func (s *selector) localCopy(v vreg.Value) vreg.Value {
	d := s.hir.DefOf(v)
	if d == nil || d.Op != ir.Ld || d.Space != ir.ParamSpace || d.Guard != vreg.None || d.Vec != 1 || len(d.Dst) != 1 {
		return v
	}
	key := localKey{block: s.definingBlock(), reg: v, vr: -1}
	if a, ok := s.local[key]; ok {
		return a
	}
	a := s.newLocal(key)
	s.pending[key.block] = append(s.pending[key.block], localDef{v: a, node: d, vr: -1})
	return a
}

// uniformValue reports whether a value may be read from the uniform file: it is a local copy, or
// the only result of a node that the uniform datapath computes.
func (s *selector) uniformValue(v vreg.Value) bool {
	vi := &s.hir.Values[v]
	switch d := s.hir.DefOf(v); {
	case d == nil:
	case d.Op == ir.Mov && len(d.Src) == 1 && d.Src[0].Kind == ir.OperandSpecial:
		return false // in a general register, unless a uniform instruction reads it
	case d.Type.IsFloat() && !loads(d):
		return false // the uniform datapath does not compute it
	}
	return s.hir.Target.Uniform && vi.Uniform && vi.File == vreg.General && (vi.Defs == 1 || vi.Remat)
}

// countHoisted counts the general registers that hoisting a parameter out of a loop with inner
// loops would take: the most of several loop nests. ptxas chooses its occupancy step as if it
// hoisted them (see unit.need). Uniform registers do not count, nor do addresses of shared memory,
// which ptxas computes anew in each loop.
//
// Evidence, ptxas corpus: with this, register counts of 435 of 531 sgemm programs are exact, 423 if
// uniform registers count. Kernels: lavamd and hotspot_milo, 10 and 11 programs exact, 5 and 2 if
// shared addresses count.
func (s *selector) countHoisted(key localKey, words uint8) {
	out := s.preheader()
	if out == key.block {
		return
	}
	key.block = out
	if !s.hoisted[key] {
		s.hoisted[key] = true
		s.hoistedAt[out] += int(words)
		s.out.HoistedParams = max(s.out.HoistedParams, s.hoistedAt[out])
	}
}

// sharedBase returns the local copy of a shared variable's address.
func (s *selector) sharedBase(o ir.Operand) vreg.Value {
	key := localKey{block: s.definingBlock(), reg: vreg.None, vr: o.Var}
	if a, ok := s.local[key]; ok {
		return a
	}
	a := s.newValue(1, vreg.General)
	s.hir.Values[a].Uniform = true
	s.hir.Values[a].Remat = true
	s.local[key] = a
	s.pending[key.block] = append(s.pending[key.block], localDef{v: a, vr: o.Var})
	return a
}

// varWord returns the low word of a variable's address in a general register.
func (s *selector) varWord(o ir.Operand) mir.Arg {
	v := &s.hir.Kernel.Vars[o.Var]
	if v.Space == ir.Shared && s.hir.Target.SharedWindow {
		b := s.sharedBase(o)
		s.demand[b] |= demandLow | demandGeneral
		if o.Imm == 0 {
			return mir.ValueWords(b, 0, 1)
		}
		t := s.temp(1)
		s.emit(mir.OpIADD3, t, mir.ValueWords(b, 0, 1), mir.Arg{Kind: mir.ArgImm, Imm: int64(o.Imm)})
		return t
	}
	off := int64(v.Offset) + int64(o.Imm)
	if off == 0 && v.Space == ir.Shared {
		return mir.Arg{Kind: mir.ArgZero}
	}
	t := s.temp(1)
	s.emit(mir.OpMOV, t, mir.Arg{Kind: mir.ArgImm, Imm: off})
	return t
}

// define returns insts with the definitions of block b before them.
func (s *selector) define(b int, insts []mir.Inst) []mir.Inst {
	s.buf = s.buf[:0]
	for _, d := range s.pending[b] {
		if !s.borrow(d, b) {
			s.defineLocal(d)
		}
	}
	for i := range s.buf {
		s.buf[i].PC, s.buf[i].Carried = -1, -1
	}
	out := make([]mir.Inst, 0, len(insts)+len(s.buf)+4) // room for the prologue and convergence barriers
	out = append(out, s.buf...)
	return append(out, insts...)
}

// borrow takes a parameter that block b wants in uniform registers only from a block before it that
// reads it too, with nothing but guarded exits in between, and reports whether it could.
//
// Evidence, kernels: rotate_image.
func (s *selector) borrow(d localDef, b int) bool {
	f := s.hir
	if !f.Target.Uses(rules.ParameterReuse) || d.node == nil || !f.Target.Uniform || s.demand[d.v]&demandGeneral != 0 || f.Values[d.v].File != vreg.General {
		return false
	}
	for p := s.exitPredecessor(b); p != b; b, p = p, s.exitPredecessor(p) {
		key := localKey{block: p, reg: d.node.Dst[0], vr: -1}
		a, ok := s.local[key]
		if !ok && !s.reads(p, key.reg) {
			continue
		}
		if !ok {
			a = s.newLocal(key)
			s.pending[p] = append(s.pending[p], localDef{v: a, node: d.node, vr: -1})
		}
		s.sub[d.v] = subst{v: s.twinOf(a)}
		if t := s.twin[d.v]; t != vreg.None {
			s.sub[t] = s.sub[d.v]
		}
		return true
	}
	return false
}

// exitPredecessor is the block that leads to b past exits only, b where there is none.
func (s *selector) exitPredecessor(b int) int {
	f := s.hir
	p := f.Blocks[b].IDom
	if p < 0 || !f.OnePredecessor(b) || f.Blocks[p].LoopDepth != f.Blocks[b].LoopDepth || f.Blocks[p].Merged >= 0 {
		return b
	}
	for _, x := range f.Blocks[p].Succs {
		if x != b && !f.IsExit(x) {
			return b
		}
	}
	return p
}

// reads reports whether a node of block b reads v.
func (s *selector) reads(b int, v vreg.Value) bool {
	for _, ni := range s.hir.Blocks[b].Nodes {
		for i := range s.hir.Nodes[ni].Src {
			if o := &s.hir.Nodes[ni].Src[i]; o.Kind == ir.OperandReg && vreg.Value(o.Reg) == v {
				return true
			}
		}
	}
	return false
}

// newLocal makes the value of a parameter in a block.
func (s *selector) newLocal(key localKey) vreg.Value {
	a := s.newValue(s.hir.Values[key.reg].Words, vreg.General)
	s.hir.Values[a].Uniform, s.hir.Values[a].Remat = true, true
	s.local[key] = a
	return a
}

// defineLocal emits the definition of one value, in the files wanted.
func (s *selector) defineLocal(d localDef) {
	f := s.hir
	w := s.demand[d.v]
	gpr := w&demandGeneral != 0 || !f.Target.Uniform
	uni := s.twin[d.v] != vreg.None || !gpr
	n := f.Values[d.v].Words
	if gpr && d.node != nil {
		s.countHoisted(localKey{block: s.b, reg: d.node.Dst[0], vr: -1}, n)
	}
	switch {
	case d.node != nil && gpr && s.moveLocal(d, n):
		if uni {
			s.emit(mir.OpULDC, mir.ValueWords(s.twinOf(d.v), 0, n), mir.Arg{Kind: mir.ArgConst, Imm: int64(d.node.Src[0].Param)})
		}
	case d.node != nil:
		c := mir.Arg{Kind: mir.ArgConst, Imm: int64(d.node.Src[0].Param)}
		if gpr {
			s.emit(mir.OpLDC, mir.ValueWords(d.v, 0, n), c)
		}
		if uni {
			s.emit(mir.OpULDC, mir.ValueWords(s.twinOf(d.v), 0, n), c)
		}
	case d.vr < 0:
		s.emit(mir.OpMOV, mir.ValueWords(d.v, 0, 1), mir.Arg{Kind: mir.ArgImm, Imm: int64(d.imm)})
	default:
		off := mir.Arg{Kind: mir.ArgImm, Imm: 0x400 + int64(f.Kernel.Vars[d.vr].Offset)}
		if gpr {
			a, b := s.temp(1), s.temp(1)
			s.emit(mir.OpMOV, a, off)
			s.emit(mir.OpS2R, b)
			s.emit(mir.OpLEA, mir.ValueWords(d.v, 0, 1), b, a)
		}
		if uni {
			a, b := mir.ValueWords(s.newValue(1, vreg.Uniform), 0, 1), mir.ValueWords(s.newValue(1, vreg.Uniform), 0, 1)
			s.emit(mir.OpUMOV, a, off)
			s.emit(mir.OpS2UR, b)
			s.emit(mir.OpULEA, mir.ValueWords(s.twinOf(d.v), 0, 1), b, a)
		}
	}
	if !gpr {
		s.sub[d.v] = subst{v: s.twinOf(d.v)}
	}
}

// moveLocal moves a parameter that lies in constant memory to general registers, and reports
// whether it does.
func (s *selector) moveLocal(d localDef, words uint8) bool {
	if !s.inPlace(d.node) {
		return false
	}
	for w := range words {
		if s.demand[d.v]&(demandLow<<w) != 0 {
			s.emit(mir.OpMOV, mir.ValueWords(d.v, w, 1), mir.Arg{Kind: mir.ArgConst, Imm: int64(d.node.Src[0].Param), Word: w, N: 1})
		}
	}
	return true
}
