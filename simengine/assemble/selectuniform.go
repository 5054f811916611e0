package assemble

import "github.com/warptune/warptune/simengine/ir"

// uniformVariables moves loop counters and the like to the uniform file when
// every writer can be a uniform instruction and no reader needs its second
// non-register operand slot.
func (s *selector) uniformVariables() {
	f := s.f
	ok := make([]bool, len(f.vals))
	for v := range ok {
		vi := &f.vals[v]
		ok[v] = vi.uniform && vi.defs > 1 && vi.words <= 2 && vi.file == fileGeneral
	}
	s.eachNode(func(n *node) {
		for _, d := range n.dst {
			if d >= 0 && ok[d] && (!s.recurrence(n) || !s.uniformOp(n) || !s.uniformSources(n, ok)) {
				ok[d] = false
			}
		}
		for i := range n.src {
			o := &n.src[i]
			if o.Kind == ir.OperandReg && o.Reg != ir.NoReg && ok[o.Reg] && !s.readsUniform(n, i) {
				ok[o.Reg] = false
			}
			if o.Kind == ir.OperandAddr && o.Reg != ir.NoReg && n.space != ir.Const && !s.uniformBase(n) {
				ok[o.Reg] = false
			}
		}
	})
	for v := range ok {
		if ok[v] {
			f.vals[v].file = fileUniform
		}
	}
}

// uniformBase says whether an access takes its whole address from a uniform
// register, as the real assembler's loads from shared memory do on sm_90.
func (s *selector) uniformBase(n *node) bool {
	return n.op == ir.Ld && n.space == ir.Shared && s.f.t.sharedWindow
}

// recurrence says whether a node starts or steps a counter: it copies a
// constant or a parameter, or adds a constant.
func (s *selector) recurrence(n *node) bool {
	switch n.op {
	case ir.Mov, ir.Cvta:
		return n.guard == noValue && n.src[0].Kind != ir.OperandSpecial
	case ir.Add:
		return n.guard == noValue && n.src[1].Kind == ir.OperandImm
	}
	return false
}

// uniformSources says whether a node reads only constants, parameters and
// values that are or may become uniform registers.
func (s *selector) uniformSources(n *node, ok []bool) bool {
	for i := range n.src {
		o := &n.src[i]
		if o.Kind == ir.OperandReg && !s.f.vals[o.Reg].uniform {
			return false
		}
		if o.Kind == ir.OperandReg && !ok[o.Reg] {
			d := s.f.defOf(value(o.Reg))
			if d == nil || !s.uniformOp(d) {
				return false
			}
		}
	}
	return true
}

// readsUniform says whether a node can take its i-th source from a uniform
// register: integer and fp32 arithmetic with no other non-register operand.
func (s *selector) readsUniform(n *node, i int) bool {
	if words(n.typ) == 2 && n.op == ir.Add {
		return true // moved to general registers where a product is added
	}
	all := true
	for j := range n.src {
		o := &n.src[j]
		if j != i && o.Kind == ir.OperandImm && n.op != ir.Shl && n.op != ir.Shr && o.Imm != 0 {
			all = false
		}
	}
	if all {
		switch n.op {
		case ir.Add, ir.Sub, ir.Mul, ir.Mad, ir.And, ir.Or, ir.Xor, ir.Min, ir.Max, ir.Setp, ir.Cvt, ir.Shl, ir.Shr, ir.Selp, ir.Mov, ir.Fma:
			return true
		}
	}
	if n.op == ir.Setp {
		return false
	}
	return s.uniformOp(n) && len(n.dst) == 1 && n.dst[0] >= 0 && s.f.vals[n.dst[0]].uniform
}

// uniformOp says whether the uniform datapath has an instruction for a node.
func (s *selector) uniformOp(n *node) bool {
	if !s.f.t.uniform || n.guard != noValue || len(n.dst) != 1 || s.f.blocks[n.block].split && !loads(n) {
		return false
	}
	for i := range n.src {
		if o := &n.src[i]; o.Kind == ir.OperandReg && s.general(value(o.Reg)) {
			return false
		}
	}
	switch n.op {
	case ir.Ld:
		return n.vec == 1 && (words(n.typ) == 1 && n.space == ir.ParamSpace || n.space == ir.Const && s.uniformAddress(n))
	case ir.Cvta:
		return true
	case ir.Mov:
		return len(n.src) == 1 && (n.src[0].Kind != ir.OperandSpecial || s2ur(n.src[0].Special))
	case ir.Shl:
		return isInt(n.typ) && (words(n.typ) == 1 || shiftCount(n) >= 0)
	case ir.Add, ir.Sub, ir.Shr, ir.And, ir.Or, ir.Xor, ir.Not, ir.Neg:
		return isInt(n.typ) && (words(n.typ) == 1 || n.op == ir.Add) && n.mod&(ir.ModCarryIn|ir.ModCarryOut) == 0
	case ir.Mul, ir.Mad:
		if n.op == ir.Mul && n.mod&ir.ModWide != 0 {
			return bits32(n)
		}
		return isInt(n.typ) && words(n.typ) == 1 && n.mod&(ir.ModHi|ir.ModWide|ir.ModCarryIn|ir.ModCarryOut) == 0
	case ir.Cvt:
		return isInt(n.typ) && isInt(n.styp) && bits(n.styp) == 32 && (bits(n.typ) == 32 || bits(n.typ) == 64)
	}
	return false
}

// loads says whether a node only brings a constant or a parameter into a
// register. The uniform datapath does no more than that where a warp may have
// split: of 2,700 UIADD3, USHF, ULOP3 and UISETP in the sm_90 machine code of 21
// kernels 20 stand between a BSSY's branch and its BSYNC, of 8,900 ULDC and UMOV
// 1,200.
func loads(n *node) bool {
	switch n.op {
	case ir.Ld, ir.Cvta:
		return true
	case ir.Mov:
		return len(n.src) == 1 && n.src[0].Kind != ir.OperandSpecial
	}
	return false
}

// general says whether a value must be had in a general register anyway, so
// that what is computed from it stays there too: an instruction compares it
// with a constant, which takes the slot a uniform register would need, or it
// is itself computed from such a value. So is one that is computed from itself
// alone, which nothing ever wrote.
func (s *selector) general(v value) bool {
	if s.f.vals[v].file == fileUniform {
		return false
	}
	if s.hard[v] || s.asked[v] {
		return true
	}
	d := s.f.defOf(v)
	if d == nil {
		return s.f.vals[v].defs > 1 && s.settled
	}
	s.asked[v] = true
	is := d.op != ir.Ld && !s.uniformOp(d)
	s.asked[v] = false
	return is
}

// findHard marks parameters that some comparison with a constant reads.
func (s *selector) findHard() {
	s.hard, s.asked = make([]bool, len(s.f.vals)), make([]bool, len(s.f.vals))
	for _, b := range s.f.order {
		for _, ni := range s.f.blocks[b].nodes {
			n := &s.f.nodes[ni]
			if n.op != ir.Setp || len(n.src) < 2 || n.src[0].Kind != ir.OperandReg || n.src[1].Kind != ir.OperandImm || n.src[1].Imm == 0 {
				continue
			}
			if d := s.f.defOf(value(n.src[0].Reg)); d != nil && isParam(d) {
				s.hard[n.src[0].Reg] = true
			}
		}
	}
}

// uniformAddress says whether a constant memory address is a constant or in a
// uniform register.
func (s *selector) uniformAddress(n *node) bool {
	o := s.uniformIndex(n)
	return o.Reg == ir.NoReg || s.f.vals[o.Reg].file == fileUniform
}

// uniformIndex is the address operand of a load from constant memory, of the node being
// lowered without the address of the variable that it indexes.
func (s *selector) uniformIndex(n *node) ir.Operand {
	if o := n.src[0]; n != s.n || o.Reg == ir.NoReg || s.f.vals[o.Reg].file == fileUniform {
		return o
	}
	return s.constIndex(n)
}

// residesUniform says whether a value that the uniform datapath computes stays in its
// registers: an instruction that takes general registers only gets a copy of its own.
func (s *selector) residesUniform(v value) bool {
	vi := &s.f.vals[v]
	if !vi.uniform || vi.defs != 1 || vi.file != fileGeneral {
		return false
	}
	d := s.f.defOf(v)
	return d != nil && d.op != ir.Ld && d.op != ir.Cvta && d.op != ir.Mov && s.f.blocks[s.b].depth > s.f.blocks[d.block].depth && s.uniformOp(d) && !s.ofSpecials(d)
}

// ofSpecials says whether a node has nothing but special registers and constants to
// compute with: those are read into general registers (a CTA's first column is, in the
// machine code of datasets/h200-2026-11-22-project-c wave3d).
func (s *selector) ofSpecials(n *node) bool {
	for i := range n.src {
		if n.src[i].Kind != ir.OperandReg {
			continue
		}
		if d := s.f.defOf(value(n.src[i].Reg)); d == nil || d.op != ir.Mov || d.src[0].Kind != ir.OperandSpecial {
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
