package slice

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/alias"
	"slices"
)

// A detour is what a forward branch goes past, or one side of what it chooses between: a few
// arithmetic instructions, such as those of a logarithm's special cases. Whether lanes take it
// matters neither to addresses nor to the path but for these few instructions. So where the branch
// depends on an MMA, which a slice cannot afford to compute, it is taken to be
// taken.

// longestDetour is the most instructions of one.
const longestDetour = 16

// detours lists the blocks that each branch decides about, by the branch's index, of the branches
// that go around detours.
func detours(k *ir.Kernel) map[int][]int {
	found := map[int][]int{}
	for b := range k.Blocks {
		last := k.Blocks[b].End - 1
		if in := &k.Instrs[last]; in.Op != ir.Bra || in.Guard == ir.NoReg || k.Blocks[b].IPDom <= b {
			continue
		}
		if region, ok := detour(k, b); ok {
			found[last] = region
		}
	}
	return found
}

// detour lists the blocks between a branch and where its sides meet; false: they do more than a
// detour may.
func detour(k *ir.Kernel, from int) (region []int, ok bool) {
	meet, size := k.Blocks[from].IPDom, 0
	work := slices.Clone(k.Blocks[from].Succs)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == meet || slices.Contains(region, b) {
			continue
		}
		blk := &k.Blocks[b]
		if size += blk.End - blk.Start; b <= from || b > meet || size > longestDetour {
			return nil, false
		}
		for pc := blk.Start; pc < blk.End; pc++ {
			if in := &k.Instrs[pc]; in.Op != ir.Bra && (in.Op.AlwaysExecutes() || in.Together()) {
				return nil, false
			}
		}
		region = append(region, b)
		work = append(work, blk.Succs...)
	}
	return region, true
}

// multiplies reports whether the slice has MMAs.
func (s *slicer) multiplies() bool {
	for pc, need := range s.needed {
		if op := s.k.Instrs[pc].Op; need && (op == ir.Wgmma || op == ir.Mma) {
			return true
		}
	}
	return false
}

// withoutMMAs is a slice without MMAs, if there is one; else s, which has them.
// Which writes of a register reach its readers is looked at last: it takes longest.
func withoutMMAs(k *ir.Kernel, of []alias.Roots, s *slicer) *slicer {
	if t := withoutDetours(k, of, false, false, s.facts); t != nil {
		return t
	}
	if t := sliceWithout(k, of, nil, true, s.facts); !t.multiplies() {
		return t
	}
	if t := withoutDetours(k, of, true, false, s.facts); t != nil {
		return t
	}
	return s
}

// withoutDetours is the slice that leaves out the conditions of detours that depend on MMAs or, with loops, on what
// loops compute; nil if these matter to more.
func withoutDetours(k *ir.Kernel, of []alias.Roots, reaching, loops bool, known *facts) *slicer {
	detours := detours(k)
	out := map[int]bool{}
	for pc := range detours {
		out[pc] = true
	}
	s := sliceWithout(k, of, out, reaching, known)
	for n := -1; n != len(out); {
		n = len(out)
		for pc, region := range detours {
			if out[pc] && s.marks(region) {
				delete(out, pc) // what is done there matters
			}
		}
		if n != len(out) {
			s = sliceWithout(k, of, out, reaching, known)
		}
	}
	if s.multiplies() {
		return nil
	}
	for _, pc := range sortedKeys(out) {
		s.tryRoot(pc, loops)
	}
	return s
}

// tryRoot needs what the branch at pc does, unless this is an MMA or, with loops, computed in a loop.
func (s *slicer) tryRoot(pc int, loops bool) {
	needed, reg, ends := slices.Clone(s.needed), slices.Clone(s.reg), 0
	if s.reach != nil {
		ends = len(s.reach.added)
	}
	s.trying, s.failed = true, false
	s.root(pc)
	s.close()
	if s.trying = false; !s.failed && !(loops && s.loops(needed)) {
		return
	}
	s.needed, s.reg, s.work = needed, reg, s.work[:0]
	if s.reach != nil {
		s.reach.undo(ends)
	}
}

// loops reports whether the slice has instructions in loops besides those of before.
func (s *slicer) loops(before []bool) bool {
	for b := range s.k.Blocks {
		blk := &s.k.Blocks[b]
		for pc := blk.Start; blk.LoopDepth > 0 && pc < blk.End; pc++ {
			if s.needed[pc] && !before[pc] {
				return true
			}
		}
	}
	return false
}

func sortedKeys(set map[int]bool) []int {
	var keys []int
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// marks reports whether an instruction of some blocks is marked that is no branch within them.
func (s *slicer) marks(blocks []int) bool {
	for _, b := range blocks {
		blk := &s.k.Blocks[b]
		for pc := blk.Start; pc < blk.End; pc++ {
			if in := &s.k.Instrs[pc]; s.needed[pc] && !(in.Op == ir.Bra && in.Guard == ir.NoReg) {
				return true
			}
		}
	}
	return false
}
