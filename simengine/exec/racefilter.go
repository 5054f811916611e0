package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
)

// raceFilter proves that a CTA has no race on shared memory, at a small part of the cost of
// raceChecker. A phase lasts from one barrier of all warps to the next; accesses in different phases
// are ordered. Within a phase, what a warp writes must be its own: no other warp reads or writes it.
// Reads are noted by segments of 32 bytes, writes exactly, and asynchronous copies in racecopies.go. A conflict need not be a race: the CTA is
// run again under raceChecker, which decides.
type raceFilter struct {
	readers, writers []warpTag // by stretch, in this phase
	shift            uint      // of cells, which stores keep apart
	stores           []storeOf
	serial           uint64 // of stores so far
	first            uint64 // serial before this phase
	copies           copyFilter
}

// storeOf is the last store to a cell, of any CTA.
type storeOf struct {
	serial uint64
	by     warpTag
}

// warpTag is who accessed a place in this phase: 0 nobody, w+1 the lanes of warp w running together,
// severalWarps more than one warp, or lanes of one that diverged.
type warpTag uint8

const severalWarps warpTag = 255

// alone reports whether accesses by x and by y to one place are ordered: one of them is nobody, or
// both are the same warp.
func (x warpTag) alone(y warpTag) bool { return x == 0 || x == y && y != severalWarps }

// segmentBits is the logarithm of the bytes of a segment. Rows of tiles seldom share one.
const segmentBits = 5

// maxSegments is from how many segments on an access is noted lane by lane.
const maxSegments = 32

// reset begins a CTA with so many bytes of shared memory. copies is the size of the smallest cp.async, 0: there is none.
func (p *raceFilter) reset(size, granule, copies int) {
	n := size>>segmentBits + 1
	p.shift = uint(bits.TrailingZeros(uint(granule)))
	if cap(p.readers) < n {
		p.readers, p.writers = make([]warpTag, n), make([]warpTag, n)
	}
	p.readers, p.writers = p.readers[:n], p.writers[:n]
	if cells := size>>p.shift + 1; len(p.stores) < cells {
		p.stores = make([]storeOf, cells)
	}
	p.copies.reset(size, copies)
	p.begin()
}

// begin begins a phase.
func (p *raceFilter) begin() {
	clear(p.readers)
	clear(p.writers)
	p.first = p.serial
	p.copies.phase++
}

// number is the tag of the warp that accesses memory now.
func (w *warp) number() warpTag {
	if w.diverged() {
		return severalWarps
	}
	return warpTag(w.id + 1)
}

// join is the tag for accesses by both x and y.
func (x warpTag) join(y warpTag) warpTag {
	if x.alone(y) {
		return y
	}
	return severalWarps
}

// read notes a read of bytes lo to hi. It reports whether no other warp has written there in this
// phase.
func (p *raceFilter) read(by warpTag, lo, hi uint64) bool {
	if !p.copies.settled(by, lo, hi) {
		return false
	}
	for i := lo >> segmentBits; i <= hi>>segmentBits; i++ {
		if !p.writers[i].alone(by) {
			return false
		}
		p.readers[i] = p.readers[i].join(by)
	}
	return true
}

// write notes that a lane writes bytes lo to hi, as part of the store with the latest serial. It
// reports whether nobody else has read or written there in this phase.
func (p *raceFilter) write(by warpTag, lo, hi uint64) bool {
	if !p.copies.settled(by, lo, hi) {
		return false
	}
	for i := lo >> segmentBits; i <= hi>>segmentBits; i++ {
		if !p.readers[i].alone(by) {
			return false
		}
		p.writers[i] = p.writers[i].join(by)
	}
	for i := lo >> p.shift; i <= hi>>p.shift; i++ {
		c := &p.stores[i]
		if c.serial > p.first && (c.serial == p.serial || !c.by.alone(by)) {
			return false
		}
		*c = storeOf{p.serial, by}
	}
	return true
}

// narrow reports whether addresses lie so close together that they need not be noted lane by lane.
func (e extent) narrow() bool { return (e.hi-e.lo)>>segmentBits < maxSegments }

// passesFilter notes an access to shared memory by the lanes in mask, whose addresses are in e. It
// reports whether the access races with none in this phase.
func (r *Runner) passesFilter(w *warp, a *code.Access, mask uint32, e extent) bool {
	p, by, last := r.filter, w.number(), uint64(a.Width-1)
	if !a.Write && e.narrow() && p.read(by, e.lo, e.hi+last) {
		return true
	}
	p.serial++
	for m := mask; m != 0; m &= m - 1 {
		addr := r.addr[bits.TrailingZeros32(m)&(WarpSize-1)]
		if a.Write && !p.write(by, addr, addr+last) || !a.Write && !p.read(by, addr, addr+last) {
			return false
		}
	}
	return true
}
