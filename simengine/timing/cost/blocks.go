package cost

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// MaxHeads is the loop headers of a warp that both levels tell apart: a loop beyond them is charged with
// the one around it.
const MaxHeads = 8

// LoopHeads reports, by block of so many, whether it heads a loop.
func LoopHeads(k *ir.Kernel, blocks int) []bool {
	heads := make([]bool, blocks)
	for _, b := range k.Blocks {
		if b.LoopDepth > 0 && b.LoopHead >= 0 && b.LoopHead < blocks {
			heads[b.LoopHead] = true
		}
	}
	return heads
}

// Carrier is the block whose machine code includes block i: it follows assemble.Block.Merged. A
// cycle, or a block out of range, is an error.
func Carrier(p *assemble.Program, i int) (int32, error) {
	at := i
	for n := 0; p.Blocks[at].Merged >= 0; n++ {
		at = p.Blocks[at].Merged
		if at >= len(p.Blocks) || n > len(p.Blocks) {
			return 0, fmt.Errorf("timing: block %d is merged into a block that does not stand alone", i)
		}
	}
	return int32(at), nil
}
