package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Loads, stores, asynchronous copies, and textures.

// address returns the address operand of an access and what is known of where it points: the
// variable (-1 unknown), the base value and the offset in bytes.
func (s *selector) address(o ir.Operand, space ir.Space) (a mir.Arg, vr int32, base vreg.Value, off int64) {
	vr, base, off = o.Var, vreg.None, int64(o.Imm)
	wide := space == ir.Global || space == ir.Generic
	reg := ir.Operand{Kind: ir.OperandReg, Reg: o.Reg, Var: -1, Param: -1}
	switch {
	case o.Reg == ir.NoReg && o.Var >= 0 && space == ir.Shared:
		return s.flexibleWord(ir.Operand{Kind: ir.OperandVar, Reg: ir.NoReg, Var: o.Var, Param: -1}, 0), vr, base, off
	case o.Reg == ir.NoReg:
		if wide {
			return s.pair(ir.Operand{Kind: ir.OperandImm, Imm: 1, Reg: ir.NoReg, Var: -1, Param: -1}), vr, base, off
		}
		return mir.Arg{Kind: mir.ArgZero}, vr, base, off
	}
	base = vreg.Value(o.Reg)
	if vr < 0 {
		vr = s.baseVar(base, 0)
	}
	if wide {
		return s.pair(reg), vr, base, off
	}
	if s.hir.Values[base].File == vreg.Uniform && s.uniformBase(s.n) {
		s.demand[base] |= demandLow
		return mir.ValueWords(base, 0, 1), vr, base, off
	}
	if lane, is := s.split(base); is {
		reg = lane
	}
	return s.gprWord(reg, 0), vr, base, off
}

// baseVar returns the variable that an address is computed from, -1 where it is unknown.
func (s *selector) baseVar(v vreg.Value, depth int) int32 {
	d := s.hir.DefOf(v)
	if d == nil || depth > 8 || (d.Op != ir.Add && d.Op != ir.Mad && d.Op != ir.Mov && d.Op != ir.Cvta) {
		return -1
	}
	for i := range d.Src {
		switch o := &d.Src[i]; o.Kind {
		case ir.OperandVar:
			return o.Var
		case ir.OperandReg:
			if r := s.baseVar(vreg.Value(o.Reg), depth+1); r >= 0 {
				return r
			}
		}
	}
	return -1
}

// access fills in the memory fields of an instruction.
func (s *selector) access(in *mir.Inst, n *hir.Node, vr int32, base vreg.Value, off int64) {
	in.Space = n.Space
	in.Width = uint8(max(1, hir.Bits(n.Type)/8) * int(n.Vec))
	in.NonCoherent = n.Mod&ir.ModNonCoherent != 0 || n.Space == ir.Const || n.Space == ir.ParamSpace
	in.Volatile = n.Mod&(ir.ModVolatile|ir.ModAcquire|ir.ModRelease) != 0
	in.MemVar, in.MemBase, in.MemOffset = vr, base, off
	if s.beside.Kind != mir.ArgNone {
		in.Src[in.NSrc], s.beside = s.beside, mir.Arg{}
		in.NSrc++
	}
}

// lowerLoad lowers loads. The elements of a vector become adjacent words.
func (s *selector) lowerLoad(n *hir.Node) error {
	f := s.hir
	dst := s.vector(n.Dst, true)
	if n.Space == ir.ParamSpace {
		s.emit(mir.OpLDC, dst, mir.Arg{Kind: mir.ArgConst, Imm: int64(n.Src[0].Imm)})
		return nil
	}
	op := map[ir.Space]mir.Op{ir.Global: mir.OpLDG, ir.Shared: mir.OpLDS, ir.Local: mir.OpLDL, ir.Generic: mir.OpLD, ir.Const: mir.OpLDC, ir.SharedCluster: mir.OpLD}[n.Space]
	if n.Space == ir.Const {
		if n.Src[0].Reg == ir.NoReg || f.Values[n.Src[0].Reg].Uniform && f.Target.Uniform {
			s.constLoad(n, dst)
			return nil
		}
	}
	if n.Mod&ir.ModMatrix != 0 {
		op = mir.OpLDSM
	}
	s.setInitials(n, dst)
	a, vr, base, off := s.address(s.constIndex(n), n.Space)
	in := s.emit(op, dst, a)
	in.KeepsOld = n.Else != nil
	s.access(in, n, vr, base, off)
	if op == mir.OpLDSM {
		in.Width = 16
	}
	s.unpackVector(n.Dst, dst)
	return nil
}

// setInitials sets the results of a guarded load to what they hold where its guard is false.
func (s *selector) setInitials(n *hir.Node, dst mir.Arg) {
	at := dst.Word
	for i, o := range n.Else {
		for w := range s.hir.Values[n.Dst[i]].Words {
			s.emit(mir.OpMOV, mir.ValueWords(dst.Value, at, 1), s.flexible(o, w))
			at++
		}
	}
	s.bare = len(s.buf)
}

// constIndex is the address operand of a load. For constant memory the address of the indexed
// variable is left out: it is an immediate there.
func (s *selector) constIndex(n *hir.Node) ir.Operand {
	o := n.Src[0]
	if n.Space != ir.Const || o.Reg == ir.NoReg || o.Var >= 0 {
		return o
	}
	d := s.fold(ir.Operand{Kind: ir.OperandReg, Reg: o.Reg, Var: -1, Param: -1}, true)
	if d == nil || d.Op != ir.Add || len(d.Src) != 2 {
		return o
	}
	for i := range 2 {
		if v, x := &d.Src[i], &d.Src[1-i]; v.Kind == ir.OperandVar && v.Var >= 0 && x.Kind == ir.OperandReg {
			o.Var, o.Reg = v.Var, x.Reg
			o.Imm += v.Imm
			return o
		}
	}
	return o
}

// constLoad lowers a load from constant memory at an address that all lanes agree on.
func (s *selector) constLoad(n *hir.Node, dst mir.Arg) {
	var a mir.Arg
	if n.Src[0].Reg != ir.NoReg {
		a = s.gprWord(ir.Operand{Kind: ir.OperandReg, Reg: n.Src[0].Reg, Var: -1, Param: -1}, 0)
	}
	in := s.emit(mir.OpLDC, dst, a)
	s.access(in, n, n.Src[0].Var, vreg.None, int64(n.Src[0].Imm))
	s.unpackVector(n.Dst, dst)
}

// lowerStore lowers stores.
func (s *selector) lowerStore(n *hir.Node) error {
	op := map[ir.Space]mir.Op{ir.Global: mir.OpSTG, ir.Shared: mir.OpSTS, ir.Local: mir.OpSTL, ir.Generic: mir.OpST, ir.SharedCluster: mir.OpST}[n.Space]
	if op == mir.OpInvalid {
		return s.unsupported(n)
	}
	vals := n.Src[1:]
	data := mir.Arg{}
	if len(vals) == 1 {
		data = s.data(vals[0], n.Type)
	} else {
		data = s.gather(vals, n.Type)
	}
	a, vr, base, off := s.address(n.Src[0], n.Space)
	if n.Mod&ir.ModMatrix != 0 {
		op = mir.OpSTSM
	}
	in := s.emit(op, mir.Arg{}, a, data)
	s.access(in, n, vr, base, off)
	if op == mir.OpSTSM {
		in.Width = 16
	}
	return nil
}

// data returns a value to be stored, in registers.
func (s *selector) data(o ir.Operand, t ir.Type) mir.Arg {
	if hir.Words(t) == 2 {
		return s.pair(o)
	}
	return s.gprWord(o, 0)
}

// gather brings the elements of a vector store into adjacent registers. Elements that only it reads
// are computed in place; others are copied.
func (s *selector) gather(vals []ir.Operand, t ir.Type) mir.Arg {
	per := hir.Words(t)
	if at, ok := s.boundSpan(vals, per); ok {
		s.demandAll(vals)
		return at
	}
	g := s.newValue(per*uint8(len(vals)), vreg.General)
	for i, o := range vals {
		at := uint8(i) * per
		if s.inPlaceOf(o, per) || s.staysInPlace(o, per) {
			s.data(o, t)
			s.sub[vreg.Value(o.Reg)] = subst{v: g, w: at}
			continue
		}
		for w := uint8(0); w < per; w++ {
			s.emit(mir.OpMOV, mir.ValueWords(g, at+w, 1), s.flexible(o, w))
		}
	}
	return mir.ValueWords(g, 0, per*uint8(len(vals)))
}

// inPlaceOf reports whether an operand of that many words may be computed where the present node,
// its only reader, wants it.
func (s *selector) inPlaceOf(o ir.Operand, words uint8) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	f, x := s.hir, vreg.Value(o.Reg)
	_, bound := s.sub[x]
	d := f.DefOf(x)
	there := f.Values[x].Defs > 1 || d != nil && (d.Guard == s.n.Guard || d.Guard == vreg.None && f.Target.Specific) && !s.lookedThrough(x)
	return there && !bound && s.localCopy(x) == x && f.Values[x].Words == words && s.uses[x] == 1 && f.Values[x].File == vreg.General
}

// lookedThrough reports whether readers of x look through the conversion that computes it.
func (s *selector) lookedThrough(x vreg.Value) bool {
	_, ok := s.lookThroughCvt(x, 0)
	return ok
}

// beforeAsync emits what precedes the first LDGSTS of a block: @!PT LDS RZ, [RZ] twice, three times
// from sm_90 on. They take a place in the load/store unit.
//
// Evidence, ptxas corpus (13.0): 12 blocks of gemm_async for sm_80 to sm_120.
func (s *selector) beforeAsync(n *hir.Node) {
	for _, ni := range s.hir.Blocks[s.b].Nodes {
		if first := &s.hir.Nodes[ni]; first.Op == ir.CpAsync {
			if first != n {
				return
			}
			break
		}
	}
	s.emit(mir.OpLDSOFF, mir.Arg{})
	s.emit(mir.OpLDSOFF, mir.Arg{})
	if s.hir.Target.CC[0] >= 9 {
		s.emit(mir.OpLDSOFF, mir.Arg{})
	}
}

// lowerAsync lowers cp.async and prefetches.
func (s *selector) lowerAsync(n *hir.Node) error {
	switch n.Op {
	case ir.CpAsyncCommit:
		s.emit(mir.OpLDGDEPBAR, mir.Arg{})
	case ir.CpAsyncWait:
		s.emit(mir.OpDEPBAR, mir.Arg{})
	case ir.Prefetch:
		if s.hir.Kernel.Instrs[n.PC].Cache == ir.CacheDefault { // of a tensor map
			s.emit(mir.OpUTMACCTL, mir.Arg{}, s.uniformWords(addressOperand(n.Src[0])))
			return nil
		}
		a, _, _, _ := s.address(n.Src[0], ir.Global)
		s.emit(mir.OpCCTL, mir.Arg{}, a)
	case ir.CpAsync:
		a, vr, base, off := s.address(n.Src[0], ir.Shared)
		g, _, _, _ := s.address(n.Src[1], ir.Global)
		s.beforeAsync(n)
		args := []mir.Arg{a, g}
		if s.hir.Target.Specific && len(n.Src) > 3 && n.Src[3].Kind == ir.OperandReg {
			args = append(args, s.pred(n.Src[3]))
		}
		in := s.emit(mir.OpLDGSTS, mir.Arg{}, args...)
		s.access(in, n, vr, base, off)
		in.Space = ir.Shared
		if len(n.Src) > 2 && n.Src[2].Kind == ir.OperandImm {
			in.Width = uint8(min(n.Src[2].Imm, 16))
		}
	}
	return nil
}

// lowerTexture lowers fetches, queries and accesses to surfaces. Only the channels that are read take registers.
//
//	TEX.LL RZ, R7, R8, R19, UR4, 0x0, 3D    R7 the channels that are read, R8 on coordinates, R19 the level, UR4 the handle
//	TLD.LZ R10, R8, R5, UR4, 0x0, 1D        integer coordinates; R8 on two channels, R10 on two more
//	SUST.D.BA.2D [R16], R14, UR4, 0x0
//
// Evidence, machine code of ptxas 13.5 (sm_90).
func (s *selector) lowerTexture(n *hir.Node) error {
	t := s.hir.Kernel.Instrs[n.PC].Texture
	if n.Op == ir.Txq {
		s.emit(mir.OpTXQ, s.dest(0, 1), s.handle(n.Src[0]))
		return nil
	}
	c := 1 + t.Coordinates()
	at := s.together(n.Src[1:c], ir.B32)
	handle := s.handle(n.Src[0])
	if n.Op == ir.Sust {
		m := s.emit(mir.OpSUST, mir.Arg{}, at, s.together(n.Src[c:], n.Type), handle)
		s.accessTexture(m, n, n.Type)
		return nil
	}
	var used []vreg.Value
	for _, v := range n.Dst {
		if v >= 0 && s.uses[v] > 0 {
			used = append(used, v)
		}
	}
	if len(used) == 0 {
		return nil
	}
	dst := s.vector(used, true)
	args := append(make([]mir.Arg, 0, 3), at)
	op := mir.OpTLD
	switch {
	case n.Op == ir.Suld:
		op = mir.OpSULD
	case t.Gather:
		op = mir.OpTLD4
	case n.SrcType == ir.F32:
		op = mir.OpTEX
		level := ir.WordOperand(0xc200) // of a texture without mipmaps
		if t.Level {
			level = n.Src[c]
		}
		args = append(args, s.gprWord(level, 0))
	}
	m := s.emit(op, dst, append(args, handle)...)
	s.accessTexture(m, n, n.Type)
	m.NonCoherent = n.Op == ir.Tex
	s.unpackVector(used, dst)
	return nil
}

// handle is the operand that an object's handle is.
func (s *selector) handle(o ir.Operand) mir.Arg {
	if s.hir.Target.Uniform {
		return s.uniformWords(o)
	}
	return s.gprWord(o, 0)
}

// together is operands in adjacent registers.
func (s *selector) together(ops []ir.Operand, t ir.Type) mir.Arg {
	if len(ops) == 1 && hir.Words(t) == 1 {
		return s.gprWord(ops[0], 0)
	}
	return s.gather(ops, t)
}

// accessTexture fills in the memory fields of an instruction.
func (s *selector) accessTexture(m *mir.Inst, n *hir.Node, t ir.Type) {
	m.Space, m.MemVar, m.MemBase = ir.Global, -1, vreg.None
	m.Width = uint8(t.Size() * int(n.Vec))
}
