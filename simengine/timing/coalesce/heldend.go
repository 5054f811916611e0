package coalesce

import "github.com/warptune/warptune/simengine/trace"

// mostBetween is how many steps after a block the block may follow whose first instructions
// were hoisted into it.
const mostBetween = 16

// HeldEnd is the end, in Warp.Accesses, of the accesses of the next steps of a block and of
// what was merged into it. root is, by block, what it was merged into; steps from after on are
// searched. It is 0 where there is no such block (block 0) or no step of it soon.
func HeldEnd(w *trace.Warp, root []int32, after, block int) (end int32) {
	if block == 0 {
		return 0
	}
	for i := after; i < len(w.Steps) && (end > 0 || i < after+mostBetween); i++ {
		switch held := int(root[w.Steps[i].Block]) == block && w.Steps[i].Repeat == 0; {
		case held && (end == 0 || int(w.Steps[i].Block) != block):
			end = AccessEnd(w, i)
		case end > 0:
			return end
		}
	}
	return end
}
