package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// written is the shared side of a cp.async, of which the global side comes before.
func (r *Recorder) written(w *trace.Warp, pc, width int, mask uint32, addr *Lanes) {
	from := &r.patterns[r.patternOf[pc]]
	to := &r.patterns[r.patternOf[pc]+1]
	if _, ok := to.shifted(ir.Shared, width, mask, r.bankWidth, addr); !ok {
		r.analyse(to, pc, ir.Shared, width, mask, addr)
		from.split = false
	}
	if r.kernel.Instrs[pc].Mod&ir.ModBypassL1 != 0 {
		from.follow(w, pc, (addr[first(mask)]-to.addr[first(mask)])%sectorBytes, addr)
	}
	w.Accesses = append(w.Accesses, to.access)
}

// first is the first lane of a mask.
func first(mask uint32) int { return bits.TrailingZeros32(mask) & (warpSize - 1) }

// follow notes in the lines of the access just recorded, a copy's global side of this pattern, what is fetched
// twice: as before where what it writes has moved by whole sectors.
func (p *pattern) follow(w *trace.Warp, pc int, moved uint64, to *Lanes) {
	n := len(w.Accesses) - 1
	if n < 0 || w.Accesses[n].PC != int32(pc) || w.Accesses[n].Space != ir.Global {
		return // no lane reads
	}
	if !p.split || moved != 0 {
		p.fetchTwice(to)
		p.split = moved == 0
	}
	for i := range p.lines {
		l := &w.Lines[int(w.Accesses[n].First)+i]
		l.Twice, l.Times = p.lines[i].Twice, p.lines[i].Times
	}
}

// fetchTwice marks the sectors of which lanes write parts to different sectors of shared
// memory. A copy that passes L1 by fetches such a sector for each of them. Rows of 128 bytes, every other of which
// begins in the middle of a sector of shared memory, are 24 sectors, and 16 else. With L1 on the way they are always
// 16 (deploy/calibrate asyncs.copies cg and ca, pitch 144 and 128).
func (p *pattern) fetchTwice(to *Lanes) {
	for i := range p.lines {
		p.lines[i].Twice, p.lines[i].Times = 0, 0
	}
	var from, into Lanes // sectors that are read, and those that lanes write of each
	n := 0
next:
	for m := p.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		sector, at := p.addr[l]/sectorBytes, to[l]/sectorBytes
		times := uint8(1)
		for i := n - 1; i >= 0; i-- { // the last first: neighbours have one in common
			if from[i] == sector {
				if into[i] == at {
					continue next
				}
				times++
			}
		}
		from[n], into[n] = sector, at
		n++
		if times > 1 {
			p.mark(p.addr[l], times)
		}
	}
}

// mark marks the sector of an address as fetched so many times.
func (p *pattern) mark(addr uint64, times uint8) {
	for i := range p.lines {
		if p.lines[i].Addr == addr>>lineShift {
			p.lines[i].Twice |= 1 << (addr / sectorBytes % (lineBytes / sectorBytes))
			p.lines[i].Times = max(p.lines[i].Times, times)
		}
	}
}
