package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// phases finds out that a CTA has no race on shared memory, at a small part of what
// raceChecker takes to say which one it has. A phase lasts from one barrier of all
// warps to the next, and what lies in different ones is in order. Within one, what
// a warp writes must be its own: nobody else reads or writes it. Reads are noted by
// stretches of shared memory, writes exactly. What looks like a race so need not be
// one: the CTA is run again under the checker.
type raceFilter struct {
	readers, writers []warpTag // by stretch, in this phase
	shift            uint      // of cells, which stores keep apart
	cells            []storeOf
	serial           uint64 // of stores so far
	first            uint64 // serial before this phase
}

// storeOf is the last store to a cell, of any CTA.
type storeOf struct {
	serial uint64
	by     warpTag
}

// warpNumber is a warp as phases know it: its number from 1 on; several when there
// is more than one, or lanes of one that need not have run together; 0 none.
type warpTag uint8

const severalWarps warpTag = 255

// alone reports whether accesses by x, and by y to the same, are of the same warp, in order.
func (x warpTag) alone(y warpTag) bool { return x == 0 || x == y && y != severalWarps }

// stretchBits is the logarithm of the bytes of a stretch: of rows of tiles, few
// share one.
const stretchBits = 5

// mostStretches is from how many on accesses are noted lane by lane.
const mostStretches = 32

func (p *raceFilter) reset(size, granule int) {
	n := size>>stretchBits + 1
	p.shift = uint(bits.TrailingZeros(uint(granule)))
	if cap(p.readers) < n {
		p.readers, p.writers = make([]warpTag, n), make([]warpTag, n)
	}
	p.readers, p.writers = p.readers[:n], p.writers[:n]
	if cells := size>>p.shift + 1; len(p.cells) < cells {
		p.cells = make([]storeOf, cells)
	}
	p.begin()
}

// begin begins a phase.
func (p *raceFilter) begin() {
	clear(p.readers)
	clear(p.writers)
	p.first = p.serial
}

// number is the warp that accesses memory now.
func (w *warp) number() warpTag {
	if w.apart() {
		return severalWarps
	}
	return warpTag(w.id + 1)
}

// join is x and y together.
func (x warpTag) join(y warpTag) warpTag {
	if x.alone(y) {
		return y
	}
	return severalWarps
}

// read notes a read of bytes lo to hi, and says that no other warp has written there
// in this phase.
func (p *raceFilter) read(by warpTag, lo, hi uint64) bool {
	for i := lo >> stretchBits; i <= hi>>stretchBits; i++ {
		if !p.writers[i].alone(by) {
			return false
		}
		p.readers[i] = p.readers[i].join(by)
	}
	return true
}

// write notes a lane's write of bytes lo to hi, part of the store with the latest
// serial, and says that nobody else has read or written there in this phase.
func (p *raceFilter) write(by warpTag, lo, hi uint64) bool {
	for i := lo >> stretchBits; i <= hi>>stretchBits; i++ {
		if !p.readers[i].alone(by) {
			return false
		}
		p.writers[i] = p.writers[i].join(by)
	}
	for i := lo >> p.shift; i <= hi>>p.shift; i++ {
		c := &p.cells[i]
		if c.serial > p.first && (c.serial == p.serial || !c.by.alone(by)) {
			return false
		}
		*c = storeOf{p.serial, by}
	}
	return true
}

// narrow reports whether addresses lie so close together that they need not be noted lane
// by lane.
func (e extent) narrow() bool { return (e.hi-e.lo)>>stretchBits < mostStretches }

// inPhase notes an access to shared memory by the lanes in mask, whose addresses lie
// between those of e, and says that it races with none in this phase.
func (r *Runner) passesFilter(w *warp, a *access, mask uint32, e extent) bool {
	p, by, last := r.filter, w.number(), uint64(a.width-1)
	if !a.write && e.narrow() {
		return p.read(by, e.lo, e.hi+last)
	}
	p.serial++
	for m := mask; m != 0; m &= m - 1 {
		addr := r.addr[bits.TrailingZeros32(m)&(WarpSize-1)]
		if a.write && !p.write(by, addr, addr+last) || !a.write && !p.read(by, addr, addr+last) {
			return false
		}
	}
	return true
}

// inPhases reports whether races of a kernel can be ruled out phase by phase: not where
// strong accesses or asynchronous copies make an order of their own, which would look
// like races, nor where what runs twice does not do the same.
func (p *Program) canFilterRaces() bool {
	if p.Mode != Slice || !p.rewritable {
		return false
	}
	for pc := range p.Kernel.Instrs {
		in := &p.Kernel.Instrs[pc]
		if in.Op == ir.CpAsync || isStrong(in) && (in.Space == ir.Shared || in.Space == ir.Generic) {
			return false
		}
	}
	return true
}
