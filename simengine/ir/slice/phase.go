package slice

import "github.com/warptune/warptune/simengine/ir"

// Phases of a kernel. A barrier of the whole CTA that every thread passes once divides it: what is read of shared
// memory before it, nothing after it has written. So a result that goes through the shared memory that row indices
// went through earlier does not matter to these.

// phase is a barrier that divides a kernel, and which blocks come after it.
type phase struct {
	block, pc int
	after     []bool // by block: it can be reached from the barrier's block
}

// follows reports whether an instruction comes after the barrier and never before it.
func (p *phase) follows(k *ir.Kernel, b, pc int) bool {
	if b == p.block {
		return pc > p.pc
	}
	return p.after[b] && !reachable(k, b)[p.block]
}

// reachable marks the blocks that a path from the end of block b leads to.
func reachable(k *ir.Kernel, b int) []bool {
	seen := make([]bool, len(k.Blocks))
	for work := k.Blocks[b].Succs; len(work) > 0; {
		x := work[len(work)-1]
		work = work[: len(work)-1 : len(work)-1]
		if !seen[x] {
			seen[x] = true
			work = append(work, k.Blocks[x].Succs...)
		}
	}
	return seen
}

// phases lists the barriers that divide a kernel, in the order they are passed.
func phases(k *ir.Kernel) (list []phase) {
	for b := 0; b >= 0; b = k.Blocks[b].IPDom {
		blk := &k.Blocks[b]
		if blk.LoopDepth > 0 {
			continue
		}
		for pc := blk.Start; pc < blk.End; pc++ {
			if in := &k.Instrs[pc]; in.Op == ir.Bar && in.Guard == ir.NoReg && in.Mod&ir.ModArrive == 0 && len(in.Src) < 2 {
				list = append(list, phase{b, pc, reachable(k, b)})
			}
		}
	}
	return list
}

// afterReads is the first barrier after which no marked instruction reads shared memory, nil for none.
func (s *slicer) afterReads() *phase {
	if s.reach == nil {
		return nil
	}
	if s.phases == nil {
		s.phases = append(phases(s.k), phase{})
	}
	list := s.phases[:len(s.phases)-1]
	for i := len(list) - 1; i >= 0; i-- {
		for b := range s.k.Blocks {
			if b != list[i].block && !list[i].after[b] {
				continue
			}
			for pc := s.k.Blocks[b].Start; pc < s.k.Blocks[b].End; pc++ {
				var m memory
				if b == list[i].block && pc < list[i].pc {
					continue
				}
				if s.reads(&m, pc); m.of[ir.Shared] || m.of[ir.Generic] {
					if i+1 < len(list) {
						return &list[i+1]
					}
					return nil
				}
			}
		}
	}
	if len(list) > 0 {
		return &list[0]
	}
	return nil
}
