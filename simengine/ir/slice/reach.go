package slice

import (
	"github.com/warptune/warptune/simengine/ir"
	"slices"
)

// mostReach is the most registers times blocks of a kernel that are told apart.
const mostReach = 1 << 28

// reach finds the writes of registers that reach readers, one reader at a time.
type reach struct {
	k       *ir.Kernel
	blockOf []int32
	ends    ir.BitSet // registers wanted at the ends of blocks: those looked for already
	added   []ir.Reg  // to ends, in order
	work    []use
}

// use is a register read by an instruction.
type use struct {
	reg ir.Reg
	at  int32
}

func newReach(k *ir.Kernel) *reach {
	return &reach{k: k, blockOf: blockOf(k), ends: ir.NewBitSet(len(k.Regs) * len(k.Blocks))}
}

// blockOf is the block of each instruction.
func blockOf(k *ir.Kernel) []int32 {
	of := make([]int32, len(k.Instrs))
	for b := range k.Blocks {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			of[pc] = int32(b)
		}
	}
	return of
}

// next takes one reader and calls found for every write that may reach it.
func (r *reach) next(found func(pc int)) {
	u := r.work[len(r.work)-1]
	r.work = r.work[:len(r.work)-1]
	blocks := r.before(nil, int(r.blockOf[u.at]), u.reg, int(u.at), found)
	for len(blocks) > 0 {
		b := blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		if end := u.reg*ir.Reg(len(r.k.Blocks)) + ir.Reg(b); !r.ends.Has(end) {
			r.ends.Add(end)
			r.added = append(r.added, end)
			blocks = r.before(blocks, b, u.reg, r.k.Blocks[b].End, found)
		}
	}
}

// undo takes back what was looked for since added had n.
func (r *reach) undo(n int) {
	for _, end := range r.added[n:] {
		r.ends.Remove(end)
	}
	r.added, r.work = r.added[:n], r.work[:0]
}

// before calls found for the writes of a register in block b in front of an instruction that may reach
// it, and appends the blocks before if writes there may too. A write under a guard lets earlier ones
// through.
func (r *reach) before(blocks []int, b int, reg ir.Reg, at int, found func(pc int)) []int {
	blk := &r.k.Blocks[b]
	for pc := at - 1; pc >= blk.Start; pc-- {
		in := &r.k.Instrs[pc]
		if !slices.Contains(in.Dst, reg) {
			continue
		}
		found(pc)
		if in.Guard == ir.NoReg {
			return blocks
		}
	}
	return append(blocks, blk.Preds...)
}
