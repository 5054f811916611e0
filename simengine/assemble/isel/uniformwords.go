package isel

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Operands that must lie in adjacent uniform registers: descriptors of matrices, addresses and
// coordinates of bulk copies.

// uniformWords brings the words of operands into one uniform value. A word computed on the uniform
// datapath for this alone is computed in place; other words are moved, those in general registers by
// R2UR.
func (s *selector) uniformWords(ops ...ir.Operand) mir.Arg {
	total := uint8(0)
	for i := range ops {
		total += s.operandWords(&ops[i])
	}
	size := uint8(1)
	for size < total {
		size *= 2
	}
	g, at := s.newValue(size, vreg.Uniform), uint8(0)
	for _, o := range ops {
		n := s.operandWords(&o)
		if s.sumInPlace(o, mir.ValueWords(g, at, n)) {
			at += n
			continue
		}
		if s.computedInPlace(o, n) {
			s.sub[s.twinOf(vreg.Value(o.Reg))] = subst{v: g, w: at}
			s.demand[o.Reg] |= demandUniform | demandLow | demandHigh&(demandHigh*demand(n-1))
			at += n
			continue
		}
		for w := range n {
			s.moveToUniform(mir.ValueWords(g, at, 1), o, w)
			at++
		}
	}
	return mir.ValueWords(g, 0, total)
}

// sumInPlace computes a sum near another value again, in place, if others read it too: that takes one
// instruction, as many as two copies take two. It reports whether it did.
func (s *selector) sumInPlace(o ir.Operand, to mir.Arg) bool {
	if o.Kind != ir.OperandReg || s.uses[o.Reg] < 2 {
		return false
	}
	d := s.hir.DefOf(vreg.Value(o.Reg))
	if d == nil || d.Guard != vreg.None || !s.addsNear(d) {
		return false
	}
	s.emit(mir.OpUIADD364, to, s.uniPair(d.Src[0]), mir.Arg{Kind: mir.ArgImm, Imm: int64(d.Src[1].Imm)})
	return true
}

// operandWords is the 32-bit words of an operand.
func (s *selector) operandWords(o *ir.Operand) uint8 {
	if o.Kind == ir.OperandReg {
		return s.hir.Values[o.Reg].Words
	}
	return 1
}

// computedInPlace reports whether an operand of n words is computed on the uniform datapath for the
// present node alone, by an addition.
func (s *selector) computedInPlace(o ir.Operand, n uint8) bool {
	if o.Kind != ir.OperandReg || !s.isWanted(vreg.Value(o.Reg)) && (s.uses[o.Reg] != 1 || s.twin[o.Reg] != vreg.None || s.demand[o.Reg] != 0) {
		return false
	}
	v := vreg.Value(o.Reg)
	if _, bound := s.sub[s.twin[v]]; bound && s.twin[v] != vreg.None {
		return false
	}
	d := s.hir.DefOf(v)
	if d == nil || d.Op != ir.Add || !s.hir.Values[v].Uniform || s.hir.Values[v].File != vreg.General || !s.uniformOp(d) {
		return false
	}
	return s.hir.Carrier(d) == s.b && s.localCopy(v) == v
}

// moveToUniform brings word w of an operand into a uniform register.
func (s *selector) moveToUniform(to mir.Arg, o ir.Operand, w uint8) {
	o, w = s.wordBehind(o, w)
	switch o.Kind {
	case ir.OperandImm:
		s.emit(mir.OpUMOV, to, mir.Arg{Kind: mir.ArgImm, Imm: int64(int32(o.Imm >> (32 * w)))})
		return
	case ir.OperandVar:
		s.emit(mir.OpUMOV, to, s.uniOperand(o))
		return
	}
	v := s.localCopy(vreg.Value(o.Reg))
	vi := &s.hir.Values[v]
	if vi.File == vreg.Uniform || vi.Uniform && (vi.Defs == 1 || vi.Remat) && vi.File == vreg.General && s.onUniformPath(v) {
		s.emit(mir.OpUMOV, to, s.uniWord(o, w))
		return
	}
	s.emit(mir.OpR2UR, to, s.gprWord(o, w))
}

// onUniformPath reports whether the uniform datapath computes a value.
func (s *selector) onUniformPath(v vreg.Value) bool {
	d := s.hir.DefOf(v)
	return d == nil || s.uniformOp(d)
}

// wordBehind follows a word of an operand through operations that leave it as it is. It returns the
// operand and the word of it that it equals; that of an immediate may be combined from several.
func (s *selector) wordBehind(o ir.Operand, w uint8) (ir.Operand, uint8) {
	for range 8 {
		if o.Kind != ir.OperandReg {
			return o, w
		}
		d := s.hir.DefOf(vreg.Value(o.Reg))
		if d == nil || !s.availableHere(d) || len(d.Dst) != 1 {
			return o, w
		}
		switch {
		case d.Op == ir.Cvt && hir.IsInt(d.Type) && hir.IsInt(d.SrcType) && hir.Bits(d.Type) == 64 && hir.Bits(d.SrcType) == 32 && s.once(d.Src[0]):
			if w == 1 && hir.Signed(d.SrcType) {
				return o, w
			}
			if w == 1 {
				return ir.Operand{Kind: ir.OperandImm, Reg: ir.NoReg, Var: -1, Param: -1}, 0
			}
			o = d.Src[0]
		case d.Op == ir.Or && hir.Bits(d.Type) == 64 && len(d.Src) == 2:
			x, xw := s.wordBehind(d.Src[0], w)
			y, yw := s.wordBehind(d.Src[1], w)
			if y.Kind != ir.OperandImm {
				x, xw, y, yw = y, yw, x, xw
			}
			switch imm := uint32(y.Imm >> (32 * yw)); {
			case y.Kind != ir.OperandImm:
				return o, w
			case x.Kind == ir.OperandImm:
				y.Imm = uint64(imm | uint32(x.Imm>>(32*xw)))
				return y, 0
			case imm != 0:
				return o, w
			}
			return x, xw
		default:
			return o, w
		}
	}
	return o, w
}

// once reports whether an operand has one value wherever it is read.
func (s *selector) once(o ir.Operand) bool {
	return o.Kind != ir.OperandReg || s.hir.Values[o.Reg].Defs == 1
}

// findWanted marks the values that instructions want in uniform registers only, and what these are
// computed from, as far as all lanes agree on it and the uniform datapath computes it. Variables among
// them move to the uniform file.
//
// Evidence, ptxas corpus (shared launches, sm_90a): descriptors of products, operands of bulk copies
// and addresses of mbarriers, and the loop counters behind them.
func (s *selector) findWanted() {
	s.wanted = make([]bool, len(s.hir.Values))
	var roots []ir.Operand
	s.eachNode(func(n *hir.Node) {
		switch n.Op {
		case ir.Wgmma:
			a, b, _ := wgmmaOperands(n)
			if roots = append(roots, b); n.Matrix.FromShared {
				roots = append(roots, a[0])
			}
		case ir.BulkCopy, ir.BulkPrefetch:
			roots = append(roots, n.Src...)
		case ir.MbarInit, ir.MbarInval, ir.MbarArrive, ir.MbarExpect, ir.MbarWait:
			roots = append(roots, n.Src[0])
		}
	})
	s.findSplits()
	for _, x := range s.sums {
		roots = append(roots, x.uniform)
	}
	roots = append(roots, s.copied...)
	if len(roots) == 0 && !s.hir.Scarce {
		return
	}
	seen := make([]bool, len(s.hir.Values))
	writers := s.allWriters()
	if s.hir.Scarce {
		roots = append(roots, s.loopAddresses(writers)...)
	}
	for len(roots) > 0 {
		o := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if o.Kind != ir.OperandReg && o.Kind != ir.OperandAddr || o.Reg == ir.NoReg || seen[o.Reg] {
			continue
		}
		seen[o.Reg] = true
		vi, defs := &s.hir.Values[o.Reg], writers[o.Reg]
		if !vi.Uniform || len(defs) == 0 || vi.File != vreg.General && vi.File != vreg.Predicate || vi.Defs != int32(len(defs)) {
			continue
		}
		if slices.ContainsFunc(defs, func(ni int32) bool { return !s.onUniformDatapath(&s.hir.Nodes[ni]) }) {
			continue
		}
		if slices.ContainsFunc(defs, func(ni int32) bool { return s.leavesApart(&s.hir.Nodes[ni], o.Reg) }) {
			continue
		}
		s.wanted[o.Reg] = true
		for _, ni := range defs {
			if n := &s.hir.Nodes[ni]; n.Op != ir.Shfl {
				roots = append(roots, n.Src...)
			}
		}
		if vi.Defs > 1 {
			vi.File = vreg.Uniform
		}
	}
}

// leavesApart reports whether a node of v writes or reads a variable where lanes may be apart, so that uniform registers
// do not keep it through its loop.
func (s *selector) leavesApart(n *hir.Node, v ir.Reg) bool {
	variable := func(r ir.Reg) bool { return s.hir.Values[r].Defs > 1 }
	return s.forgets(int(n.Block)) && (variable(v) || slices.ContainsFunc(n.Src, func(o ir.Operand) bool {
		return o.Kind == ir.OperandReg && variable(o.Reg)
	}))
}

// allWriters lists the nodes that write each value, all lists in one array.
func (s *selector) allWriters() [][]int32 {
	counts, sum := make([]int32, len(s.hir.Values)), 0
	s.eachWrite(func(d vreg.Value, _ int32) {
		counts[d]++
		sum++
	})
	writers, all := make([][]int32, len(counts)), make([]int32, sum)
	for v, n := range counts {
		writers[v], all = all[:0:n], all[n:]
	}
	s.eachWrite(func(d vreg.Value, node int32) { writers[d] = append(writers[d], node) })
	return writers
}

// eachWrite visits the results of all nodes.
func (s *selector) eachWrite(visit func(d vreg.Value, node int32)) {
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			for _, d := range s.hir.Nodes[ni].Dst {
				if d >= 0 {
					visit(d, ni)
				}
			}
		}
	}
}

// isWanted reports whether a value is one that findWanted marked.
func (s *selector) isWanted(v vreg.Value) bool {
	return v >= 0 && int(v) < len(s.wanted) && s.wanted[v]
}

// onUniformDatapath reports whether the uniform datapath can compute a node whose sources are there:
// more than it is trusted with elsewhere, see uniformOp.
func (s *selector) onUniformDatapath(n *hir.Node) bool {
	if n.Guard != vreg.None || len(n.Dst) != 1 || n.Mod&(ir.ModCarryIn|ir.ModCarryOut|ir.ModSat) != 0 {
		return false
	}
	one := hir.IsInt(n.Type) && hir.Bits(n.Type) >= 32
	switch n.Op {
	case ir.Mov:
		return len(n.Src) == 1 && n.Type != ir.Pred && (n.Src[0].Kind != ir.OperandSpecial || s2ur(n.Src[0].Special))
	case ir.Add, ir.Sub, ir.And, ir.Or, ir.Xor:
		return one
	case ir.Shl, ir.Shr:
		return one && (hir.Words(n.Type) == 1 || hir.ShiftCount(n) >= 0)
	case ir.Mul, ir.Mad:
		return one && n.Mod&ir.ModHi == 0 && (n.Mod&ir.ModWide == 0 || hir.Is32Bit(n))
	case ir.Bfe:
		return one && hir.Words(n.Type) == 1 && n.Src[1].Kind == ir.OperandImm && n.Src[2].Kind == ir.OperandImm
	case ir.Cvt:
		return one && hir.IsInt(n.SrcType) && hir.Bits(n.SrcType) >= 32
	case ir.Selp:
		return one && hir.Words(n.Type) == 1 && n.Src[2].Kind == ir.OperandReg && s.comparesUniform(vreg.Value(n.Src[2].Reg))
	case ir.Setp:
		return s.comparesUniform(n.Dst[0])
	case ir.Shfl:
		return len(n.Src) > 2 && n.Bool == ir.ShflIdx && n.Src[1].Kind == ir.OperandImm && n.OfAllLanes()
	}
	return false
}

// comparesUniform reports whether a predicate is a comparison of words that all lanes agree on.
func (s *selector) comparesUniform(p vreg.Value) bool {
	d := s.hir.DefOf(p)
	if d == nil || d.Op != ir.Setp || len(d.Dst) != 1 || len(d.Src) != 2 || d.Guard != vreg.None || !hir.IsInt(d.Type) || hir.Bits(d.Type) != 32 {
		return false
	}
	for i := range d.Src {
		if o := &d.Src[i]; o.Kind == ir.OperandReg && !s.hir.Values[o.Reg].Uniform {
			return false
		}
	}
	return true
}

// uniformPredicate returns a predicate as one of the uniform datapath.
func (s *selector) uniformPredicate(o ir.Operand) mir.Arg {
	v := vreg.Value(o.Reg)
	s.demand[v] |= demandUniform
	if s.twin[v] == vreg.None {
		s.twin[v] = s.newValue(1, vreg.UniformPredicate)
	}
	return mir.ValueWords(s.twin[v], 0, 1)
}

// lowerWanted lowers a node to the uniform datapath's instructions that uniformOp alone does not ask
// for, and reports whether it is one of those. d is one word.
func (s *selector) lowerWanted(n *hir.Node, d vreg.Value) bool {
	dst := mir.ValueWords(d, 0, 1)
	switch n.Op {
	case ir.Selp:
		s.emit(mir.OpUSEL, dst, s.uniOperand(n.Src[0]), s.uniOperand(n.Src[1]), s.uniformPredicate(n.Src[2]))
	case ir.Bfe:
		t := mir.ValueWords(s.newValue(1, vreg.Uniform), 0, 1)
		s.emit(mir.OpUSHF, t, s.uniOperand(n.Src[0]))
		s.emit(mir.OpUSGXT, dst, t)
	case ir.Shfl:
		s.emit(mir.OpR2UR, dst, s.gprWord(n.Src[0], 0))
	case ir.Add:
		for i := range n.Src {
			x := s.fold(n.Src[i], false)
			switch {
			case x == nil || !s.isWanted(x.Dst[0]):
			case x.Op == ir.Shl && hir.Words(x.Type) == 1 && hir.ShiftCount(x) >= 0:
				s.emit(mir.OpULEA, dst, s.uniOperand(x.Src[0]), s.uniOperand(n.Src[1-i]))
				return true
			case x.Op == ir.Mul && x.Mod&ir.ModWide == 0 && hir.Words(x.Type) == 1:
				s.emit(mir.OpUIMAD, dst, s.uniOperand(x.Src[0]), s.uniOperand(x.Src[1]), s.uniOperand(n.Src[1-i]))
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}
