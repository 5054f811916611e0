package coalesce

import (
	"github.com/warptune/warptune/simengine/trace"
)

// mostBetween is within how many steps of a block the one follows whose first instructions it has.
const mostBetween = 16

// HeldEnd is the end of the accesses of the next steps of a block and what was merged into it, root being by block
// what it was merged into: 0 where there is no such block, or no step of it soon after one.
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
