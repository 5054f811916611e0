package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Loads, stores and asynchronous copies.

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

// vector returns adjacent registers for the elements of a vector access. Elements that are written
// once are bound to its words; others are copied. A single element stands for itself.
func (s *selector) vector(regs []vreg.Value, load bool) mir.Arg {
	f := s.hir
	if len(regs) == 1 && regs[0] >= 0 {
		return mir.ValueWords(regs[0], 0, f.Values[regs[0]].Words)
	}
	total := uint8(0)
	for _, r := range regs {
		if r >= 0 {
			total += f.Values[r].Words
		} else {
			total++
		}
	}
	together := load && s.loadedTogether(regs)
	if b, bound := s.sub[max(regs[0], 0)]; bound && together {
		return mir.ValueWords(b.v, 0, total) // another load of the same elements bound them
	}
	if at, ok := s.boundTogether(regs, total); ok && load {
		return at
	}
	g := s.newValue(total, vreg.General)
	w := uint8(0)
	for _, r := range regs {
		if r < 0 {
			w++
			continue
		}
		_, bound := s.sub[r]
		if load && (f.Values[r].Defs == 1 || together) && !bound && f.Values[r].File == vreg.General {
			s.sub[r] = subst{v: g, w: w}
		}
		w += f.Values[r].Words
	}
	return mir.ValueWords(g, 0, total)
}

// boundTogether returns the words that all elements of a load are bound to in order, as for a store
// of the same elements; false where they are not.
func (s *selector) boundTogether(regs []vreg.Value, total uint8) (mir.Arg, bool) {
	first, w := subst{v: vreg.None}, uint8(0)
	for i, r := range regs {
		if r < 0 || s.hir.Values[r].Defs != 1 && s.n.Guard != vreg.None {
			return mir.Arg{}, false
		}
		b, ok := s.sub[r]
		if i == 0 {
			first = b
		}
		if !ok || b.v != first.v || b.w != first.w+w {
			return mir.Arg{}, false
		}
		w += s.hir.Values[r].Words
	}
	return mir.ValueWords(first.v, first.w, total), first.w%total == 0
}

// loadedTogether reports whether variables are written only by loads of all of them in this order,
// such as those of two branches, and by constants.
func (s *selector) loadedTogether(regs []vreg.Value) bool {
	f := s.hir
	for _, r := range regs {
		if r < 0 || f.Values[r].Defs < 2 || f.Values[r].File != vreg.General {
			return false
		}
	}
	if s.writers == nil {
		s.writers = map[vreg.Value][]int32{}
		for _, b := range f.Order {
			for _, ni := range f.Blocks[b].Nodes {
				n := &f.Nodes[ni]
				for _, d := range n.Dst {
					if d >= 0 && f.Values[d].Defs > 1 {
						s.writers[d] = append(s.writers[d], ni)
					}
				}
			}
		}
	}
	for _, r := range regs {
		for _, ni := range s.writers[r] {
			if n := &f.Nodes[ni]; !slices.Equal(n.Dst, regs) && !hir.SetsConstant(n) {
				return false
			}
		}
	}
	return true
}

// unpackVector copies the elements that vector could not bind.
func (s *selector) unpackVector(regs []vreg.Value, g mir.Arg) {
	if len(regs) == 1 {
		return
	}
	w := uint8(0)
	for _, r := range regs {
		if r < 0 {
			w++
			continue
		}
		n := s.hir.Values[r].Words
		if b, ok := s.sub[r]; !ok || b.v != g.Value || b.w != g.Word+w {
			for i := uint8(0); i < n; i++ {
				s.emit(mir.OpMOV, mir.ValueWords(r, i, 1), mir.ValueWords(g.Value, w+i, 1))
			}
		}
		w += n
	}
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
