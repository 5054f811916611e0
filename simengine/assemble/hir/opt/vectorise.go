package opt

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Vector accesses (superword-level parallelism of adjacent accesses: Larsen and Amarasinghe, PLDI
// 2000).
//
// Loads from adjacent addresses in shared or constant memory become one load at the place of the
// first, if the address is known to be aligned and nothing in between may have written there.
// Stores to shared memory that follow each other become one store at the place of the last. The
// others have no machine instruction.
//
// Evidence, ptxas corpus: two LDS.64 of CLBlast's matrix product are one LDS.128 for sm_90.
// Kernels: walsh (stores).

// Bytes a lane that a joined access moves at most: LDS.128; LDC.64; LDS.64 and STS.64 of halves.
const (
	widestShared   = 16
	widestConstant = 8
	widestHalves   = 8
)

// accessKey is what accesses that may be joined have in common.
type accessKey struct {
	space ir.Space
	typ   ir.Type
	reg   ir.Reg
	vr    int32
	guard vreg.Value
	gnot  bool
}

// openAccess is an access that later ones could join.
type openAccess struct {
	key    accessKey
	at     int    // index in the block
	offset uint64 // bytes
	size   uint64 // bytes a lane
}

// Vectorise joins accesses, block by block.
func Vectorise(f *hir.Func) error {
	j := vectoriser{f: f, based: make([]bool, len(f.Values))}
	for _, b := range f.Order {
		j.block(&f.Blocks[b])
	}
	f.CountDefs()
	return nil
}

// vectoriser joins the accesses of a block.
type vectoriser struct {
	f      *hir.Func
	nodes  []int32
	open   []openAccess // loads
	stores []openAccess // stores
	based  []bool       // by value: an open access depends on it
	align  []uint8      // by value, nil: not computed yet
	whole  []bool       // of readWholeWords, nil: not computed yet
	made   bool         // some accesses were joined
	paired []int        // indices in the block of joined accesses of halves
}

// block joins the accesses of one block.
func (j *vectoriser) block(hb *hir.Block) {
	f := j.f
	j.nodes, j.made, j.paired = hb.Nodes, false, j.paired[:0]
	for i, ni := range hb.Nodes {
		n := &f.Nodes[ni]
		if ordersShared(n) || callsRoutine(n) {
			j.flush(&j.open)
		} else if l, ok := j.joinable(n, i); ok {
			j.add(&j.open, l)
		}
		if st, ok := joinableStore(f, n, i); ok {
			if !j.continues(st) {
				j.flush(&j.stores)
			}
			j.add(&j.stores, st)
		} else if ordersShared(n) || callsRoutine(n) || n.Op == ir.Ld && (n.Space == ir.Shared || n.Space == ir.Generic) || n.Op == ir.Bra {
			j.flush(&j.stores)
		}
		for _, d := range n.Dst {
			if d >= 0 && j.based[d] && f.Values[d].Defs > 1 {
				j.flush(&j.open)
				j.flush(&j.stores)
			}
		}
	}
	j.flush(&j.open)
	j.flush(&j.stores)
	if len(j.paired) > 0 {
		hb.Nodes = j.pairUp()
	}
	if j.made {
		hb.Nodes = slices.DeleteFunc(hb.Nodes, func(ni int32) bool { return f.Nodes[ni].Op == ir.Nop })
	}
}

// callsRoutine reports whether a node branches to the routine of a slow path. ptxas joins nothing
// across it (kernels: trsm_cols).
func callsRoutine(n *hir.Node) bool {
	return n.PC >= 0 && ir.HasSlowPath(&ir.Instr{Op: n.Op, Type: n.Type, Mod: n.Mod})
}

// add opens an access.
func (j *vectoriser) add(list *[]openAccess, a openAccess) {
	*list = append(*list, a)
	j.base(a, true)
}

// base marks what an open access depends on.
func (j *vectoriser) base(a openAccess, open bool) {
	for _, v := range [...]vreg.Value{vreg.Value(a.key.reg), a.key.guard} {
		if v >= 0 {
			j.based[v] = open
		}
	}
}

// continues reports whether a store goes on with the open ones: the same address, another offset.
func (j *vectoriser) continues(st openAccess) bool {
	for _, o := range j.stores {
		if o.key != st.key || o.offset == st.offset {
			return false
		}
	}
	return true
}

// flush joins what it can among open accesses and closes them.
func (j *vectoriser) flush(list *[]openAccess) {
	if len(*list) > 1 {
		if j.align == nil {
			j.align = j.f.Alignments()
		}
		j.join(*list)
	}
	for _, a := range *list {
		j.base(a, false)
	}
	*list = (*list)[:0]
	for _, a := range j.open {
		j.base(a, true)
	}
	for _, a := range j.stores {
		j.base(a, true)
	}
}

// ordersShared reports whether loads from shared memory may not move across a node.
func ordersShared(n *hir.Node) bool {
	switch n.Op {
	case ir.Ld, ir.Ldu, ir.Shfl, ir.Vote, ir.Bra, ir.Exit:
		return n.Mod&ir.ModVolatile != 0
	case ir.St, ir.Atom, ir.Red, ir.CpAsync:
		return n.Space == ir.Shared || n.Space == ir.Generic || n.Op == ir.CpAsync
	}
	return n.HasEffect()
}

// joinable describes node i of a block if it is a load that could be joined.
func (j *vectoriser) joinable(n *hir.Node, i int) (openAccess, bool) {
	f := j.f
	if n.Op != ir.Ld || n.Else != nil || n.Space != ir.Shared && n.Space != ir.Const || n.Vec > 2 || len(n.Dst) != int(n.Vec) || slices.ContainsFunc(n.Dst, func(v vreg.Value) bool { return isWrittenElsewhere(f, v) }) || n.Mod&(ir.ModVolatile|ir.ModAcquire|ir.ModMatrix) != 0 {
		return openAccess{}, false
	}
	if n.Space == ir.Const && n.Src[0].Reg == ir.NoReg && f.Target.ConstOperand {
		return openAccess{}, false // read as an operand
	}
	switch w := hir.Bits(n.Type) / 8; {
	case n.Vec == 2 && (w != 4 || n.Space != ir.Shared):
		return openAccess{}, false
	case w == 2:
		if !f.Target.Uses(rules.HalfVectors) || n.Space != ir.Shared || n.Guard != vreg.None || f.Target.CC[0] < 7 || j.readWhole(n.Dst[0]) {
			return openAccess{}, false
		}
	case w != 4 && w != 8 || int(f.Values[n.Dst[0]].Words)*4 != w:
		return openAccess{}, false
	}
	return accessOf(n, i), true
}

// isWrittenElsewhere reports whether v has other definitions than a load, or is none.
func isWrittenElsewhere(f *hir.Func, v vreg.Value) bool { return v < 0 || f.Values[v].Defs != 1 }

// joinableStore describes node i of a block if it is a store that could be joined.
func joinableStore(f *hir.Func, n *hir.Node, i int) (openAccess, bool) {
	if n.Op != ir.St || n.Space != ir.Shared || n.Vec != 1 || len(n.Src) != 2 || n.Mod&(ir.ModVolatile|ir.ModRelease|ir.ModMatrix) != 0 {
		return openAccess{}, false
	}
	x := &n.Src[1]
	w := hir.Bits(n.Type) / 8
	if w != 2 && w != 4 && w != 8 || x.Kind != ir.OperandReg || f.Values[x.Reg].Defs != 1 || int(f.Values[x.Reg].Words) != (w+3)/4 {
		return openAccess{}, false
	}
	if w == 2 && (n.Guard != vreg.None || !f.Target.Uses(rules.HalfVectors)) {
		return openAccess{}, false
	}
	return accessOf(n, i), true
}

// accessOf is the access of node i of a block.
func accessOf(n *hir.Node, i int) openAccess {
	o := &n.Src[0]
	key := accessKey{n.Space, n.Type, o.Reg, o.Var, n.Guard, n.GuardNot}
	return openAccess{key, i, o.Imm, uint64(hir.Bits(n.Type)/8) * uint64(n.Vec)}
}

// join makes wide accesses of loads that may move to the first of them, or stores that may move to
// the last.
func (j *vectoriser) join(list []openAccess) {
	slices.SortStableFunc(list, func(a, b openAccess) int {
		return cmp.Or(a.key.compare(&b.key), cmp.Compare(int64(a.offset), int64(b.offset)))
	})
	for len(list) > 0 {
		key := list[0].key
		n := 1
		for n < len(list) && list[n].key == key {
			n++
		}
		same := list[:n]
		list = list[n:]
		if n < 2 {
			continue
		}
		same = slices.CompactFunc(same, func(a, b openAccess) bool { return a.offset == b.offset })
		base := ir.Operand{Kind: ir.OperandAddr, Reg: key.reg, Var: key.vr, Param: -1}
		known := j.f.OperandAlign(&base, j.align)
		for i := 0; i < len(same); {
			n := widestRun(same[i:], known, key.widest())
			if n > 1 {
				kept := widen(j.f, j.nodes, same[i:i+n])
				j.made = true
				if hir.Bits(key.typ) == 16 {
					j.paired = append(j.paired, kept)
				}
			}
			i += n
		}
	}
}

// compare orders keys, equal ones together.
func (k *accessKey) compare(l *accessKey) int {
	if k.gnot != l.gnot {
		if k.gnot {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(k.reg, l.reg), cmp.Compare(k.vr, l.vr), cmp.Compare(k.guard, l.guard), cmp.Compare(k.typ, l.typ), cmp.Compare(k.space, l.space))
}

// widest is the bytes that a joined access may move.
func (k *accessKey) widest() uint64 {
	switch {
	case k.space == ir.Const:
		return widestConstant
	case hir.Bits(k.typ) == 16:
		return widestHalves
	}
	return widestShared
}

// widestRun is how many of the accesses in list, from the first on, one access can make. known is the alignment of the
// base as an exponent, most the bytes it may move.
//
// Evidence: of two words and a pair that follow them ptxas 13.0 makes an LDS.128 (cluster_decode of
// h100-2026-11-27-triton-wgmma-c).
func widestRun(list []openAccess, known uint8, most uint64) int {
	for size := most; size > list[0].size; size /= 2 {
		if list[0].offset%size != 0 || size > 1<<known {
			continue
		}
		n, whole := 0, uint64(0)
		for n < len(list) && whole < size && list[n].offset == list[0].offset+whole {
			whole += list[n].size
			n++
		}
		if whole == size {
			return n
		}
	}
	return 1
}

// widen turns the first of some loads, or the last of some stores, into one access of all, and
// returns its index in nodes.
func widen(f *hir.Func, nodes []int32, all []openAccess) int {
	kept := all[0].at
	src := slices.Clone(f.Nodes[nodes[kept]].Src[:1])
	var dst []vreg.Value
	for _, a := range all {
		n := &f.Nodes[nodes[a.at]]
		dst, src = append(dst, n.Dst...), append(src, n.Src[1:]...)
		if a.at < kept == (n.Op == ir.Ld) {
			kept = a.at
		}
	}
	for _, a := range all {
		if n := &f.Nodes[nodes[a.at]]; a.at != kept {
			f.Joined = append(f.Joined, n.PC)
			*n = hir.Node{Op: ir.Nop, PC: n.PC, Block: n.Block, Guard: vreg.None}
		}
	}
	n := &f.Nodes[nodes[kept]]
	n.Dst, n.Src = dst, src
	n.Vec = uint8(max(len(dst), len(src)-1))
	f.Wide = append(f.Wide, hir.WideAccess{PC: n.PC, Bytes: n.Vec * uint8(hir.Bits(n.Type)/8)})
	return kept
}
