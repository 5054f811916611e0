package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// Remote is what a request sends to other CTAs of the cluster: distinct sectors of their shared memory, and lines. Lanes
// that update the same word of a sector by an atomic send one after the other.
func Remote(addr *Lanes, mask uint32, width int, atomic bool) (sectors, lines int) {
	var seen [warpSize]struct {
		sector uint64
		same   [sectorBytes / 4]uint8 // lanes of each word
		most   uint8
	}
	for m := mask; m != 0; m &= m - 1 {
		at := addr[bits.TrailingZeros32(m)&(warpSize-1)]
		if at>>ir.RankShift == 0 {
			continue
		}
		line, i := true, 0
		for ; i < sectors && seen[i].sector != at>>sectorShift; i++ {
			line = line && seen[i].sector>>(lineShift-sectorShift) != at>>lineShift
		}
		if i == sectors {
			seen[i].sector = at >> sectorShift
			sectors++
			if line {
				lines++
			}
		}
		s := &seen[i]
		word := at % sectorBytes / 4
		s.same[word]++
		s.most = max(s.most, s.same[word])
	}
	if atomic {
		n := 0
		for i := range seen[:sectors] {
			n += int(seen[i].most)
		}
		return n, lines
	}
	return sectors, lines
}
