package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// address returns the address operand of a memory access and fills in what is
// known of where it points.
func (s *selector) address(o ir.Operand, space ir.Space) (a arg, vr int32, base value, off int64) {
	vr, base, off = o.Var, noValue, int64(o.Imm)
	wide := space == ir.Global || space == ir.Generic
	reg := ir.Operand{Kind: ir.OperandReg, Reg: o.Reg, Var: -1, Param: -1}
	switch {
	case o.Reg == ir.NoReg && o.Var >= 0 && space == ir.Shared:
		return s.anyWord(ir.Operand{Kind: ir.OperandVar, Reg: ir.NoReg, Var: o.Var, Param: -1}, 0), vr, base, off
	case o.Reg == ir.NoReg:
		if wide {
			return s.pair(ir.Operand{Kind: ir.OperandImm, Imm: 1, Reg: ir.NoReg, Var: -1, Param: -1}), vr, base, off
		}
		return arg{kind: argZero}, vr, base, off
	}
	base = value(o.Reg)
	if vr < 0 {
		vr = s.baseVar(base, 0)
	}
	if wide {
		return s.pair(reg), vr, base, off
	}
	if s.f.vals[base].file == fileUniform && s.uniformBase(s.n) {
		s.want[base] |= wantLo
		return valueArg(base, 0, 1), vr, base, off
	}
	return s.word(reg, 0), vr, base, off
}

// baseVar finds the variable an address is computed from, -1 when unknown.
func (s *selector) baseVar(v value, depth int) int32 {
	d := s.f.defOf(v)
	if d == nil || depth > 8 || (d.op != ir.Add && d.op != ir.Mad && d.op != ir.Mov && d.op != ir.Cvta) {
		return -1
	}
	for i := range d.src {
		switch o := &d.src[i]; o.Kind {
		case ir.OperandVar:
			return o.Var
		case ir.OperandReg:
			if r := s.baseVar(value(o.Reg), depth+1); r >= 0 {
				return r
			}
		}
	}
	return -1
}

// access fills in the memory fields of an instruction.
func (s *selector) access(in *inst, n *node, vr int32, base value, off int64) {
	in.space = n.space
	in.width = uint8(max(1, bits(n.typ)/8) * int(n.vec))
	in.nc = n.mod&ir.ModNonCoherent != 0 || n.space == ir.Const || n.space == ir.ParamSpace
	in.vol = n.mod&(ir.ModVolatile|ir.ModAcquire|ir.ModRelease) != 0
	in.memVar, in.memVal, in.memOff = vr, base, off
}

// lowerLoad lowers loads; a vector's elements become consecutive words.
func (s *selector) lowerLoad(n *node) error {
	f := s.f
	dst := s.vector(n.dst, true)
	if n.space == ir.ParamSpace {
		s.emit(opLDC, dst, arg{kind: argConst, imm: int64(n.src[0].Imm)})
		return nil
	}
	op := map[ir.Space]mop{ir.Global: opLDG, ir.Shared: opLDS, ir.Local: opLDL, ir.Generic: opLD, ir.Const: opLDC}[n.space]
	if n.space == ir.Const {
		if n.src[0].Reg == ir.NoReg || f.vals[n.src[0].Reg].uniform && f.t.uniform {
			s.constLoad(n, dst)
			return nil
		}
	}
	if n.mod&ir.ModMatrix != 0 {
		op = opLDSM
	}
	a, vr, base, off := s.address(s.constIndex(n), n.space)
	in := s.emit(op, dst, a)
	s.access(in, n, vr, base, off)
	if op == opLDSM {
		in.width = 16
	}
	s.unpackVector(n.dst, dst)
	return nil
}

// constIndex is the address operand of a load; from constant memory, without
// the address of the variable that it indexes, which is an immediate there.
func (s *selector) constIndex(n *node) ir.Operand {
	o := n.src[0]
	if n.space != ir.Const || o.Reg == ir.NoReg || o.Var >= 0 {
		return o
	}
	d := s.fold(ir.Operand{Kind: ir.OperandReg, Reg: o.Reg, Var: -1, Param: -1}, true)
	if d == nil || d.op != ir.Add || len(d.src) != 2 {
		return o
	}
	for i := range 2 {
		if v, x := &d.src[i], &d.src[1-i]; v.Kind == ir.OperandVar && v.Var >= 0 && x.Kind == ir.OperandReg {
			o.Var, o.Reg = v.Var, x.Reg
			o.Imm += v.Imm
			return o
		}
	}
	return o
}

// constLoad lowers a load from constant memory that all lanes agree on.
func (s *selector) constLoad(n *node, dst arg) {
	var a arg
	if n.src[0].Reg != ir.NoReg {
		a = s.word(ir.Operand{Kind: ir.OperandReg, Reg: n.src[0].Reg, Var: -1, Param: -1}, 0)
	}
	in := s.emit(opLDC, dst, a)
	s.access(in, n, n.src[0].Var, noValue, int64(n.src[0].Imm))
	s.unpackVector(n.dst, dst)
}

// vector returns consecutive registers for the elements of a vector access.
// Single elements stand for themselves; the others are bound to words of one
// new value when they are written once, and copied otherwise.
func (s *selector) vector(regs []value, load bool) arg {
	f := s.f
	if len(regs) == 1 && regs[0] >= 0 {
		return valueArg(regs[0], 0, f.vals[regs[0]].words)
	}
	total := uint8(0)
	for _, r := range regs {
		if r >= 0 {
			total += f.vals[r].words
		} else {
			total++
		}
	}
	together := load && s.loadedTogether(regs)
	if b, bound := s.sub[max(regs[0], 0)]; bound && together {
		return valueArg(b.v, 0, total) // by another load of the same elements
	}
	if at, ok := s.boundTogether(regs, total); ok && load {
		return at
	}
	g := s.newValue(total, fileGeneral)
	w := uint8(0)
	for _, r := range regs {
		if r < 0 {
			w++
			continue
		}
		_, bound := s.sub[r]
		if load && (f.vals[r].defs == 1 || together) && !bound && f.vals[r].file == fileGeneral {
			s.sub[r] = subst{v: g, w: w}
		}
		w += f.vals[r].words
	}
	return valueArg(g, 0, total)
}

// boundTogether returns the words of one value that all elements of a load are bound to,
// in their order: what a store of the same elements reads.
func (s *selector) boundTogether(regs []value, total uint8) (arg, bool) {
	first, w := subst{v: noValue}, uint8(0)
	for i, r := range regs {
		if r < 0 || s.f.vals[r].defs != 1 {
			return arg{}, false
		}
		b, ok := s.sub[r]
		if i == 0 {
			first = b
		}
		if !ok || b.v != first.v || b.w != first.w+w {
			return arg{}, false
		}
		w += s.f.vals[r].words
	}
	return valueArg(first.v, first.w, total), first.w%total == 0
}

// loadedTogether says that variables are written by nothing but loads that write
// all of them in this order, such as those of two branches: all bring them to the
// same registers.
func (s *selector) loadedTogether(regs []value) bool {
	f := s.f
	for _, r := range regs {
		if r < 0 || f.vals[r].defs < 2 || f.vals[r].file != fileGeneral {
			return false
		}
	}
	if s.writers == nil {
		s.writers = map[value][]int32{}
		for _, b := range f.order {
			for _, ni := range f.blocks[b].nodes {
				n := &f.nodes[ni]
				for _, d := range n.dst {
					if d >= 0 && f.vals[d].defs > 1 {
						s.writers[d] = append(s.writers[d], ni)
					}
				}
			}
		}
	}
	for _, r := range regs {
		for _, ni := range s.writers[r] {
			if n := &f.nodes[ni]; !slices.Equal(n.dst, regs) && !setsConstant(n) {
				return false
			}
		}
	}
	return true
}

// unpackVector copies the elements that vector could not bind.
func (s *selector) unpackVector(regs []value, g arg) {
	if len(regs) == 1 {
		return
	}
	w := uint8(0)
	for _, r := range regs {
		if r < 0 {
			w++
			continue
		}
		n := s.f.vals[r].words
		if b, ok := s.sub[r]; !ok || b.v != g.v || b.w != g.w+w {
			for i := uint8(0); i < n; i++ {
				s.emit(opMOV, valueArg(r, i, 1), valueArg(g.v, w+i, 1))
			}
		}
		w += n
	}
}

// lowerStore lowers stores.
func (s *selector) lowerStore(n *node) error {
	op := map[ir.Space]mop{ir.Global: opSTG, ir.Shared: opSTS, ir.Local: opSTL, ir.Generic: opST}[n.space]
	if op == opInvalid {
		return s.unsupported(n)
	}
	vals := n.src[1:]
	data := arg{}
	if len(vals) == 1 {
		data = s.data(vals[0], n.typ)
	} else {
		data = s.gather(vals, n.typ)
	}
	a, vr, base, off := s.address(n.src[0], n.space)
	s.access(s.emit(op, arg{}, a, data), n, vr, base, off)
	return nil
}

// data returns a stored value in registers.
func (s *selector) data(o ir.Operand, t ir.Type) arg {
	if words(t) == 2 {
		return s.pair(o)
	}
	return s.word(o, 0)
}

// gather brings the elements of a vector store into consecutive registers:
// elements that it alone reads are computed in place, the others are copied.
func (s *selector) gather(vals []ir.Operand, t ir.Type) arg {
	per := words(t)
	if at, ok := s.bound(vals, per); ok {
		s.wantAll(vals)
		return at
	}
	g := s.newValue(per*uint8(len(vals)), fileGeneral)
	for i, o := range vals {
		at := uint8(i) * per
		if s.inPlaceOf(o, per) {
			s.data(o, t)
			s.sub[value(o.Reg)] = subst{v: g, w: at}
			continue
		}
		for w := uint8(0); w < per; w++ {
			s.emit(opMOV, valueArg(g, at+w, 1), s.mixOne(o, w))
		}
	}
	return valueArg(g, 0, per*uint8(len(vals)))
}

// inPlaceOf says that an operand, so many words, may be computed where the present node,
// its only reader, wants it.
func (s *selector) inPlaceOf(o ir.Operand, words uint8) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	f, x := s.f, value(o.Reg)
	_, bound := s.sub[x]
	d := f.defOf(x)
	there := f.vals[x].defs > 1 || d != nil && d.guard == s.n.guard && !s.isThrough(x)
	return there && !bound && s.local(x) == x && f.vals[x].words == words && s.uses[x] == 1 && f.vals[x].file == fileGeneral
}

func (s *selector) isThrough(x value) bool {
	_, ok := s.throughCvt(x, 0)
	return ok
}

// beforeAsync emits what comes before the first LDGSTS of a block: two times @!PT LDS RZ, [RZ],
// three for 9.0 and later (the 12 blocks of gemm_async's machine code by ptxas 13.0 for 8.0, 8.6, 8.9, 9.0,
// 10.0 and 12.0), which take a place in the load/store unit as reads of special registers do.
func (s *selector) beforeAsync(n *node) {
	for _, ni := range s.f.blocks[s.b].nodes {
		if first := &s.f.nodes[ni]; first.op == ir.CpAsync {
			if first != n {
				return
			}
			break
		}
	}
	s.emit(opLDSOFF, arg{})
	s.emit(opLDSOFF, arg{})
	if s.f.t.cc[0] >= 9 {
		s.emit(opLDSOFF, arg{})
	}
}

// lowerAsync lowers cp.async and prefetches.
func (s *selector) lowerAsync(n *node) error {
	switch n.op {
	case ir.CpAsyncCommit:
		s.emit(opLDGDEPBAR, arg{})
	case ir.CpAsyncWait:
		s.emit(opDEPBAR, arg{})
	case ir.Prefetch:
		a, _, _, _ := s.address(n.src[0], ir.Global)
		s.emit(opCCTL, arg{}, a)
	case ir.CpAsync:
		a, vr, base, off := s.address(n.src[0], ir.Shared)
		g, _, _, _ := s.address(n.src[1], ir.Global)
		s.beforeAsync(n)
		in := s.emit(opLDGSTS, arg{}, a, g)
		s.access(in, n, vr, base, off)
		in.space = ir.Shared
		if len(n.src) > 2 && n.src[2].Kind == ir.OperandImm {
			in.width = uint8(min(n.src[2].Imm, 16))
		}
	}
	return nil
}
