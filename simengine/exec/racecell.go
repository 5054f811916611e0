package exec

import (
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
)

// quickRead notes a read in the common case and reports whether it did: nobody wrote the cell, or
// the warp itself did, or a barrier of all warps has passed since, and the warp's lanes are
// together.
func (c *cell) quickRead(now *touch, known *racecheck.Clock, id int, together bool) bool {
	if w := &c.write; w.tick != 0 {
		if from := int(w.thread) / WarpSize; w.async || from == id && !together || from != id && known[from] < w.tick {
			return false
		}
	}
	for i := range c.reads {
		old := &c.reads[i]
		if from := int(old.thread) / WarpSize; old.tick == 0 || from == id || known[from] >= old.tick {
			*old = *now
			return true
		}
	}
	return true
}

// readCell checks a read and notes it. It returns the write that it races with, nil if none. A plain
// read does not race with a compare-and-swap: kernels look at a place of a hash table before they
// swap it, and see the value before or after.
func (r *Runner) readCell(w *warp, c *cell, now touch, lane int) *touch {
	if c.write.tick != 0 && !(c.write.strong && (now.strong || r.swaps(c.write.pc))) && !r.ordered(w, &c.write, lane) {
		return &c.write
	}
	for i := range c.reads {
		old := &c.reads[i]
		if old.tick == 0 || int(old.thread)/WarpSize == w.id || r.ordered(w, old, lane) {
			*old = now
			return nil
		}
	}
	return nil
}

// writeCell checks a write and notes it. It returns the access that it races with, nil if none.
func (r *Runner) writeCell(w *warp, in *code.Instr, c *cell, now touch, lane, addr int) *touch {
	for i := range c.reads {
		old := &c.reads[i]
		if old.tick != 0 && !(now.strong && (old.strong || r.swaps(now.pc))) && !r.ordered(w, old, lane) {
			return old
		}
	}
	old := &c.write
	if old.tick != 0 && !(now.strong && old.strong) {
		other := -1 // lane of the same store
		if old.tick == now.tick && old.pc == now.pc && int(old.thread)/WarpSize == w.id {
			other = int(old.thread) % WarpSize
		}
		replica := other >= 0 && r.launch.Replicas
		if !replica && (other >= 0 || !r.ordered(w, old, lane)) && (old.async || now.async || !r.sameValue(w, in, lane, other, addr)) {
			return old
		}
	}
	c.write, c.reads = now, [2]touch{}
	return nil
}

// ordered reports whether an access happened before what the lane does now.
func (r *Runner) ordered(w *warp, old *touch, lane int) bool {
	c := r.races
	from := int(old.thread) / WarpSize
	if old.async {
		g := &c.copies[from]
		if old.group >= g.done {
			return false
		}
		return from == w.id || c.known[w.id][from] >= g.at[old.group]
	}
	if from != w.id {
		return c.known[w.id][from] >= old.tick
	}
	return w.together(int(old.thread)%WarpSize, lane, old.tick)
}

// together reports whether lanes a and b of the warp have run together since a tick. Lane b is in
// the top frame.
func (w *warp) together(a, b int, tick uint32) bool {
	for i := len(w.stack) - 1; i >= 0; i-- {
		if f := &w.stack[i]; (f.mask|f.gone)>>a&1 == 1 {
			return i == len(w.stack)-1 || tick <= f.since
		}
	}
	return tick <= w.whole // a goes its own way
}

// sameValue reports whether a plain store by lane writes to the cell at addr
// what is there: what shared memory holds or, when the other writer is a lane
// of the same store, what that lane writes.
func (r *Runner) sameValue(w *warp, in *code.Instr, lane, other, addr int) bool {
	if in.X.Access == nil || in.X.Access.Op != ir.St || !in.X.Access.Data {
		return false
	}
	for b := addr; b < addr+r.races.granule; b++ {
		now, ok := r.storedByte(w, in, lane, b)
		was := byte(0)
		if b < len(r.shared) {
			was = r.shared[b]
		}
		if other >= 0 {
			if v, too := r.storedByte(w, in, other, b); too {
				was = v
			}
		}
		if ok && now != was {
			return false
		}
	}
	return true
}

// storedByte is what a lane of a store writes to the byte at addr, if it does.
func (r *Runner) storedByte(w *warp, in *code.Instr, lane, addr int) (byte, bool) {
	a := in.X.Access
	off := addr - int(r.addr[lane])
	if off < 0 || off >= a.Width {
		return 0, false
	}
	if a.Matrix {
		return r.matrixByte(w, in, lane, off), true
	}
	v := w.get(in.X.Src[off/a.Elem], lane)
	return byte(v >> (8 * (off % a.Elem))), true
}

// matrixByte is a byte of the row that stmatrix writes at a lane's address.
func (r *Runner) matrixByte(w *warp, in *code.Instr, lane, off int) byte {
	row, from, half := lane%8, 0, 0
	if r.p.Kernel.Instrs[in.PC].Mod&ir.ModTrans == 0 {
		from, half = 4*row+off/4, off/2%2
	} else {
		from, half = off/2*4+row/2, row%2
	}
	return byte(w.get(in.X.Src[lane/8], from) >> (16*half + 8*(off%2)))
}

// swaps reports whether an instruction is a compare-and-swap.
func (r *Runner) swaps(pc int32) bool {
	in := &r.p.Kernel.Instrs[pc]
	return in.Op == ir.Atom && in.Atom == ir.AtomCAS
}
