package footprint

import (
	"math"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/disjoint"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// Direction is how a surveyed CTA stands to the first one.
type Direction uint8

// Directions. The zero value is invalid. X, Y and Z are neighbours along an axis. Far CTAs, at
// the ends of the grid, only widen the range of addresses: without them no access is taken for
// random. Spread CTAs are drawn from the whole grid where CTAs differ: they say how much a CTA
// touches in the mean, while what neighbours share is that of the first one and its neighbours.
const (
	DirectionInvalid Direction = iota
	Base
	X
	Y
	Z
	Far
	Spread
	numDirections
)

var directionNames = [numDirections]string{"invalid", "base", "x", "y", "z", "far", "spread"}

func (d Direction) String() string {
	if d < numDirections {
		return directionNames[d]
	}
	return "invalid"
}

// Survey collects the granules that CTAs touch, in any order within a CTA. The first CTA and its
// neighbours come first, a neighbour after the CTA that it neighbours. It is not safe for
// concurrent use.
type Survey struct {
	granule    int // bytes: 32 or 64
	rowSegment int // bytes that DRAM brings for one opening of a row, a multiple of granule
	perLine    uint64
	*tables
	cursor
	ctas     [numDirections]int64  // surveyed
	stored   [numDirections]uint64 // lowest line stored to
	sharing  falseSharing
	locality [2]rowLocality  // of loads and stores
	again    []*spans        // by id: what the first CTA touches again
	walked   []walk          // by load
	leftOut  []int32         // loads of the current CTA of which iterations are left out
	probed   []timing.Probed // by instruction; nil: no CTA was probed
	// inStepProbes: it matters which of those probed read the same at a time. probeMore probes one more CTA, so far from
	// the first; probedAt is where it was.
	inStepProbes bool
	probeMore    func(distance int64) (found bool)
	probedAt     int64
}

// cursor is where the survey is.
type cursor struct {
	cta   int16     // 1-based index of the current CTA
	dir   Direction // of it
	warp  uint8     // current warp, by its index in the CTA, modulo 256
	order uint16    // requests that it has made
	now   moment    // of the touches
	warps []moment  // the loop iteration that each of the CTA's warps is in
	made  int64     // granules that the CTA has touched first

	between int64 // lines since the first CTA last touched this one, 0 where it did not
	life    int64 // those of the first CTA in all
}

// byID is what is counted by id, which is pc for loads and pcs+pc for stores of instruction pc.
type byID struct {
	parent      disjoint.Sets          // ids that touch common granules
	distinct    [][numDirections]int64 // granules first touched in a CTA
	fresh       [][numDirections]int64 // of those, the ones that no earlier CTA touched
	extra       [][numDirections]int64 // of the fresh, the ones new to loads and stores alike
	inStep      [][numDirections]int64 // of the others, those that an earlier CTA read with the same request
	met, later  [][numDirections]int64 // of the others, those that the first CTA read, and how many granules later in its life it does
	visits      [][numDirections]int64 // lines that a CTA first reads of
	openings    [][numDirections]int64 // row segments likewise
	rowSegments []int64                // row segments first read, far CTAs left out
	beside      []int32                // an id that read of the same row segments before, -1 for none
	written     []int64                // bytes stored, far CTAs left out
	asked       []int64                // half sectors of fresh granules that the first request of each reads, far CTAs left out
	low, high   []uint64               // lowest and highest line
	serial      []bool                 // a warp reads a granule in several iterations, a part in each
	skipped     []bool                 // some touches stood for more than one iteration
}

// reset counts nothing, of n ids.
func (c *byID) reset(n int) {
	c.parent = disjoint.New(n)
	for _, counts := range [...]*[][numDirections]int64{&c.distinct, &c.fresh, &c.extra, &c.inStep, &c.met, &c.later, &c.visits, &c.openings} {
		*counts = zeroed(*counts, n)
	}
	c.rowSegments, c.written, c.asked = zeroed(c.rowSegments, n), zeroed(c.written, n), zeroed(c.asked, n)
	c.beside, c.low, c.high = zeroed(c.beside, n), zeroed(c.low, n), zeroed(c.high, n)
	for i := range n {
		c.low[i], c.beside[i] = ^uint64(0), -1
	}
	c.serial, c.skipped = zeroed(c.serial, n), zeroed(c.skipped, n)
}

// zeroed returns n zeros, in the storage of s where it is large enough.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// New makes an empty survey for a kernel of pcs instructions. granule is the unit of traffic,
// 32 or 64 bytes; rowSegment the bytes that DRAM brings for one opening of a row.
func New(pcs, granule, rowSegment int) *Survey {
	perLine := uint64(lineBytes / granule)
	s := &Survey{granule: granule, rowSegment: max(rowSegment, granule), perLine: perLine, tables: takeTables(perLine), cursor: cursor{now: moment{stands: 1}}}
	n := 2 * pcs
	s.reset(n)
	for k := range s.stored {
		s.stored[k] = ^uint64(0)
	}
	s.sharing, s.locality = newFalseSharing(pcs), [2]rowLocality{newRowLocality(pcs), newRowLocality(pcs)}
	s.again, s.walked = make([]*spans, n), make([]walk, pcs)
	return s
}

const lineBytes = 128

// Scattered reports whether less than half of each row segment touched so far is used: then
// accesses may be random, and Far CTAs are worth surveying.
func (s *Survey) Scattered() bool {
	var fresh, segments int64
	for i := range len(s.parent) / 2 {
		for k := Base; k <= Z; k++ {
			fresh += s.fresh[i][k]
		}
		segments += s.rowSegments[i]
	}
	return 2*fresh*int64(s.granule) < segments*int64(s.rowSegment)
}

// StandFor says that the warp's following touches belong to a loop iteration that stands for n
// iterations like it. What such an iteration is the first to touch, each of the others touches
// as much of. Consecutive steps of a warp with one n are one iteration, and warps are taken to
// come to their iterations alike. With n = 0 the touches are no CTA's own: they are only there
// for others to find.
func (s *Survey) StandFor(warp int, n int64) {
	for warp >= len(s.warps) {
		s.warps = append(s.warps, moment{})
	}
	w := &s.warps[warp]
	if w.stands != n {
		w.iteration, w.stands = w.iteration+1, n
	}
	s.now = *w
	if n <= 1 {
		s.now.iteration = 0
	}
}

// Begin starts the next CTA.
func (s *Survey) Begin(d Direction) {
	if d == Spread && s.ctas[Spread] == 0 {
		clear(s.written)
	}
	s.cta++
	clear(s.sharing.stored[:])
	s.now, s.warps, s.made, s.leftOut = moment{stands: 1}, s.warps[:0], 0, s.leftOut[:0]
	s.dir = d
	s.ctas[d]++
}

// Request starts the order-th request of a warp of the current CTA. Warps make requests in
// turns: of two requests of a granule, the one with the lower order is the first.
func (s *Survey) Request(warp, order int) {
	s.warp = uint8(warp)
	s.order = uint16(min(order, math.MaxUint16))
}

// Touch records that the current CTA reads or writes sectors of a line by
// instruction pc. It returns the sectors whose granule the CTA touches for the
// first time (in that way: reads and writes are counted apart).
func (s *Survey) Touch(pc int32, line uint64, sectors uint8, store bool) (first uint8) {
	id := pc
	if store {
		id += int32(len(s.parent) / 2)
	}
	s.skipped[id] = s.skipped[id] || s.now.stands > 1
	if s.now.stands > 0 { // what data points to is not where it would be by strides
		s.low[id], s.high[id] = min(s.low[id], line), max(s.high[id], line)
	}
	if store {
		s.stored[s.dir] = min(s.stored[s.dir], line)
	}
	s.between = 0
	if s.dir == Base {
		s.between = s.repeat(id, line, store)
	}
	width := uint(s.granule / 32)
	mask := uint8(1<<width - 1)
	l := s.lines.entry(line)
	shared, whole := !store && s.shares(l, sectors), uint8(0) // granules
	ago, passed := int64(0), false
	if !store && s.now.stands > 0 {
		ago, passed = s.passed(pc, line)
		s.walks(pc, line, int64(cost.Granules(s.granule, sectors))*s.now.stands)
	}
	for g := range s.perLine {
		m := mask << (uint(g) * width)
		if sectors&m == 0 {
			continue
		}
		if e := &l.granules[g]; passed && e.read != s.cta {
			s.pass(id, e, ago)
			continue
		}
		if s.touch(id, &l.granules[g], l.run, line*s.perLine+g, store, bits.OnesCount8(sectors&m)) {
			first, whole = first|sectors&m, whole|m
		}
	}
	switch {
	case store && s.now.stands > 0:
		s.sharing.stored[s.warp] = true
	case first != 0 && !store:
		s.locate(loads, pc, line, l, whole)
		s.visit(id, l, line, sectors)
		s.sharing.read(s, id, shared)
	}
	return first
}

// shares reports whether a request for a part of a line comes after its warp has stored, and
// other warps have read of the line before.
func (s *Survey) shares(l lineEntry, sectors uint8) bool {
	if !s.sharing.stored[s.warp] {
		return false
	}
	for g := range s.perLine {
		if e := &l.granules[g]; e.read != 0 && (e.read != s.cta || e.first.warp != s.warp) {
			return true
		}
	}
	return false
}

// visit counts the line and the row segment of a first read of sectors, where the CTA has not
// read of them before.
func (s *Survey) visit(id int32, l lineEntry, line uint64, sectors uint8) {
	if !s.visited(l, sectors) {
		s.visits[id][s.dir] += s.now.stands
	}
	if p := s.segment(l.run, line*s.perLine); p.opened != s.cta {
		p.opened = s.cta
		s.openings[id][s.dir] += s.now.stands
	}
}

// segment is the row segment of a granule in a run of lines.
func (s *Survey) segment(run *lineRun, granule uint64) *segmentEntry {
	if s.rowSegment == runGranules*s.granule {
		return &run.segment
	}
	return s.segments.entry(granule / uint64(s.rowSegment/s.granule))
}

// visited reports whether the CTA has read other granules of a line than those of sectors.
func (s *Survey) visited(l lineEntry, sectors uint8) bool {
	width := uint(s.granule / 32)
	for g := range s.perLine {
		if sectors>>(uint(g)*width)&(1<<width-1) == 0 && l.granules[g].read == s.cta {
			return true
		}
	}
	return false
}

// Update records that the current CTA's atomics read and write sectors of a line by instruction
// pc: what they add to comes from DRAM and goes back there (deploy/calibrate reds: as many DRAM
// reads as writes). It returns the sectors whose granule the CTA reads for the first time.
func (s *Survey) Update(pc int32, line uint64, sectors uint8) (first uint8) {
	s.Touch(pc, line, sectors, true)
	return s.Touch(pc, line, sectors, false)
}

// repeat counts a touch by how many other lines came since the CTA last touched this one, and returns it.
func (s *Survey) repeat(id int32, line uint64, store bool) (n int64) {
	n, ok := s.distances.touch(line, s.now, store)
	if !ok {
		return 0
	}
	if s.again[id] == nil {
		s.again[id] = new(spans)
	}
	s.again[id][class(n)] += s.now.stands
	return n
}

// Store records that the current CTA stores bytes by instruction pc. Where each CTA writes a
// part of a granule, more CTAs share it than were surveyed: the bytes tell how many.
func (s *Survey) Store(pc int32, bytes int64) {
	if s.dir != Far {
		s.written[int(pc)+len(s.parent)/2] += bytes * s.now.stands
		s.locality[stores].of(pc, s.dir).bytes += bytes * s.now.stands
	}
}
