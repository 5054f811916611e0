package opt

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// The number of bytes a lane can load at once: LDS.128, and LDC.64, the widest
// constant load ptxas makes of joined ones. Of halves it joins four, LDS.64 and STS.64.
const (
	widestShared   = 16
	widestConstant = 8
	widestHalves   = 8
)

// accessKey is what loads, or stores, that may become one have in common.
type accessKey struct {
	space ir.Space
	typ   ir.Type
	vec   uint8 // elements of typ
	reg   ir.Reg
	vr    int32
	guard vreg.Value
	gnot  bool
}

// openAccess is a load or a store that could join later ones.
type openAccess struct {
	key    accessKey
	at     int // in the block
	offset uint64
}

// Vectorise joins loads from neighbouring addresses in shared memory, pairs of words too
// (two LDS.64 of CLBlast's matrix product are one LDS.128 in sm_90 machine code), and in the
// constant bank, into one,
// where the address is known to be aligned and nothing between them may have
// written there; and stores to shared memory that come one after another (walsh's machine
// code, deploy/calibrate/validation/sixth). The joined load keeps the position and the
// PTX instruction of the first of them, the joined store those of the last; the others
// have no machine instruction.
func Vectorise(f *hir.Func) error {
	j := joiner{f: f, based: make([]bool, len(f.Values))}
	for _, b := range f.Order {
		j.block(&f.Blocks[b])
	}
	f.CountDefs()
	return nil
}

// joiner joins the accesses of one block after the other.
type joiner struct {
	f      *hir.Func
	nodes  []int32
	open   []openAccess // loads
	row    []openAccess // stores
	based  []bool       // values that open accesses depend on
	align  []uint8      // by value, nil until needed
	whole  []bool       // values some reader of which does not take a half in place, nil until needed
	made   bool
	paired []int // accesses of halves that became one, by their places in the block
}

// block joins the loads of one block.
func (j *joiner) block(hb *hir.Block) {
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
				j.flush(&j.row)
			}
			j.add(&j.row, st)
		} else if ordersShared(n) || callsRoutine(n) || n.Op == ir.Ld && (n.Space == ir.Shared || n.Space == ir.Generic) || n.Op == ir.Bra {
			j.flush(&j.row)
		}
		for _, d := range n.Dst {
			if d >= 0 && j.based[d] && f.Values[d].Defs > 1 {
				j.flush(&j.open)
				j.flush(&j.row)
			}
		}
	}
	j.flush(&j.open)
	j.flush(&j.row)
	if len(j.paired) > 0 {
		hb.Nodes = j.pairUp()
	}
	if j.made {
		hb.Nodes = slices.DeleteFunc(hb.Nodes, func(ni int32) bool { return f.Nodes[ni].Op == ir.Nop })
	}
}

// callsRoutine says whether a node's machine code branches to a routine: ptxas joins nothing across it
// (deploy/calibrate/validation/fourteenth trsm_cols, whose columns of a row lie beside each other).
func callsRoutine(n *hir.Node) bool {
	return n.PC >= 0 && ir.HasSlowPath(&ir.Instr{Op: n.Op, Type: n.Type, Mod: n.Mod})
}

// add opens an access.
func (j *joiner) add(list *[]openAccess, a openAccess) {
	*list = append(*list, a)
	j.base(a, true)
}

// base marks what an open access depends on.
func (j *joiner) base(a openAccess, open bool) {
	for _, v := range [...]vreg.Value{vreg.Value(a.key.reg), a.key.guard} {
		if v >= 0 {
			j.based[v] = open
		}
	}
}

// continues says whether a store goes on with the row of open ones: elsewhere from the
// same address.
func (j *joiner) continues(st openAccess) bool {
	for _, o := range j.row {
		if o.key != st.key || o.offset == st.offset {
			return false
		}
	}
	return true
}

// flush joins what it can among open accesses and closes them.
func (j *joiner) flush(list *[]openAccess) {
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
	for _, a := range j.row {
		j.base(a, true)
	}
}

// ordersShared says whether loads from shared memory may not move across a node.
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
func (j *joiner) joinable(n *hir.Node, i int) (openAccess, bool) {
	f := j.f
	if n.Op != ir.Ld || n.Space != ir.Shared && n.Space != ir.Const || n.Vec > 2 || len(n.Dst) != int(n.Vec) || slices.ContainsFunc(n.Dst, func(v vreg.Value) bool { return isWrittenElsewhere(f, v) }) || n.Mod&(ir.ModVolatile|ir.ModAcquire|ir.ModMatrix) != 0 {
		return openAccess{}, false
	}
	if n.Space == ir.Const && n.Src[0].Reg == ir.NoReg && f.Target.ConstOperand {
		return openAccess{}, false // read in place
	}
	switch w := hir.Bits(n.Type) / 8; {
	case n.Vec == 2 && (w != 4 || n.Space != ir.Shared):
		return openAccess{}, false
	case w == 2:
		if n.Space != ir.Shared || n.Guard != vreg.None || f.Target.Cc[0] < 7 || j.readWhole(n.Dst[0]) {
			return openAccess{}, false
		}
	case w != 4 && w != 8 || int(f.Values[n.Dst[0]].Words)*4 != w:
		return openAccess{}, false
	}
	return openAccess{keyOfAccess(n), i, n.Src[0].Imm}, true
}

// isWrittenElsewhere says whether something else writes a result of a load too, or it is none.
func isWrittenElsewhere(f *hir.Func, v vreg.Value) bool { return v < 0 || f.Values[v].Defs != 1 }

// joinableStore describes node i of a block if it is a store that could be joined.
func joinableStore(f *hir.Func, n *hir.Node, i int) (openAccess, bool) {
	if n.Op != ir.St || n.Space != ir.Shared || n.Vec != 1 || len(n.Src) != 2 || n.Mod&(ir.ModVolatile|ir.ModRelease) != 0 {
		return openAccess{}, false
	}
	x := &n.Src[1]
	w := hir.Bits(n.Type) / 8
	if w != 2 && w != 4 && w != 8 || x.Kind != ir.OperandReg || f.Values[x.Reg].Defs != 1 || int(f.Values[x.Reg].Words) != (w+3)/4 {
		return openAccess{}, false
	}
	if w == 2 && n.Guard != vreg.None {
		return openAccess{}, false
	}
	return openAccess{keyOfAccess(n), i, n.Src[0].Imm}, true
}

func keyOfAccess(n *hir.Node) accessKey {
	o := &n.Src[0]
	return accessKey{n.Space, n.Type, n.Vec, o.Reg, o.Var, n.Guard, n.GuardNot}
}

// join makes wide accesses of what it can among loads that may move to the first
// of them, or stores that may move to the last.
func (j *joiner) join(list []openAccess) {
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
			n := run(same[i:], uint64(hir.Bits(key.typ)/8)*uint64(key.vec), known, key.widest())
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

// compare orders keys, so that equal ones come together.
func (k *accessKey) compare(l *accessKey) int {
	if k.gnot != l.gnot {
		if k.gnot {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(k.reg, l.reg), cmp.Compare(k.vr, l.vr), cmp.Compare(k.guard, l.guard), cmp.Compare(k.typ, l.typ), cmp.Compare(k.vec, l.vec), cmp.Compare(k.space, l.space))
}

// widest is how many bytes an access may have.
func (k *accessKey) widest() uint64 {
	switch {
	case k.space == ir.Const:
		return widestConstant
	case hir.Bits(k.typ) == 16:
		return widestHalves
	}
	return widestShared
}

// run is how many of the accesses, from the first on, one access can do.
func run(list []openAccess, size uint64, known uint8, most uint64) int {
	for n := most / size; n > 1; n /= 2 {
		if uint64(len(list)) < n || list[0].offset%(n*size) != 0 || n*size > 1<<known {
			continue
		}
		whole := true
		for k := range n {
			whole = whole && list[k].offset == list[0].offset+k*size
		}
		if whole {
			return int(n)
		}
	}
	return 1
}

// widen turns the first of some loads, or the last of some stores, in program order,
// into one of them all, and returns which it is.
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
	n.Dst, n.Src, n.Vec = dst, src, n.Vec*uint8(len(all))
	f.Wide = append(f.Wide, hir.WideAccess{PC: n.PC, Bytes: n.Vec * uint8(hir.Bits(n.Type)/8)})
	return kept
}
