package code

import (
	"sort"

	"github.com/warptune/warptune/simengine/ir"
)

// interval is the live interval of a register in the instruction list: positions 2*pc for reads and
// 2*pc+1 for writes.
type interval struct {
	reg    ir.Reg
	lo, hi int
}

// allocate gives every register that is executed a slot of its register file, by linear scan (M.
// Poletto and V. Sarkar, Linear scan register allocation, TOPLAS 1999). Registers that are never
// live together share slots. Liveness is that of one thread: a masked write leaves the other lanes
// as they are.
func (c *compiler) allocate() {
	iv := c.intervals()
	c.Slots = make([]Slot, len(c.k.Regs))
	for i := range c.Slots {
		c.Slots[i] = Slot{File: FileNone, Index: -1}
	}
	sort.Slice(iv, func(i, j int) bool {
		if iv[i].lo != iv[j].lo {
			return iv[i].lo < iv[j].lo
		}
		return iv[i].reg < iv[j].reg
	})
	var active []interval
	var free [FilePred + 1][]int32
	next := [FilePred + 1]*int32{File32: &c.p.N32, File64: &c.p.N64, FilePred: &c.p.NPred}
	for _, v := range iv {
		kept := active[:0]
		for _, a := range active {
			if a.hi < v.lo {
				s := c.Slots[a.reg]
				free[s.File] = append(free[s.File], s.Index)
			} else {
				kept = append(kept, a)
			}
		}
		active = append(kept, v)
		f := fileOf(c.k.Regs[v.reg].Type)
		if f == FileNone {
			continue
		}
		if n := len(free[f]); n > 0 {
			c.Slots[v.reg] = Slot{f, free[f][n-1]}
			free[f] = free[f][:n-1]
			continue
		}
		c.Slots[v.reg] = Slot{f, *next[f]}
		*next[f]++
	}
	for i, s := range c.Slots {
		if s.File != FileNone && c.unwritten.Has(ir.Reg(i)) {
			c.p.Unwritten = append(c.p.Unwritten, s)
		}
	}
}

// intervals computes the live interval of every register used.
func (c *compiler) intervals() []interval {
	in, out := c.liveness()
	c.unwritten = in[0]
	lo, hi := make([]int, len(c.k.Regs)), make([]int, len(c.k.Regs))
	for i := range lo {
		lo[i], hi[i] = -1, -1
	}
	touch := func(r ir.Reg, pos int) {
		if r == ir.NoReg {
			return
		}
		if lo[r] < 0 || pos < lo[r] {
			lo[r] = pos
		}
		hi[r] = max(hi[r], pos)
	}
	for b := range c.k.Blocks {
		kb := &c.k.Blocks[b]
		in[b].Each(func(r ir.Reg) { touch(r, 2*kb.Start) })
		out[b].Each(func(r ir.Reg) { touch(r, 2*kb.End-1) })
		for pc := kb.Start; pc < kb.End; pc++ {
			c.reads(pc, func(r ir.Reg) { touch(r, 2*pc) })
			c.writes(pc, func(r ir.Reg) { touch(r, 2*pc+1) })
		}
	}
	for i := range c.p.Loops {
		l := &c.p.Loops[i]
		for _, r := range l.Watched() {
			touch(r, 2*l.First(c.k))
			touch(r, 2*l.Last(c.k)+1)
		}
	}
	var iv []interval
	for r := range lo {
		if lo[r] >= 0 {
			iv = append(iv, interval{ir.Reg(r), lo[r], hi[r]})
		}
	}
	return iv
}

// liveness returns the registers live into and out of each block, of the instructions that this mode
// executes. A guarded write does not end a live range.
func (c *compiler) liveness() (in, out []ir.BitSet) {
	n := len(c.k.Blocks)
	in, out = make([]ir.BitSet, n), make([]ir.BitSet, n)
	gen, kill := make([]ir.BitSet, n), make([]ir.BitSet, n)
	for b := range c.k.Blocks {
		kb := &c.k.Blocks[b]
		nr := len(c.k.Regs)
		in[b], out[b], gen[b], kill[b] = ir.NewBitSet(nr), ir.NewBitSet(nr), ir.NewBitSet(nr), ir.NewBitSet(nr)
		for pc := kb.End - 1; pc >= kb.Start; pc-- {
			if c.k.Instrs[pc].Guard == ir.NoReg {
				c.writes(pc, func(r ir.Reg) { kill[b].Add(r); gen[b].Remove(r) })
			}
			c.reads(pc, func(r ir.Reg) { gen[b].Add(r) })
		}
	}
	for changed := true; changed; {
		changed = false
		for b := n - 1; b >= 0; b-- {
			for _, s := range c.k.Blocks[b].Succs {
				for w := range out[b] {
					out[b][w] |= in[s][w]
				}
			}
			for w := range in[b] {
				v := gen[b][w] | out[b][w]&^kill[b][w]
				changed = changed || v != in[b][w]
				in[b][w] = v
			}
		}
	}
	return in, out
}

// reads calls f with the registers that executing instruction pc reads.
func (c *compiler) reads(pc int, f func(ir.Reg)) {
	in := &c.k.Instrs[pc]
	data := c.needed[pc]
	if !data && !in.Op.AlwaysExecutes() {
		return
	}
	if in.Guard != ir.NoReg && (data || in.Op != ir.Bra) {
		f(in.Guard)
	}
	for i := range in.Src {
		if (data || addressOperand(in, i)) && in.Src[i].Reg != ir.NoReg &&
			(in.Src[i].Kind == ir.OperandReg || in.Src[i].Kind == ir.OperandAddr) {
			f(in.Src[i].Reg)
		}
	}
}

// writes calls f with the registers that executing instruction pc writes.
func (c *compiler) writes(pc int, f func(ir.Reg)) {
	if !c.needed[pc] {
		return
	}
	for _, r := range c.k.Instrs[pc].Dst {
		if r != ir.NoReg {
			f(r)
		}
	}
}

// addressOperand reports whether source i of an instruction that executes
// must have its value even when the instruction's result is not needed.
func addressOperand(in *ir.Instr, i int) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red:
		return i == 0
	case ir.Tex, ir.Suld, ir.Sust:
		return i <= in.Texture.Coordinates()
	case ir.BarRed:
		return i < len(in.Src)-1 // the last is the predicate that is combined
	}
	return true
}
