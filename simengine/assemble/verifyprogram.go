package assemble

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// verifyProgram checks the program against what Program and Block promise.
func (u *unit) verifyProgram() error {
	p := u.program
	if len(p.Blocks) != len(u.hir.Kernel.Blocks) {
		return fmt.Errorf("%d blocks for %d", len(p.Blocks), len(u.hir.Kernel.Blocks))
	}
	for b := range p.Blocks {
		if m := p.Blocks[b].Merged; m >= 0 && (len(p.Blocks[b].Instrs) > 0 || p.Blocks[m].Merged >= 0) {
			return fmt.Errorf("block %d is merged into %d but has code, or its carrier has none", b, m)
		}
		if h := p.Blocks[b].Holds; h != 0 && p.Blocks[h].Merged >= 0 {
			return fmt.Errorf("block %d has instructions of block %d, which has none of its own", b, h)
		}
		for i := range p.Blocks[b].Instrs {
			in := &p.Blocks[b].Instrs[i]
			if in.Class == mir.ClassInvalid || in.Class >= mir.NumClasses {
				return fmt.Errorf("block %d: instruction %d has no class", b, i)
			}
			if c := in.Carried; c >= 0 && p.Blocks[c].Merged != b && !p.holds(b, int(c)) {
				return fmt.Errorf("block %d: instruction %d is carried for block %d, which is not merged into it", b, i, c)
			}
		}
	}
	return nil
}
