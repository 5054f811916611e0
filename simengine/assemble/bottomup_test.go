package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// Words that several results share are used up by all of them before the next: the
// program's order keeps (rows-1)*size of them, the order of demand all.
func TestSharedWordsAreUsedUp(t *testing.T) {
	for _, x := range []struct{ size, rows int }{{9, 4}, {11, 7}, {15, 8}} {
		for _, cc := range [][2]int{{7, 5}, {8, 6}, {9, 0}} {
			p := must(t, asmtest.Filtered(x.size, x.rows), Options{CC: cc})
			tg, err := target.For(cc)
			if err != nil {
				t.Fatal(err)
			}
			if p.Registers > tg.Steps[0] || p.SpillBytes != 0 {
				t.Errorf("size %d, %d results for sm_%d%d: %d registers and %d bytes spilled, want at most %d and none",
					x.size, x.rows, cc[0], cc[1], p.Registers, p.SpillBytes, tg.Steps[0])
			}
			loads := 0
			for b := range p.Blocks {
				for _, in := range p.Blocks[b].Instrs {
					if in.Class == mir.Load {
						loads++
					}
				}
			}
			if want := (x.size + x.rows - 1) * x.size; loads != want {
				t.Errorf("size %d, %d results for sm_%d%d: %d loads, want %d", x.size, x.rows, cc[0], cc[1], loads, want)
			}
		}
	}
}
