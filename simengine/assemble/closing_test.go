package assemble

import (
	"testing"
)

// Words that several results share are used up by all of them before the next: the
// program's order keeps (rows-1)*size of them, the order of demand all.
func TestSharedWordsAreUsedUp(t *testing.T) {
	for _, x := range []struct{ size, rows int }{{9, 4}, {11, 7}, {15, 8}} {
		for _, cc := range [][2]int{{7, 5}, {8, 6}, {9, 0}} {
			p := must(t, filtered(x.size, x.rows), Options{CC: cc})
			tg, err := targetFor(cc)
			if err != nil {
				t.Fatal(err)
			}
			if p.Registers > tg.steps[0] || p.SpillBytes != 0 {
				t.Errorf("size %d, %d results for sm_%d%d: %d registers and %d bytes spilled, want at most %d and none",
					x.size, x.rows, cc[0], cc[1], p.Registers, p.SpillBytes, tg.steps[0])
			}
			loads := 0
			for b := range p.Blocks {
				for _, in := range p.Blocks[b].Instrs {
					if in.Class == Load {
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
