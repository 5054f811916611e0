package assemble

import "github.com/warptune/warptune/simengine/ir"

// propagateCopies replaces uses of registers that only ever hold a copy: of
// another register written once, of a constant, of a variable's address, or of
// a generic address that stands for the same bytes (cvta). Whoever reads the
// negation of a predicate reads the predicate, negated.
func (f *fn) propagateCopies() error {
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			for i := range n.src {
				f.resolve(n, &n.src[i])
			}
			f.resolveGuard(n)
		}
	}
	return nil
}

// resolveGuard follows negations from a node's guard.
func (f *fn) resolveGuard(n *node) {
	for n.guard != noValue {
		d := f.defOf(n.guard)
		if !f.negates(d) {
			return
		}
		n.guard, n.gnot = value(d.src[0].Reg), n.gnot == d.src[0].Not
	}
}

// negates says that a node is nothing but the negation of a predicate.
func (f *fn) negates(d *node) bool {
	return d != nil && d.op == ir.Not && d.typ == ir.Pred && d.guard == noValue && len(d.dst) == 1 && d.src[0].Kind == ir.OperandReg && f.vals[d.src[0].Reg].defs == 1
}

// resolve follows copies from one operand. In an address operand only the base
// register is followed, and constant parts are collected into the offset.
func (f *fn) resolve(user *node, o *ir.Operand) {
	for range 64 {
		if (o.Kind != ir.OperandReg && o.Kind != ir.OperandAddr) || o.Reg == ir.NoReg {
			return
		}
		d := f.defOf(value(o.Reg))
		if d == nil || d.guard != noValue || len(d.dst) != 1 || len(d.src) == 0 {
			return
		}
		s := &d.src[0]
		switch {
		case d.op == ir.Mov && len(d.src) == 1, d.op == ir.Cvta:
			if !f.replaceable(o, s) {
				return
			}
			switch {
			case o.Kind == ir.OperandReg && s.Kind == ir.OperandReg:
				o.Reg = s.Reg
				o.Not = o.Not != s.Not
			case o.Kind == ir.OperandReg:
				*o = *s
			case s.Kind == ir.OperandReg:
				o.Reg = s.Reg
			case s.Kind == ir.OperandImm:
				o.Reg, o.Imm = ir.NoReg, o.Imm+s.Imm
			default: // the address of a variable
				o.Reg, o.Var, o.Imm = ir.NoReg, s.Var, o.Imm+s.Imm
			}
		case o.Kind == ir.OperandReg && f.negates(d):
			o.Reg, o.Not = s.Reg, o.Not == s.Not
		case o.Kind == ir.OperandAddr && d.op == ir.Add && len(d.src) == 2 && words(d.typ) == 2:
			f.resolve(d, &d.src[0])
			f.resolve(d, &d.src[1])
			a, c := &d.src[0], &d.src[1]
			if a.Kind == ir.OperandImm {
				a, c = c, a
			}
			if c.Kind != ir.OperandImm || a.Kind != ir.OperandReg || f.vals[a.Reg].defs != 1 {
				return
			}
			o.Reg, o.Imm = a.Reg, o.Imm+c.Imm
		default:
			return
		}
	}
}

// replaceable says whether an operand that names a copy may name the source.
func (f *fn) replaceable(o, s *ir.Operand) bool {
	switch s.Kind {
	case ir.OperandReg:
		return f.vals[s.Reg].defs <= 1 && f.vals[s.Reg].words == f.vals[o.Reg].words && !(o.Kind == ir.OperandAddr && s.Not)
	case ir.OperandImm:
		return true
	case ir.OperandVar:
		return o.Kind == ir.OperandReg || o.Var < 0 && o.Param < 0
	}
	return false
}

// propagateConstants has copies within a block of what was just set to a constant be
// constants, too: variables that begin with zero are often copied from one that does.
func (f *fn) propagateConstants() error {
	known := map[value]ir.Operand{}
	for _, b := range f.order {
		clear(known)
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if n.op == ir.Mov && len(n.src) == 1 && n.src[0].Kind == ir.OperandReg {
				if c, ok := known[value(n.src[0].Reg)]; ok && words(n.typ) == 1 {
					n.src[0] = c
				}
			}
			for _, d := range n.dst {
				delete(known, d)
			}
			if setsConstant(n) && n.guard == noValue && words(n.typ) == 1 {
				known[n.dst[0]] = n.src[0]
			}
		}
	}
	return nil
}

// nodeKey identifies a computation for value numbering.
type nodeKey struct {
	op        ir.Op
	typ, styp ir.Type
	mod       ir.Mod
	cmp       ir.Cmp
	boolOp    ir.BoolOp
	words     uint8 // of the register, which may be wider than what is computed
	a, b, c   ir.Operand
}

// numbered is a node and what it computes.
type numbered struct {
	key  nodeKey
	node int32
}

// hash mixes what most tells computations apart.
func (k *nodeKey) hash() uint64 {
	h := uint64(k.op)<<32 ^ uint64(k.typ)<<24 ^ uint64(k.styp)<<16 ^ uint64(k.cmp)<<8 ^ uint64(k.boolOp)
	for _, o := range [...]*ir.Operand{&k.a, &k.b, &k.c} {
		h = (h ^ uint64(o.Reg)<<8 ^ uint64(o.Kind) ^ uint64(o.Special)<<40) * 0x9e3779b97f4a7c15
		h = (h>>29 ^ h ^ uint64(o.Imm) ^ uint64(uint32(o.Param))<<32 ^ uint64(uint32(o.Var))<<48) * 0xbf58476d1ce4e5b9
	}
	return h
}

// numberValues removes computations that a dominating node already made.
func (f *fn) numberValues() error {
	table := map[uint64][]numbered{}
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			for i := range n.src {
				f.resolve(n, &n.src[i])
			}
			key, ok := f.keyOf(n)
			if !ok {
				continue
			}
			hash := key.hash()
			found := false
			for _, m := range table[hash] {
				e := &f.nodes[m.node]
				if m.key == key && f.dominates(int(e.block), b) {
					*n = node{op: ir.Mov, typ: n.typ, pc: n.pc, block: n.block, guard: noValue, dst: n.dst, vec: 1,
						src: []ir.Operand{{Kind: ir.OperandReg, Reg: ir.Reg(e.dst[0]), Var: -1, Param: -1}}}
					found = true
					break
				}
			}
			if !found {
				table[hash] = append(table[hash], numbered{key, ni})
			}
		}
	}
	return f.propagateCopies()
}

// keyOf returns the key of a pure node over values that never change.
func (f *fn) keyOf(n *node) (nodeKey, bool) {
	if n.guard != noValue || len(n.dst) != 1 || n.dst[0] < 0 || f.vals[n.dst[0]].defs != 1 || len(n.src) > 3 || n.hasEffect() ||
		n.mod&(ir.ModCarryIn|ir.ModCarryOut) != 0 {
		return nodeKey{}, false
	}
	k := nodeKey{op: n.op, typ: n.typ, styp: n.styp, mod: n.mod, cmp: n.cmp, boolOp: n.boolOp, words: f.vals[n.dst[0]].words}
	switch n.op {
	case ir.Ld:
		if n.space != ir.ParamSpace && n.mod&ir.ModNonCoherent == 0 || n.vec != 1 {
			return k, false
		}
	case ir.Mov:
		if len(n.src) != 1 || n.src[0].Kind != ir.OperandSpecial || volatileSpecial(n.src[0].Special) {
			return k, false
		}
	case ir.Ldu, ir.Activemask:
		return k, false
	}
	ops := [3]*ir.Operand{&k.a, &k.b, &k.c}
	for i, o := range n.src {
		if o.Reg != ir.NoReg && (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && f.vals[o.Reg].defs != 1 {
			return k, false
		}
		*ops[i] = o
	}
	if commutes(n.op) && less(&k.b, &k.a) {
		k.a, k.b = k.b, k.a
	}
	if n.op == ir.Mul && n.mod&ir.ModWide != 0 && n.typ == ir.U32 && f.nonNegative(&k.a) && f.nonNegative(&k.b) {
		k.typ = ir.S32
	}
	return k, true
}

// commutes says whether an operation's first two operands may be exchanged.
func commutes(op ir.Op) bool {
	switch op {
	case ir.Add, ir.Mul, ir.Mad, ir.Fma, ir.And, ir.Or, ir.Xor, ir.Min, ir.Max:
		return true
	}
	return false
}

// less is an order of operands, for a canonical form.
func less(a, b *ir.Operand) bool {
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	if a.Reg != b.Reg {
		return a.Reg < b.Reg
	}
	return a.Imm < b.Imm
}

// nonNegative says whether a 32-bit operand is known to have its top bit clear:
// a small constant or a thread or block index.
func (f *fn) nonNegative(o *ir.Operand) bool {
	if o.Kind == ir.OperandImm {
		return o.Imm < 1<<31
	}
	if o.Kind != ir.OperandReg {
		return false
	}
	d := f.defOf(value(o.Reg))
	return d != nil && d.op == ir.Mov && len(d.src) == 1 && d.src[0].Kind == ir.OperandSpecial && d.src[0].Special <= ir.NCTAIdZ
}

// volatileSpecial says whether a special register changes while a kernel runs.
func volatileSpecial(s ir.Special) bool {
	switch s {
	case ir.Clock, ir.ClockHi, ir.Clock64, ir.GlobalTimer:
		return true
	}
	return false
}
