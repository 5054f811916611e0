package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Which values reside in uniform registers.

// uniformVariables moves loop counters and the like to the uniform file if every definition can be
// a uniform instruction and every reader has its flexible slot free.
func (s *selector) uniformVariables() {
	f := s.hir
	ok := make([]bool, len(f.Values))
	for v := range ok {
		vi := &f.Values[v]
		ok[v] = vi.Uniform && vi.Defs > 1 && vi.Words <= 2 && vi.File == vreg.General
	}
	s.eachNode(func(n *hir.Node) {
		for _, d := range n.Dst {
			if d >= 0 && ok[d] && (!s.recurrence(n) || !s.uniformOp(n) || !s.uniformSources(n, ok)) {
				ok[d] = false
			}
		}
		for i := range n.Src {
			o := &n.Src[i]
			if o.Kind == ir.OperandReg && o.Reg != ir.NoReg && ok[o.Reg] && !s.readsUniform(n, i) {
				ok[o.Reg] = false
			}
			if o.Kind == ir.OperandAddr && o.Reg != ir.NoReg && n.Space != ir.Const && !s.uniformBase(n) {
				ok[o.Reg] = false
			}
		}
	})
	for v := range ok {
		if ok[v] {
			f.Values[v].File = vreg.Uniform
		}
	}
}

// uniformBase reports whether an access takes its whole address from a uniform register, as loads
// from shared memory do on Hopper.
func (s *selector) uniformBase(n *hir.Node) bool {
	return n.Op == ir.Ld && n.Space == ir.Shared && s.hir.Target.SharedWindow
}

// recurrence reports whether a node starts or steps a counter: it copies a constant or a parameter,
// or adds a constant. In PTX for one architecture whatever the uniform datapath computes may: a place that starts
// at a multiple of the CTA's index and that a stride steps stays there, and so does what is computed of it.
//
// Evidence, ptxas corpus (softmax_grid of h100-2026-11-26-triton-wgmma-a, a row's number stepped by the number of
// programs): 16 of 18 register counts are within 10 % so, and 6 if such variables are in general registers.
func (s *selector) recurrence(n *hir.Node) bool {
	if s.hir.Target.Specific {
		return true
	}
	switch n.Op {
	case ir.Mov, ir.Cvta:
		return n.Guard == vreg.None && n.Src[0].Kind != ir.OperandSpecial
	case ir.Add:
		return n.Guard == vreg.None && n.Src[1].Kind == ir.OperandImm
	}
	return false
}

// uniformSources reports whether a node reads only constants, parameters and values that are or may
// become uniform. ok says, by value, which variables may.
func (s *selector) uniformSources(n *hir.Node, ok []bool) bool {
	for i := range n.Src {
		o := &n.Src[i]
		if o.Kind == ir.OperandReg && !s.hir.Values[o.Reg].Uniform {
			return false
		}
		if o.Kind == ir.OperandReg && !ok[o.Reg] {
			d := s.hir.DefOf(vreg.Value(o.Reg))
			if d == nil || !s.uniformOp(d) {
				return false
			}
		}
	}
	return true
}

// readsUniform reports whether a node can read source i from a uniform register.
func (s *selector) readsUniform(n *hir.Node, i int) bool {
	if hir.Words(n.Type) == 2 && n.Op == ir.Add {
		return true // moved to general registers for a multiply-add
	}
	all := true
	for j := range n.Src {
		o := &n.Src[j]
		if j != i && o.Kind == ir.OperandImm && n.Op != ir.Shl && n.Op != ir.Shr && o.Imm != 0 {
			all = false
		}
	}
	if all {
		switch n.Op {
		case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.And, ir.Or, ir.Xor, ir.Min, ir.Max, ir.Setp, ir.Cvt, ir.Shl, ir.Shr, ir.Selp, ir.Mov, ir.Fma:
			return true
		}
	}
	if n.Op == ir.Setp {
		return false
	}
	return s.uniformOp(n) && len(n.Dst) == 1 && n.Dst[0] >= 0 && s.hir.Values[n.Dst[0]].Uniform
}

// uniformOp reports whether the uniform datapath has an instruction for a node.
func (s *selector) uniformOp(n *hir.Node) bool {
	if len(n.Dst) == 1 && s.isWanted(n.Dst[0]) {
		return true
	}
	if !s.hir.Target.Uniform || n.Guard != vreg.None || len(n.Dst) != 1 || s.apart(int(n.Block)) && !loads(n) {
		return false
	}
	for i := range n.Src {
		if o := &n.Src[i]; o.Kind == ir.OperandReg && s.needsGeneral(vreg.Value(o.Reg)) {
			return false
		}
	}
	switch n.Op {
	case ir.Ld:
		return n.Vec == 1 && (hir.Words(n.Type) == 1 && n.Space == ir.ParamSpace || n.Space == ir.Const && s.uniformAddress(n))
	case ir.Cvta:
		return true
	case ir.Mov:
		return len(n.Src) == 1 && (n.Src[0].Kind != ir.OperandSpecial || s2ur(n.Src[0].Special))
	case ir.Shl:
		return hir.IsInt(n.Type) && (hir.Words(n.Type) == 1 || hir.ShiftCount(n) >= 0)
	case ir.Add, ir.Sub, ir.Shr, ir.And, ir.Or, ir.Xor, ir.Not, ir.Neg:
		return hir.IsInt(n.Type) && (hir.Words(n.Type) == 1 || n.Op == ir.Add) && n.Mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
	case ir.Mul, ir.Mad:
		if n.Op == ir.Mul && n.Mod&ir.ModWide != 0 {
			return hir.Is32Bit(n)
		}
		if s.isUniformLEA(n) {
			return true
		}
		return hir.IsInt(n.Type) && hir.Words(n.Type) == 1 && n.Mod&(ir.ModHi|ir.ModWide|ir.ModCarryIn|ir.ModCarryOut) == 0
	case ir.Cvt:
		return hir.IsInt(n.Type) && hir.IsInt(n.SrcType) && hir.Bits(n.SrcType) == 32 && (hir.Bits(n.Type) == 32 || hir.Bits(n.Type) == 64)
	}
	return false
}

// isUniformLEA reports whether a node is a mad.wide that becomes ULEA and ULEA.HI.X where its operands allow it.
func (s *selector) isUniformLEA(n *hir.Node) bool {
	return s.hir.Target.Specific && n.Op == ir.Mad && n.Mod&ir.ModWide != 0 && hir.Is32Bit(n) && s.shiftsWide(n.Src[1], n.Src[2])
}

// loads reports whether a node only loads a constant or a parameter. Where a warp may be split, the
// uniform datapath does no more.
//
// Evidence, ptxas corpus: in 21 kernels for sm_90, 20 of 2,700 UIADD3, USHF, ULOP3 and UISETP stand
// in divergent regions, and 1,200 of 8,900 ULDC and UMOV.
func loads(n *hir.Node) bool {
	switch n.Op {
	case ir.Ld, ir.Cvta:
		return true
	case ir.Mov:
		return len(n.Src) == 1 && n.Src[0].Kind != ir.OperandSpecial
	}
	return false
}

// needsGeneral reports whether a value is in a general register anyway, and so is what is computed from it. It is
// where a comparison with an immediate reads it, which takes the flexible slot, and where it is computed from such a
// value or from itself alone.
func (s *selector) needsGeneral(v vreg.Value) bool {
	if s.hir.Values[v].File == vreg.Uniform || s.isWanted(v) {
		return false
	}
	if s.comparedWithConst[v] || s.visiting[v] {
		return true
	}
	d := s.hir.DefOf(v)
	if d == nil {
		return s.hir.Values[v].Defs > 1 && s.filesDecided
	}
	s.visiting[v] = true
	is := d.Op != ir.Ld && !s.uniformOp(d)
	s.visiting[v] = false
	return is
}

// findComparedWithConst marks parameters that are compared with an immediate.
func (s *selector) findComparedWithConst() {
	s.comparedWithConst, s.visiting = make([]bool, len(s.hir.Values)), make([]bool, len(s.hir.Values))
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			n := &s.hir.Nodes[ni]
			if n.Op != ir.Setp || len(n.Src) < 2 || n.Src[0].Kind != ir.OperandReg || n.Src[1].Kind != ir.OperandImm || n.Src[1].Imm == 0 {
				continue
			}
			if d := s.hir.DefOf(vreg.Value(n.Src[0].Reg)); d != nil && hir.IsParam(d) {
				s.comparedWithConst[n.Src[0].Reg] = true
			}
		}
	}
}

// uniformAddress reports whether an address in constant memory is a constant or in a uniform
// register.
func (s *selector) uniformAddress(n *hir.Node) bool {
	o := s.uniformIndex(n)
	return o.Reg == ir.NoReg || s.hir.Values[o.Reg].File == vreg.Uniform
}

// uniformIndex is the address operand of a load from constant memory; for the node being lowered,
// without the address of the variable that it indexes.
func (s *selector) uniformIndex(n *hir.Node) ir.Operand {
	if o := n.Src[0]; n != s.n || o.Reg == ir.NoReg || s.hir.Values[o.Reg].File == vreg.Uniform {
		return o
	}
	return s.constIndex(n)
}

// residesUniform reports whether a value computed on the uniform datapath stays there: an
// instruction that takes general registers only gets a copy of its own.
func (s *selector) residesUniform(v vreg.Value) bool {
	vi := &s.hir.Values[v]
	if !vi.Uniform || vi.Defs != 1 || vi.File != vreg.General {
		return false
	}
	d := s.hir.DefOf(v)
	if d != nil && s.isUniformLEA(d) && s.uniformOp(d) {
		return true
	}
	return d != nil && d.Op != ir.Ld && d.Op != ir.Cvta && d.Op != ir.Mov && s.hir.Blocks[s.b].LoopDepth > s.hir.Blocks[d.Block].LoopDepth && s.uniformOp(d) && !s.onlySpecials(d)
}

// onlySpecials reports whether a node computes from special registers and constants only. These are
// read into general registers (kernels: wave3d).
func (s *selector) onlySpecials(n *hir.Node) bool {
	for i := range n.Src {
		if n.Src[i].Kind != ir.OperandReg {
			continue
		}
		if d := s.hir.DefOf(vreg.Value(n.Src[i].Reg)); d == nil || d.Op != ir.Mov || d.Src[0].Kind != ir.OperandSpecial {
			return false
		}
	}
	return true
}

// s2ur reports whether a special register can be read into a uniform one.
func s2ur(sp ir.Special) bool {
	switch sp {
	case ir.CTAIdX, ir.CTAIdY, ir.CTAIdZ, ir.NTidX, ir.NTidY, ir.NTidZ, ir.NCTAIdX, ir.NCTAIdY, ir.NCTAIdZ:
		return true
	}
	return false
}

// demandVariables marks all variables that are read as demanded, since a reader may come round a
// loop, and chooses the register file of each.
func (s *selector) demandVariables() {
	f := s.hir
	upper := f.UpperWords()
	for _, b := range f.Order {
		guarded := map[vreg.Value]int32{}
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			for _, d := range n.Dst {
				if d < 0 || f.Values[d].Defs < 2 || n.Guard == vreg.None {
					continue
				}
				s.keep[ni] = true
				if m, ok := guarded[d]; ok && f.Nodes[m].Guard == n.Guard && f.Nodes[m].GuardNot != n.GuardNot {
					s.keep[m] = false
				} else if !ok {
					guarded[d] = ni
				}
			}
			for i := range n.Src {
				if o := &n.Src[i]; (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && o.Reg != ir.NoReg && f.Values[o.Reg].Defs > 1 {
					s.demand[o.Reg] |= demandLow
					if upper[o.Reg] {
						s.demand[o.Reg] |= demandHigh
					}
				}
			}
			if n.Guard != vreg.None {
				s.demand[n.Guard] |= demandLow
			}
		}
	}
	s.findComparedWithConst()
	if f.Target.Specific {
		s.findWanted()
	}
	if f.Target.Uniform {
		s.uniformVariables()
	}
	s.filesDecided = true
	if f.Target.Uniform && f.Target.Uses(rules.UniformInduction) {
		s.uniformPointers()
	}
}

// isDemanded reports whether a node must be lowered: it has an effect, or its result is demanded.
func (s *selector) isDemanded(n *hir.Node) bool {
	if n.HasEffect() && !(s.hir.Target.Specific && n.Op == ir.Shfl && n.OfAllLanes()) {
		return true
	}
	for _, d := range n.Dst {
		if d >= 0 && s.demand[d] != 0 {
			return true
		}
	}
	return false
}
