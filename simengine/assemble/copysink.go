package assemble

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// renames gives the results of a product of matrices the name x that a copy at the end of
// some nodes gives y, if nothing in between reads or writes x and nothing else reads y: the
// sums that a loop carries.
func (f *hfn) renames(nodes []int32, x, y value, uses int32) bool {
	if uses != 1 || f.vals[y].defs != 1 || f.vals[y].words != f.vals[x].words {
		return false
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &f.nodes[nodes[i]]
		if k := slices.Index(n.dst, y); k >= 0 {
			if n.op != ir.Mma || n.guard != noValue || slices.Contains(n.dst, x) {
				return false
			}
			n.dst = slices.Clone(n.dst)
			n.dst[k] = x
			return true
		}
		if n.reads(x) > 0 || slices.Contains(n.dst, x) {
			return false
		}
	}
	return false
}

// sinkCopies turns "y = f(...); ...; x = y" into "...; x = f(...)" where
// nothing else reads y and nothing between writes what f reads, or else into
// "x = f(...); ..." where what reads x between can go before that.
func (f *hfn) sinkCopies() error {
	uses := f.countUses()
	for _, b := range f.order {
		nodes := f.blocks[b].nodes
		for i := 0; i < len(nodes); i++ {
			c := &f.nodes[nodes[i]]
			if c.op != ir.Mov || len(c.src) != 1 || len(c.dst) != 1 || c.dst[0] < 0 || c.src[0].Kind != ir.OperandReg || c.src[0].Not || c.guard != noValue || f.vals[c.dst[0]].defs < 2 {
				continue
			}
			x, y := c.dst[0], value(c.src[0].Reg)
			if f.renames(nodes[:i], x, y, uses[y]) {
				*c = node{op: ir.Nop, pc: c.pc, block: c.block, guard: noValue}
				continue
			}
			if f.vals[y].defs != 1 || f.vals[y].words != f.vals[x].words || f.vals[y].file != f.vals[x].file {
				continue
			}
			j := f.definition(nodes[:i], y)
			switch {
			case j < 0:
				continue
			case uses[y] == 1 && f.sinkable(nodes[j:i]):
				d := nodes[j]
				copy(nodes[j:], nodes[j+1:i+1])
				f.nodes[d].dst = []value{x}
				nodes[i] = d
			case !f.overtakes(nodes[j:i], x, y, uses[y]):
				continue
			}
			*c = node{op: ir.Nop, pc: c.pc, block: c.block, guard: noValue}
		}
	}
	f.countDefs()
	return nil
}

// sinkable says that the first of some nodes may move behind the others: none writes what
// it reads.
func (f *hfn) sinkable(nodes []int32) bool {
	d := &f.nodes[nodes[0]]
	for _, ni := range nodes[1:] {
		for _, w := range f.nodes[ni].dst {
			if w >= 0 && d.reads(w) > 0 {
				return false
			}
		}
	}
	return true
}
