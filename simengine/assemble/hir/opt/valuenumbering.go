package opt

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Dominator-based value numbering (Briggs, Cooper and Simpson, "Value Numbering", 1997).

// nodeKey identifies a computation.
type nodeKey struct {
	op        ir.Op
	typ, styp ir.Type
	mod       ir.Mod
	cmp       ir.Cmp
	boolOp    ir.BoolOp
	words     uint8 // of its register, which may be wider than the result
	a, b, c   ir.Operand
	cache     ir.CacheOp // of a load
	memory    int32      // of a load from memory that may be written, the state of that memory
}

// numbered is a computation and the node that makes it.
type numbered struct {
	key  nodeKey
	node int32
}

// hash mixes what tells computations apart most.
func (k *nodeKey) hash() uint64 {
	h := uint64(k.op)<<32 ^ uint64(k.typ)<<24 ^ uint64(k.styp)<<16 ^ uint64(k.cmp)<<8 ^ uint64(k.boolOp)
	for _, o := range [...]*ir.Operand{&k.a, &k.b, &k.c} {
		h = (h ^ uint64(o.Reg)<<8 ^ uint64(o.Kind) ^ uint64(o.Special)<<40) * 0x9e3779b97f4a7c15
		h = (h>>29 ^ h ^ uint64(o.Imm) ^ uint64(uint32(o.Param))<<32 ^ uint64(uint32(o.Var))<<48) * 0xbf58476d1ce4e5b9
	}
	return h
}

// NumberValues replaces computations that a dominating node has made by copies, and comparisons of which it has made the
// opposite by its negation, and propagates these.
func NumberValues(f *hir.Func) error {
	table := map[uint64][]numbered{}
	state := int32(0)
	var memory [ir.SharedCluster + 1]int32
	for _, b := range f.Order {
		state++
		memory[ir.Global], memory[ir.Shared] = state, state
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			for i := range n.Src {
				f.Resolve(n, &n.Src[i])
			}
			for _, space := range [...]ir.Space{ir.Global, ir.Shared} {
				if mayWrite(n, space) {
					state++
					memory[space] = state
				}
			}
			key, ok := keyOf(f, n)
			if !ok {
				continue
			}
			if readsMemory(n) {
				key.memory, key.cache = memory[n.Space], f.Kernel.Instrs[n.PC].Cache
			}
			if e := made(f, table, &key, b); e != nil {
				if n.Op == ir.Ld && n.Space != ir.ParamSpace {
					f.Joined = append(f.Joined, n.PC)
				}
				replace(n, ir.Mov, n.Type, e)
				continue
			}
			if opposite, ok := oppositeOf[n.Cmp]; ok && n.Op == ir.Setp && n.Type.IsFloat() && len(n.Src) == 2 {
				other := key
				other.cmp = opposite
				if e := made(f, table, &other, b); e != nil {
					replace(n, ir.Not, ir.Pred, e)
					continue
				}
			}
			hash := key.hash()
			table[hash] = append(table[hash], numbered{key, ni})
		}
	}
	return PropagateCopies(f)
}

// made returns the node that has made a computation where block b begins, nil where none has.
func made(f *hir.Func, table map[uint64][]numbered, key *nodeKey, b int) *hir.Node {
	for _, m := range table[key.hash()] {
		if e := &f.Nodes[m.node]; m.key == *key && f.Dominates(int(e.Block), b) {
			return e
		}
	}
	return nil
}

// replace makes a node an operation on the result of another.
func replace(n *hir.Node, op ir.Op, t ir.Type, e *hir.Node) {
	*n = hir.Node{Op: op, Type: t, PC: n.PC, Block: n.Block, Guard: vreg.None, Dst: n.Dst, Vec: 1,
		Src: []ir.Operand{{Kind: ir.OperandReg, Reg: ir.Reg(e.Dst[0]), Var: -1, Param: -1}}}
}

// oppositeOf are comparisons of floats of which exactly one is true. ptxas makes one of two.
//
// Evidence, ptxas 12.8 for sm_90a: 64 FSETP for 64 error functions, each of which compares as .ge and as .ltu; one of
// .eq and .neu, two of .ge and .lt, and two of all such pairs of integers.
var oppositeOf = map[ir.Cmp]ir.Cmp{
	ir.CmpEQ: ir.CmpNEU, ir.CmpNE: ir.CmpEQU, ir.CmpLT: ir.CmpGEU, ir.CmpLE: ir.CmpGTU, ir.CmpGT: ir.CmpLEU, ir.CmpGE: ir.CmpLTU, ir.CmpNum: ir.CmpNaN,
	ir.CmpNEU: ir.CmpEQ, ir.CmpEQU: ir.CmpNE, ir.CmpGEU: ir.CmpLT, ir.CmpGTU: ir.CmpLE, ir.CmpLEU: ir.CmpGT, ir.CmpLTU: ir.CmpGE, ir.CmpNaN: ir.CmpNum,
}

// keyOf returns the key of a node without effects whose operands never change; false for others.
func keyOf(f *hir.Func, n *hir.Node) (nodeKey, bool) {
	if n.Guard != vreg.None || len(n.Dst) != 1 || n.Dst[0] < 0 || f.Values[n.Dst[0]].Defs != 1 || len(n.Src) > 3 || n.HasEffect() ||
		n.Mod&(ir.ModCarryIn|ir.ModCarryOut) != 0 {
		return nodeKey{}, false
	}
	k := nodeKey{op: n.Op, typ: n.Type, styp: n.SrcType, mod: n.Mod, cmp: n.Cmp, boolOp: n.Bool, words: f.Values[n.Dst[0]].Words}
	switch n.Op {
	case ir.Ld:
		if n.Space != ir.ParamSpace && n.Mod&ir.ModNonCoherent == 0 && !readsMemory(n) || n.Vec != 1 {
			return k, false
		}
	case ir.Mov:
		if len(n.Src) != 1 || n.Src[0].Kind != ir.OperandSpecial || hir.VolatileSpecial(n.Src[0].Special) {
			return k, false
		}
	case ir.Ldu, ir.Activemask, ir.Tex, ir.Txq, ir.Suld:
		return k, false
	}
	ops := [3]*ir.Operand{&k.a, &k.b, &k.c}
	for i, o := range n.Src {
		if o.Reg != ir.NoReg && (o.Kind == ir.OperandReg || o.Kind == ir.OperandAddr) && f.Values[o.Reg].Defs != 1 {
			return k, false
		}
		*ops[i] = o
	}
	if commutes(n.Op) && less(&k.b, &k.a) {
		k.a, k.b = k.b, k.a
	}
	if n.Op == ir.Mul && n.Mod&ir.ModWide != 0 && n.Type == ir.U32 && nonNegative(f, &k.a) && nonNegative(f, &k.b) {
		k.typ = ir.S32
	}
	return k, true
}

// readsMemory reports whether a node is a plain load from memory that threads may write. Of those of a block from one
// address, with nothing between that may write there, ptxas makes one.
//
// Evidence, ptxas 12.8 and 13.0 for sm_90a: one LDG of two, also across stores to shared memory and shuffles; two where
// a store to global memory, an atomic, a copy, a barrier or a fence is between, under a guard, or with another cache
// hint. 4 of 32 that Triton makes of what eight neighbouring elements have in common (groupnorm_silu).
func readsMemory(n *hir.Node) bool {
	return n.Op == ir.Ld && (n.Space == ir.Global || n.Space == ir.Shared) && n.Mod&(ir.ModVolatile|ir.ModRelaxed|ir.ModAcquire|ir.ModMatrix|ir.ModNonCoherent) == 0
}

// mayWrite reports whether memory of a space may be another after a node, or has to be read again.
func mayWrite(n *hir.Node, space ir.Space) bool {
	switch n.Op {
	case ir.St:
		return n.Space == space || n.Space != ir.Global && n.Space != ir.Shared && n.Space != ir.Local
	case ir.Shfl, ir.Vote, ir.Bra, ir.Exit:
		return false
	}
	return n.HasEffect()
}

// commutes reports whether the first two operands of an operation may be exchanged.
func commutes(op ir.Op) bool {
	switch op {
	case ir.Add, ir.Mul, ir.Mad, ir.Fma, ir.And, ir.Or, ir.Xor, ir.Min, ir.Max:
		return true
	}
	return false
}

// less orders operands, for a canonical form.
func less(a, b *ir.Operand) bool {
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	if a.Reg != b.Reg {
		return a.Reg < b.Reg
	}
	return a.Imm < b.Imm
}

// nonNegative reports whether the top bit of a 32-bit operand is known to be clear: small
// constants, thread and block indices.
func nonNegative(f *hir.Func, o *ir.Operand) bool {
	if o.Kind == ir.OperandImm {
		return o.Imm < 1<<31
	}
	if o.Kind != ir.OperandReg {
		return false
	}
	d := f.DefOf(vreg.Value(o.Reg))
	return d != nil && d.Op == ir.Mov && len(d.Src) == 1 && d.Src[0].Kind == ir.OperandSpecial && d.Src[0].Special <= ir.NCTAIdZ
}
