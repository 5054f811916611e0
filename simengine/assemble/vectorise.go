package assemble

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// The number of bytes a lane can load at once: LDS.128, and LDC.64, the widest
// constant load ptxas makes of joined ones.
const (
	widestShared   = 16
	widestConstant = 8
)

// loadKey is what loads that may become one have in common.
type loadKey struct {
	space ir.Space
	typ   ir.Type
	reg   ir.Reg
	vr    int32
	guard value
	gnot  bool
}

// openLoad is a load that could join later ones.
type openLoad struct {
	key    loadKey
	at     int // in the block
	offset uint64
}

// vectorise joins loads from neighbouring addresses in shared memory, and in the
// constant bank, into one,
// where the address is known to be aligned and nothing between them may have
// written there. The joined load keeps the position and the PTX instruction of
// the first of them; the others have no machine instruction.
func (f *fn) vectorise() error {
	j := joiner{f: f, based: make([]bool, len(f.vals))}
	for _, b := range f.order {
		j.block(&f.blocks[b])
	}
	f.countDefs()
	return nil
}

// joiner joins the loads of one block after the other.
type joiner struct {
	f     *fn
	nodes []int32
	open  []openLoad
	based []bool  // values that open loads depend on
	align []uint8 // by value, nil until needed
	made  bool
}

// block joins the loads of one block.
func (j *joiner) block(hb *hblock) {
	f := j.f
	j.nodes, j.made = hb.nodes, false
	for i, ni := range hb.nodes {
		n := &f.nodes[ni]
		if ordersShared(n) {
			j.flush()
		} else if l, ok := f.joinable(n, i); ok {
			j.open = append(j.open, l)
			for _, v := range [...]value{value(l.key.reg), l.key.guard} {
				if v >= 0 {
					j.based[v] = true
				}
			}
		}
		for _, d := range n.dst {
			if d >= 0 && j.based[d] && f.vals[d].defs > 1 {
				j.flush()
			}
		}
	}
	j.flush()
	if j.made {
		hb.nodes = slices.DeleteFunc(hb.nodes, func(ni int32) bool { return f.nodes[ni].op == ir.Nop })
	}
}

// flush joins what it can among the open loads and closes them.
func (j *joiner) flush() {
	if len(j.open) > 1 {
		if j.align == nil {
			j.align = j.f.alignments()
		}
		j.join()
	}
	for _, l := range j.open {
		for _, v := range [...]value{value(l.key.reg), l.key.guard} {
			if v >= 0 {
				j.based[v] = false
			}
		}
	}
	j.open = j.open[:0]
}

// ordersShared says whether loads from shared memory may not move across a node.
func ordersShared(n *node) bool {
	switch n.op {
	case ir.Ld, ir.Ldu, ir.Shfl, ir.Vote, ir.Bra, ir.Exit:
		return n.mod&ir.ModVolatile != 0
	case ir.St, ir.Atom, ir.Red, ir.CpAsync:
		return n.space == ir.Shared || n.space == ir.Generic || n.op == ir.CpAsync
	}
	return n.hasEffect()
}

// joinable describes node i of a block if it is a load that could be joined.
func (f *fn) joinable(n *node, i int) (openLoad, bool) {
	if n.op != ir.Ld || n.space != ir.Shared && n.space != ir.Const || n.vec != 1 || len(n.dst) != 1 || n.dst[0] < 0 || n.mod&(ir.ModVolatile|ir.ModAcquire) != 0 {
		return openLoad{}, false
	}
	if n.space == ir.Const && n.src[0].Reg == ir.NoReg && f.t.constOperand {
		return openLoad{}, false // read in place
	}
	if w := bits(n.typ) / 8; w != 4 && w != 8 || f.vals[n.dst[0]].defs != 1 || int(f.vals[n.dst[0]].words)*4 != w {
		return openLoad{}, false
	}
	o := &n.src[0]
	return openLoad{loadKey{n.space, n.typ, o.Reg, o.Var, n.guard, n.gnot}, i, o.Imm}, true
}

// join makes wide loads of what it can among loads that may move to the first
// of them.
func (j *joiner) join() {
	loads := j.open
	slices.SortStableFunc(loads, func(a, b openLoad) int {
		return cmp.Or(a.key.compare(&b.key), cmp.Compare(int64(a.offset), int64(b.offset)))
	})
	for len(loads) > 0 {
		key := loads[0].key
		n := 1
		for n < len(loads) && loads[n].key == key {
			n++
		}
		same := loads[:n]
		loads = loads[n:]
		if n < 2 {
			continue
		}
		same = slices.CompactFunc(same, func(a, b openLoad) bool { return a.offset == b.offset })
		base := ir.Operand{Kind: ir.OperandAddr, Reg: key.reg, Var: key.vr, Param: -1}
		known := j.f.operandAlign(&base, j.align)
		for i := 0; i < len(same); {
			n := run(same[i:], uint64(bits(key.typ)/8), known, widest(key.space))
			if n > 1 {
				j.f.widen(j.nodes, same[i:i+n])
				j.made = true
			}
			i += n
		}
	}
}

// compare orders keys, so that equal ones come together.
func (k *loadKey) compare(l *loadKey) int {
	if k.gnot != l.gnot {
		if k.gnot {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(k.reg, l.reg), cmp.Compare(k.vr, l.vr), cmp.Compare(k.guard, l.guard), cmp.Compare(k.typ, l.typ), cmp.Compare(k.space, l.space))
}

func widest(space ir.Space) uint64 {
	if space == ir.Const {
		return widestConstant
	}
	return widestShared
}

// run is how many of the loads, from the first on, one access can do.
func run(loads []openLoad, size uint64, known uint8, most uint64) int {
	for n := most / size; n > 1; n /= 2 {
		if uint64(len(loads)) < n || loads[0].offset%(n*size) != 0 || n*size > 1<<known {
			continue
		}
		whole := true
		for k := range n {
			whole = whole && loads[k].offset == loads[0].offset+k*size
		}
		if whole {
			return int(n)
		}
	}
	return 1
}

// widen turns the first of some loads, in program order, into one of them all.
func (f *fn) widen(nodes []int32, loads []openLoad) {
	first := loads[0]
	dst := make([]value, len(loads))
	for i, l := range loads {
		dst[i] = f.nodes[nodes[l.at]].dst[0]
		if l.at < first.at {
			first = l
		}
	}
	address := f.nodes[nodes[loads[0].at]].src
	for _, l := range loads {
		if n := &f.nodes[nodes[l.at]]; l.at != first.at {
			f.joined = append(f.joined, n.pc)
			*n = node{op: ir.Nop, pc: n.pc, block: n.block, guard: noValue}
		}
	}
	n := &f.nodes[nodes[first.at]]
	n.dst, n.src, n.vec = dst, address, uint8(len(loads))
	f.wide = append(f.wide, WideLoad{n.pc, uint8(len(loads) * bits(n.typ) / 8)})
}
