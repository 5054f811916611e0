package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Distances to the next use, by backward data flow (Braun and Hack, 2009).

// A distance counts instructions, plus outOfLoop for each loop that is left on the way. Within a
// block, afterBlock stands for any use after its end.
const (
	outOfLoop  = 1 << 16
	afterBlock = 1 << 20
	neverUsed  = 1 << 28
)

// nextUses holds, by block, the distance to the next use of every unit at its start and at its end.
type nextUses struct {
	in, out [][]int32
}

// unitOf numbers word w of value v.
func unitOf(v vreg.Value, w uint8) int { return 4*int(v) + int(w) }

// eachUnit calls do for the general units that an operand covers.
func eachUnit(f *mir.Func, v vreg.Value, mask uint8, do func(u int)) {
	m := mask & f.GeneralMask(v)
	for w := uint8(0); m>>w != 0; w++ {
		if m>>w&1 != 0 {
			do(unitOf(v, w))
		}
	}
}

// findNextUses solves for the distances, which only shrink from pass to pass.
func findNextUses(f *mir.Func) *nextUses {
	n := 4 * len(f.Values)
	store := make([]int32, 2*n*len(f.Order)+n)
	for i := range store {
		store[i] = neverUsed
	}
	take := func() []int32 {
		s := store[:n:n]
		store = store[n:]
		return s
	}
	nu := &nextUses{in: make([][]int32, len(f.Blocks)), out: make([][]int32, len(f.Blocks))}
	for _, b := range f.Order {
		nu.in[b], nu.out[b] = take(), take()
	}
	cur := take()
	for changed := true; changed; {
		changed = false
		for i := len(f.Order) - 1; i >= 0; i-- {
			b := f.Order[i]
			out := nu.out[b]
			for _, s := range f.Blocks[b].Succs {
				far := int32(0)
				if f.Blocks[s].LoopDepth < f.Blocks[b].LoopDepth {
					far = outOfLoop
				}
				for u, d := range nu.in[s] {
					if d+far < out[u] {
						out[u] = d + far
					}
				}
			}
			copy(cur, out)
			backUses(f, b, cur, nil)
			for u, d := range cur {
				if d < nu.in[b][u] {
					nu.in[b][u], changed = d, true
				}
			}
		}
	}
	return nu
}

// blockUses holds, by instruction of a block, the next uses of what it reads, after it, and of what
// it writes.
type blockUses struct {
	reads, writes [][]unitUse
}

// unitUse is a unit and the position of its next use, counted from the start of the block.
type unitUse struct {
	unit int
	next int32
}

// backUses takes the distances in cur from the end of block b to its start. If at is not nil it
// records them at every instruction.
func backUses(f *mir.Func, b int, cur []int32, at *blockUses) {
	insts := f.Blocks[b].Insts
	n := int32(len(insts))
	for u, d := range cur {
		if d < neverUsed {
			cur[u] = min(d+n, neverUsed-1)
		}
	}
	for i := n - 1; i >= 0; i-- {
		in := &insts[i]
		in.EachWrite(func(a *mir.Arg) {
			eachUnit(f, a.Value, a.WordMask(), func(u int) {
				if at != nil {
					at.writes[i] = append(at.writes[i], unitUse{u, cur[u]})
				}
				if !in.KeepsOld {
					cur[u] = neverUsed
				}
			})
		})
		in.EachRead(func(v vreg.Value, m uint8) {
			eachUnit(f, v, m, func(u int) {
				if cur[u] == i {
					return // recorded already
				}
				if at != nil {
					at.reads[i] = append(at.reads[i], unitUse{u, cur[u]})
				}
				cur[u] = i
			})
		})
	}
}
