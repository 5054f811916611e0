// Package racecheck finds races in device memory: one thread plainly stores to a byte, another one
// plainly loads it or stores to it, and nothing orders the two. The threads may be of one CTA, or of
// several, which are executed one after the other.
//
// Within a CTA the caller knows the order (Lane.Before). Between CTAs only strong accesses make an
// order: atomics and volatile, relaxed and ordered loads and stores. Each is taken to release what
// its thread, and those it has met at barriers, did before, and to acquire what earlier strong
// accesses to the same address released. That is more than PTX promises without fences, so that
// synchronisation by counters and flags is not called a race. A strong access races with nothing.
//
// A store of the value that another CTA's thread stores as well does not race with that store. A
// store of the value that is already there does not race with a load.
//
// The order in which CTAs are executed does not matter, nor whether memory is reset between them: a
// CTA that reads what an earlier one wrote races, and so does one that writes what an earlier one
// read.
//
// It costs about 72 bytes for each word of device memory that the CTAs touch and some thread of the
// kernel may write. A CTA of a transpose takes 1.7 times as long as with races looked for in shared
// memory alone, one of a matrix multiplication no longer (go test -bench 'Sgemm|Transpose'
// ./simengine/exec).
package racecheck

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/arch"
)

const warpSize = arch.WarpSize

// Touch is an access of one thread to a cell. A zero Run means none.
type Touch struct {
	Run    int32 // of the series' CTAs, from 1 on in the order in which they are executed
	Tick   uint32
	PC     int32
	Thread uint16 // of the CTA
	Strong bool
}

// Lane is the thread of an access, with the order of its CTA.
type Lane interface {
	// Before says that an earlier access of the same CTA comes before this one.
	Before(old *Touch) bool
	// Stores is what a store writes to the bytes of a cell, Holds what is there before; false: it is not known.
	Stores(addr uint64, size int) (uint32, bool)
	Holds(addr uint64, size int) (uint32, bool)
}

// cell is what was done last to the bytes of a cell: the write, up to two reads after it of
// warps of one CTA that are not ordered with each other, and a read of an earlier CTA.
type cell struct {
	write  Touch
	reads  [2]Touch
	past   Touch
	value  uint32
	stored bool // value is what was written
}

const (
	pageBits = 12
	pageSize = 1 << pageBits
)

// page is the cells of 4 KB of device memory.
type page struct{ cells []cell }

// Series is the CTAs of one launch that are executed one after the other. It is for one goroutine.
type Series struct {
	shift  uint // of a cell's bytes
	limit  int
	pages  map[uint64]*page
	order  []uint64 // of pages, the oldest first
	free   []*page
	key    uint64
	at     *page               // that of key
	places map[uint64]*release // by address of strong accesses: the last CTA's, which came after all before
	runs   []*history

	run      int32
	now      *history
	question int64
	ask      []*release
	dropped  int
}

// DefaultLimit is the bytes of cells that a series keeps where it is told no other limit.
const DefaultLimit = 512 << 20

// cellBytes is what a cell takes.
const cellBytes = 72

// New returns a series that keeps at most limit bytes of cells, 0 for DefaultLimit. Beyond the limit
// it forgets the oldest.
func New(limit int) *Series {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Series{limit: limit, pages: map[uint64]*page{}, places: map[uint64]*release{}, shift: 2}
}

// Reset forgets all accesses, for another launch.
func (s *Series) Reset() {
	for _, p := range s.pages {
		s.free = append(s.free, p)
	}
	clear(s.pages)
	clear(s.places)
	clear(s.runs)
	s.order, s.runs, s.at, s.now, s.run, s.dropped = s.order[:0], s.runs[:0], nil, nil, 0, 0
}

// Begin begins the execution of a CTA. granule is the finest access of the program in bytes, a power
// of two; cells have at most 4 bytes. What was noted of the same CTA before is forgotten.
func (s *Series) Begin(cta int64, granule int) {
	if shift := uint(bits.TrailingZeros(uint(min(granule, 4)))); shift != s.shift {
		s.Reset()
		s.free, s.shift = nil, shift
	}
	s.now = &history{cta: cta}
	s.runs = append(s.runs, s.now)
	s.run = int32(len(s.runs))
}

// CTA returns the CTA of an access.
func (s *Series) CTA(t *Touch) int64 { return s.runs[t.Run-1].cta }

// Run is the number of the CTA that is executed now.
func (s *Series) Run() int32 { return s.run }

// Dropped is how many pages of 4 KB were forgotten because of the limit. Races with earlier accesses
// to them are not found.
func (s *Series) Dropped() int { return s.dropped }

// cell is the last accesses to some bytes: the last write, up to two later reads by warps of one CTA
// that are not ordered with each other, and a read by an earlier CTA.
func (s *Series) cell(addr uint64) *cell {
	key := addr >> pageBits
	if s.at == nil || s.key != key {
		s.key, s.at = key, s.page(key)
	}
	return &s.at.cells[addr&(pageSize-1)>>s.shift]
}

func (s *Series) page(key uint64) *page {
	if p := s.pages[key]; p != nil {
		return p
	}
	if len(s.order) > 0 && len(s.pages)*(pageSize>>s.shift)*cellBytes >= s.limit {
		s.free = append(s.free, s.pages[s.order[0]])
		delete(s.pages, s.order[0])
		s.order = s.order[1:]
		s.dropped++
	}
	var p *page
	if n := len(s.free); n > 0 {
		p, s.free = s.free[n-1], s.free[:n-1]
		clear(p.cells)
	} else {
		p = &page{make([]cell, pageSize>>s.shift)}
	}
	s.pages[key] = p
	s.order = append(s.order, key)
	return p
}
