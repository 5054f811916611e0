package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// uniformVariables moves loop counters and the like to the uniform file when
// every writer can be a uniform instruction and no reader needs its second
// non-register operand slot.
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

// uniformBase says whether an access takes its whole address from a uniform
// register, as the real assembler's loads from shared memory do on sm_90.
func (s *selector) uniformBase(n *hir.Node) bool {
	return n.Op == ir.Ld && n.Space == ir.Shared && s.hir.Target.SharedWindow
}

// recurrence says whether a node starts or steps a counter: it copies a
// constant or a parameter, or adds a constant.
func (s *selector) recurrence(n *hir.Node) bool {
	switch n.Op {
	case ir.Mov, ir.Cvta:
		return n.Guard == vreg.None && n.Src[0].Kind != ir.OperandSpecial
	case ir.Add:
		return n.Guard == vreg.None && n.Src[1].Kind == ir.OperandImm
	}
	return false
}

// uniformSources says whether a node reads only constants, parameters and
// values that are or may become uniform registers.
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

// readsUniform says whether a node can take its i-th source from a uniform
// register: integer and fp32 arithmetic with no other non-register operand.
func (s *selector) readsUniform(n *hir.Node, i int) bool {
	if hir.Words(n.Type) == 2 && n.Op == ir.Add {
		return true // moved to general registers where a product is added
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

// uniformOp says whether the uniform datapath has an instruction for a node.
func (s *selector) uniformOp(n *hir.Node) bool {
	if !s.hir.Target.Uniform || n.Guard != vreg.None || len(n.Dst) != 1 || s.hir.Blocks[n.Block].Partial && !loads(n) {
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
		return hir.IsInt(n.Type) && hir.Words(n.Type) == 1 && n.Mod&(ir.ModHi|ir.ModWide|ir.ModCarryIn|ir.ModCarryOut) == 0
	case ir.Cvt:
		return hir.IsInt(n.Type) && hir.IsInt(n.SrcType) && hir.Bits(n.SrcType) == 32 && (hir.Bits(n.Type) == 32 || hir.Bits(n.Type) == 64)
	}
	return false
}

// loads says whether a node only brings a constant or a parameter into a
// register. The uniform datapath does no more than that where a warp may have
// split: of 2,700 UIADD3, USHF, ULOP3 and UISETP in the sm_90 machine code of 21
// kernels 20 stand between a BSSY's branch and its BSYNC, of 8,900 ULDC and UMOV
// 1,200.
func loads(n *hir.Node) bool {
	switch n.Op {
	case ir.Ld, ir.Cvta:
		return true
	case ir.Mov:
		return len(n.Src) == 1 && n.Src[0].Kind != ir.OperandSpecial
	}
	return false
}

// needsGeneral says whether a value must be had in a general register anyway, so
// that what is computed from it stays there too: an instruction compares it
// with a constant, which takes the slot a uniform register would need, or it
// is itself computed from such a value. So is one that is computed from itself
// alone, which nothing ever wrote.
func (s *selector) needsGeneral(v vreg.Value) bool {
	if s.hir.Values[v].File == vreg.Uniform {
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

// findComparedWithConst marks parameters that some comparison with a constant reads.
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

// uniformAddress says whether a constant memory address is a constant or in a
// uniform register.
func (s *selector) uniformAddress(n *hir.Node) bool {
	o := s.uniformIndex(n)
	return o.Reg == ir.NoReg || s.hir.Values[o.Reg].File == vreg.Uniform
}

// uniformIndex is the address operand of a load from constant memory, of the node being
// lowered without the address of the variable that it indexes.
func (s *selector) uniformIndex(n *hir.Node) ir.Operand {
	if o := n.Src[0]; n != s.n || o.Reg == ir.NoReg || s.hir.Values[o.Reg].File == vreg.Uniform {
		return o
	}
	return s.constIndex(n)
}

// residesUniform says whether a value that the uniform datapath computes stays in its
// registers: an instruction that takes general registers only gets a copy of its own.
func (s *selector) residesUniform(v vreg.Value) bool {
	vi := &s.hir.Values[v]
	if !vi.Uniform || vi.Defs != 1 || vi.File != vreg.General {
		return false
	}
	d := s.hir.DefOf(v)
	return d != nil && d.Op != ir.Ld && d.Op != ir.Cvta && d.Op != ir.Mov && s.hir.Blocks[s.b].LoopDepth > s.hir.Blocks[d.Block].LoopDepth && s.uniformOp(d) && !s.onlySpecials(d)
}

// onlySpecials says whether a node has nothing but special registers and constants to
// compute with: those are read into general registers (a CTA's first column is, in the
// machine code of validation/fifth wave3d).
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

// s2ur says whether a special register can be read into a uniform one.
func s2ur(sp ir.Special) bool {
	switch sp {
	case ir.CTAIdX, ir.CTAIdY, ir.CTAIdZ, ir.NTidX, ir.NTidY, ir.NTidZ, ir.NCTAIdX, ir.NCTAIdY, ir.NCTAIdZ:
		return true
	}
	return false
}
