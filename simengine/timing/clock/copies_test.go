package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// A thread issues copies one right after the other, but for those at which lanes take turns: it waits until the uniform
// registers of each have been read.
func TestCopiesAtWhichLanesTakeTurns(t *testing.T) {
	const copies = 8
	took := func(turns bool) float64 {
		p := &async{}
		p.warp()
		p.init(0, 1)
		p.arrive(0, 128*copies)
		for range copies {
			p.load(0, 0, 128)
			if turns {
				block := &p.code.Blocks[len(p.code.Blocks)-1]
				pc := block.Instrs[len(block.Instrs)-1].Source
				p.emit(assemble.Branch, ir.Bra, 0, -1)
				block.Instrs[len(block.Instrs)-1].Source = pc
			}
		}
		p.wait(0, 0)
		p.exit()
		return p.cycles(t, "h100", 1)
	}
	if at, apart := took(false), took(true); apart-at < 30*(copies-1) || apart-at > 50*copies {
		t.Errorf("%d copies take %.0f cycles, %.0f where lanes take turns at each", copies, at, apart)
	}
}
