package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/trace"
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

// Of copies that touch something for the first time a quarter waits for DRAM, with a quarter of their granules: a sixteenth
// of all comes from there.
func TestCopiesThatWaitForDRAM(t *testing.T) {
	s := &sm{}
	s.setCold(&footprint.Plan{ByInstr: footprint.ByInstr{Read: []float64{1.0 / 16}, ColdCopies: []float64{0.25}}})
	for _, c := range []struct {
		first uint8
		want  int
	}{{0xf, 4}, {0, 0}} {
		w := &warp{replay: replay{first: []uint8{0, c.first}}}
		waiting := 0
		for range 16 {
			switch due := s.copyDue(w, &trace.Access{NLines: 2}); due {
			case 0:
			case unit / 4:
				waiting++
			default:
				t.Errorf("%v of the granules of a copy come from DRAM, want none or a quarter", float64(due)/unit)
			}
		}
		if waiting != c.want {
			t.Errorf("%d of 16 copies wait for DRAM, want %d", waiting, c.want)
		}
	}
}
