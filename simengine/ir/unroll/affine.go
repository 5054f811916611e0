package unroll

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// linear is an affine value: that of a register plus a constant.
type linear struct {
	base ir.Reg
	off  int64
}

// copier writes copies of a loop's body, one after the other. It renames registers and folds
// additions of constants: induction variables and addresses become affine values of what they were
// before the copies. Such a value is computed into a register only where an instruction needs it
// there; addresses take the constant as their offset.
type copier struct {
	u    *unroller
	held map[ir.Reg]linear // what registers of the loop hold, if not themselves
	made map[linear]ir.Reg // sums computed
	last map[ir.Reg]int    // by register: its last definition in the body
	live [2]ir.BitSet      // registers that must hold their own values in the end
}

// wanted reports whether a register must hold its own value in the end.
func (c *copier) wanted(r ir.Reg) bool {
	return c.live[0] != nil && c.live[0].Has(r) || c.live[1] != nil && c.live[1].Has(r)
}

// copies writes n copies of a loop's body, without its test. Afterwards the registers of a and b
// (either may be nil) hold what the loop would leave in them. The copier that it returns knows what
// the other registers hold.
func (u *unroller) copies(l *countedLoop, n int, a, b ir.BitSet) *copier {
	blk := &u.From.Blocks[l.block]
	c := copier{u: u, held: map[ir.Reg]linear{}, made: map[linear]ir.Reg{}, last: map[ir.Reg]int{}, live: [2]ir.BitSet{a, b}}
	var order []ir.Reg
	for pc := blk.Start; pc < blk.End; pc++ {
		for _, r := range u.From.Instrs[pc].Dst {
			if r == ir.NoReg {
				continue
			}
			if _, seen := c.last[r]; !seen {
				order = append(order, r)
			}
			c.last[r] = pc
		}
	}
	for i := 0; i < n; i++ {
		for pc := blk.Start; pc < blk.End-1; pc++ {
			if pc != l.test && pc != l.both {
				c.instr(pc, i == n-1)
			}
		}
	}
	var settle []ir.Reg
	for _, r := range order {
		if h, ok := c.held[r]; ok && h != (linear{r, 0}) && c.wanted(r) {
			settle = append(settle, r)
		}
	}
	c.settle(settle, u.From.Instrs[l.test].Pos)
	return &c
}

// instr writes one instruction of the body. final is set in the last copy.
func (c *copier) instr(pc int, final bool) {
	in := c.u.From.Instrs[pc]
	if h, ok := c.sum(&in); ok {
		c.held[in.Dst[0]] = h
		return
	}
	src := make([]ir.Operand, len(in.Src))
	for i, o := range in.Src {
		src[i] = c.operand(o, &in)
	}
	in.Src = src
	if in.Guard != ir.NoReg {
		in.Guard = c.register(in.Guard, &in)
	}
	dst := make([]ir.Reg, len(in.Dst))
	for i, r := range in.Dst {
		dst[i] = c.target(r, final && c.last[r] == pc)
	}
	in.Dst = dst
	c.u.Emit(in)
}

// sum returns the affine value that an instruction computes. It reports whether the instruction is a
// move or the addition of a constant, of integers.
func (c *copier) sum(in *ir.Instr) (linear, bool) {
	if in.Guard != ir.NoReg || in.Mod != 0 || len(in.Dst) != 1 || in.Dst[0] == ir.NoReg || len(in.Src) == 0 || in.Src[0].Kind != ir.OperandReg || in.Type.IsFloat() ||
		in.Type.Packed() != ir.TypeInvalid {
		return linear{}, false
	}
	size, r := in.Type.Size(), in.Src[0].Reg
	if size != 4 && size != 8 || c.u.From.Regs[r].Type.Size() != size || c.u.From.Regs[in.Dst[0]].Type != c.u.From.Regs[r].Type {
		return linear{}, false
	}
	h := c.now(r)
	switch {
	case in.Op == ir.Mov && len(in.Src) == 1:
		return h, true
	case (in.Op == ir.Add || in.Op == ir.Sub) && in.Src[1].Kind == ir.OperandImm:
		off := int64(in.Src[1].Imm)
		if size == 4 {
			off = int64(int32(off))
		}
		if in.Op == ir.Sub {
			off = -off
		}
		h.off += off
		if size == 4 {
			h.off = int64(int32(h.off))
		}
		return h, true
	}
	return linear{}, false
}

// now returns the affine value that a register holds.
func (c *copier) now(r ir.Reg) linear {
	if h, ok := c.held[r]; ok {
		return h
	}
	return linear{r, 0}
}

// operand returns a source operand as a copy reads it.
func (c *copier) operand(o ir.Operand, in *ir.Instr) ir.Operand {
	switch {
	case o.Kind == ir.OperandReg && o.Reg != ir.NoReg:
		o.Reg = c.register(o.Reg, in)
	case o.Kind == ir.OperandAddr && o.Reg != ir.NoReg:
		h := c.now(o.Reg)
		if at := h.off + int64(o.Imm); at == int64(int32(at)) {
			o.Reg, o.Imm = h.base, uint64(at)
		} else {
			o.Reg = c.register(o.Reg, in)
		}
	}
	return o
}

// register returns a register that holds the same as r. It computes one if there is none.
func (c *copier) register(r ir.Reg, in *ir.Instr) ir.Reg {
	h := c.now(r)
	if h.off == 0 {
		return h.base
	}
	if m, ok := c.made[h]; ok {
		return m
	}
	m := c.u.LikeReg(r)
	c.made[h] = m
	c.add(m, h, in.Pos)
	return m
}

// add writes dst = h.
func (c *copier) add(dst ir.Reg, h linear, pos ptx.Pos) {
	in := ir.Instr{Op: ir.Add, Type: ir.S64, Guard: ir.NoReg, Dst: []ir.Reg{dst}, Src: []ir.Operand{ir.RegOperand(h.base), ir.ImmOperand(uint64(h.off))}, Target: -1, Pos: pos}
	if c.u.To.Regs[dst].Type.Size() == 4 {
		in.Type, in.Src[1] = ir.S32, ir.WordOperand(h.off)
	}
	if h.off == 0 {
		in.Op, in.Type, in.Src = ir.Mov, c.u.To.Regs[dst].Type, in.Src[:1]
	}
	c.u.Emit(in)
}

// target returns the register for a result. It is r itself for the last definition in the last copy,
// if r is live after the copies and nothing depends on its old value; otherwise it is a new
// register.
func (c *copier) target(r ir.Reg, final bool) ir.Reg {
	if r == ir.NoReg {
		return ir.NoReg
	}
	if final && c.wanted(r) {
		free := true
		for x, h := range c.held {
			free = free && (h.base != r || x == r)
		}
		if free {
			delete(c.held, r)
			for h := range c.made {
				if h.base == r {
					delete(c.made, h)
				}
			}
			return r
		}
	}
	f := c.u.LikeReg(r)
	c.held[r] = linear{f, 0}
	return f
}

// settle writes the affine values of registers back to the registers. A register that another value
// is computed from is written after it; a cycle is broken by a copy.
func (c *copier) settle(regs []ir.Reg, pos ptx.Pos) {
	for len(regs) > 0 {
		next := 0
		for next < len(regs) && c.needed(regs[next], regs) {
			next++
		}
		if next == len(regs) { // a cycle: keep one's old value elsewhere
			r := regs[0]
			f := c.u.LikeReg(r)
			c.add(f, linear{r, 0}, pos)
			for _, x := range regs {
				if h := c.held[x]; h.base == r {
					c.held[x] = linear{f, h.off}
				}
			}
			next = 0
		}
		c.add(regs[next], c.held[regs[next]], pos)
		regs = append(regs[:next:next], regs[next+1:]...)
	}
}

// needed reports whether another register's value depends on what r held before.
func (c *copier) needed(r ir.Reg, regs []ir.Reg) bool {
	for _, x := range regs {
		if x != r && c.held[x].base == r {
			return true
		}
	}
	return false
}
