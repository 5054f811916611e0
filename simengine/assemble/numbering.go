package assemble

import "github.com/warptune/warptune/simengine/ir"

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
func (f *hfn) numberValues() error {
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
func (f *hfn) keyOf(n *node) (nodeKey, bool) {
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
func (f *hfn) nonNegative(o *ir.Operand) bool {
	if o.Kind == ir.OperandImm {
		return o.Imm < 1<<31
	}
	if o.Kind != ir.OperandReg {
		return false
	}
	d := f.defOf(value(o.Reg))
	return d != nil && d.op == ir.Mov && len(d.src) == 1 && d.src[0].Kind == ir.OperandSpecial && d.src[0].Special <= ir.NCTAIdZ
}
