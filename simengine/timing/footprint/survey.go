package footprint

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/disjoint"
)

// Direction says how a surveyed CTA stands to the first one.
type Direction uint8

// Directions. The zero value is invalid. Far CTAs, at the ends of the grid, only
// widen the address range: without them no access is taken for random. Spread
// ones, drawn from the whole grid where CTAs differ, say how much a CTA touches in
// the mean, in the place of the cluster; what neighbours share is the cluster's.
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

// Survey collects the granules CTAs touch, in any order within a CTA; CTAs of
// the cluster come first, neighbours after the one they neighbour.
// It is not safe for concurrent use.
type Survey struct {
	granule     int // bytes: 32 or 64
	rowSegment  int // bytes, a multiple of granule
	perLine     uint64
	table       granuleTable
	opened      granuleTable
	cta         int16  // 1-based index of the current CTA
	order       uint16 // requests that the current warp has made
	warp        uint8  // index of it in the CTA, modulo
	dir         Direction
	parent      disjoint.Sets          // of pcs: loads at pc, stores at pcs+pc
	distinct    [][numDirections]int64 // granules first touched in a CTA, by pc and direction
	fresh       [][numDirections]int64 // of those, the ones no earlier CTA touched
	extra       [][numDirections]int64 // of the fresh, the ones new to loads and stores alike
	inStep      [][numDirections]int64 // of the others, those that an earlier CTA read at the same time
	rowSegments []int64                // pieces first read, by pc, far CTAs left out
	beside      []int32                // by pc: an instruction that had read of the pieces before that it reads more of, -1 for none
	visits      [][numDirections]int64 // lines that a CTA first reads of, by pc and direction
	openings    [][numDirections]int64 // pieces likewise
	sharing     falseSharing
	locality    [2]rowLocality        // where loads and stores go
	written     []int64               // bytes stored, by pc, far CTAs left out
	asked       []int64               // half sectors of fresh granules that the first request of each reads, by pc, far CTAs left out
	stored      [numDirections]uint64 // lowest line stored to in a direction
	low         []uint64              // lowest and highest line by pc
	high        []uint64
	ctas        [numDirections]int64
	now         moment    // of the touches
	warps       []moment  // the iteration that each of the CTA's warps is in, however many it stands for
	serial      []bool    // by pc: a warp reads a granule in several iterations, a part in each
	skipped     []bool    // by pc: some touches stood for more than one
	distances   distances // of the first CTA's touches
	again       []*spans  // by pc, what the first CTA touches again
}

// New makes an empty survey for a kernel of pcs instructions. granule is the
// unit of traffic in bytes, 32 or 64; piece what DRAM moves for one opening.
func New(pcs, granule, piece int) *Survey {
	s := &Survey{granule: granule, rowSegment: max(piece, granule), perLine: uint64(lineBytes / granule), table: newGranuleTable(), opened: newGranuleTable(), now: moment{stands: 1}}
	n := 2 * pcs
	s.skipped, s.serial = make([]bool, n), make([]bool, n)
	s.parent, s.beside = disjoint.New(n), make([]int32, n)
	s.low, s.high = make([]uint64, n), make([]uint64, n)
	for i := range s.parent {
		s.low[i], s.beside[i] = ^uint64(0), -1
	}
	s.distinct = make([][numDirections]int64, n)
	s.fresh = make([][numDirections]int64, n)
	s.rowSegments = make([]int64, n)
	s.visits, s.openings = make([][numDirections]int64, n), make([][numDirections]int64, n)
	s.written = make([]int64, n)
	s.asked = make([]int64, n)
	for k := range s.stored {
		s.stored[k] = ^uint64(0)
	}
	s.extra, s.inStep = make([][numDirections]int64, n), make([][numDirections]int64, n)
	s.sharing, s.locality = newFalseSharing(pcs), [2]rowLocality{newRowLocality(pcs), newRowLocality(pcs)}
	s.again = make([]*spans, n)
	return s
}

const lineBytes = 128

// Scattered says that so far little of each piece touched is used: the
// accesses may be random, and Far CTAs are worth surveying.
func (s *Survey) Scattered() bool {
	var fresh, pieces int64
	for i := range len(s.parent) / 2 {
		for k := Base; k <= Z; k++ {
			fresh += s.fresh[i][k]
		}
		pieces += s.rowSegments[i]
	}
	return 2*fresh*int64(s.granule) < pieces*int64(s.rowSegment)
}

// StandFor says that the following touches of the CTA, of a loop iteration of a
// warp, stand for n iterations like it: what such an iteration is the first to touch,
// each of the others touches as much of. A warp's steps one after another that stand
// for as many are of one iteration, and warps are taken to come to their iterations
// alike. With 0 the touches are no CTA's own, and only there for others to find.
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
	s.now, s.warps = moment{stands: 1}, s.warps[:0]
	s.dir = d
	s.ctas[d]++
}

// Request starts a request of a warp of the CTA, the order-th that it makes. Warps
// make theirs in turns: of two requests of a granule the one that fewer of its
// warp's come before is the first.
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
	if s.dir == Base {
		s.repeat(id, line, store)
	}
	width := uint(s.granule / 32)
	mask := uint8(1<<width - 1)
	shared, whole := !store && s.shares(line, sectors), uint8(0) // granules
	for g := range s.perLine {
		m := mask << (uint(g) * width)
		if sectors&m == 0 {
			continue
		}
		if s.touch(id, line*s.perLine+g, store, bits.OnesCount8(sectors&m)) {
			first, whole = first|sectors&m, whole|m
		}
	}
	switch {
	case store && s.now.stands > 0:
		s.sharing.stored[s.warp] = true
	case first != 0 && !store:
		s.locate(loads, pc, line, whole)
		s.visit(id, line, sectors)
		s.sharing.read(s, id, shared)
	}
	return first
}

// shares says that a request of a part of a line comes after its warp has stored, and
// that other warps have read of the line before.
func (s *Survey) shares(line uint64, sectors uint8) bool {
	if !s.sharing.stored[s.warp] {
		return false
	}
	for g := range s.perLine {
		if e := s.table.slot(line*s.perLine + g + 1); e.read != 0 && (e.read != s.cta || e.first.warp != s.warp) {
			return true
		}
	}
	return false
}

// visit counts the line and the piece of a first read of sectors, where the CTA has not
// read of them before.
func (s *Survey) visit(id int32, line uint64, sectors uint8) {
	if !s.visited(line, sectors) {
		s.visits[id][s.dir] += s.now.stands
	}
	if p := s.opened.entry(line * s.perLine / uint64(s.rowSegment/s.granule)); p.written != s.cta {
		p.written = s.cta
		s.openings[id][s.dir] += s.now.stands
	}
}

// visited says that the CTA has read other granules of a line than those of sectors.
func (s *Survey) visited(line uint64, sectors uint8) bool {
	width := uint(s.granule / 32)
	for g := range s.perLine {
		if sectors>>(uint(g)*width)&(1<<width-1) == 0 && s.table.slot(line*s.perLine+g+1).read == s.cta {
			return true
		}
	}
	return false
}

// Update records that the current CTA's atomics read and write sectors of a line by
// instruction pc: what they add to comes from DRAM and goes back there
// (deploy/calibrate reds, whose DRAM reads and writes are as many). It returns the
// sectors whose granule the CTA reads for the first time.
func (s *Survey) Update(pc int32, line uint64, sectors uint8) (first uint8) {
	s.Touch(pc, line, sectors, true)
	return s.Touch(pc, line, sectors, false)
}

// repeat counts a touch by how many other lines came since the CTA touched this one.
func (s *Survey) repeat(id int32, line uint64, store bool) {
	n, ok := s.distances.touch(line, s.now, store)
	if !ok {
		return
	}
	if s.again[id] == nil {
		s.again[id] = new(spans)
	}
	s.again[id][class(n)] += s.now.stands
}

// Store records that the current CTA stores bytes by instruction pc, other CTAs
// others: where each writes a part of a granule, more of them share it than the
// cluster shows.
func (s *Survey) Store(pc int32, bytes int64) {
	if s.dir != Far {
		s.written[int(pc)+len(s.parent)/2] += bytes * s.now.stands
		s.locality[stores].of(pc, s.dir).bytes += bytes * s.now.stands
	}
}

func (s *Survey) touch(id int32, granule uint64, store bool, sectors int) (first bool) {
	e := s.table.entry(granule)
	stamp, owner, n := &e.read, &e.reader, s.now.stands
	if s.serial[id] && n > 0 {
		// Of the iterations that this one stands for not each begins a granule.
		n = max(n*int64(sectors)*sectorBytes/int64(s.granule), 1)
	}
	if store {
		stamp, owner = &e.written, &e.writer
		s.sharing.store(e)
	}
	if *stamp != 0 {
		s.parent.Join(id, *owner)
		if !store && *stamp != s.cta && s.order == e.first.order {
			s.inStep[id][s.dir] += n
		}
		if !store && s.order <= e.first.order {
			s.precede(e, sectors)
		}
		if *stamp == s.cta {
			s.serial[id] = s.serial[id] || !store && id == *owner && s.warp == e.first.warp && s.order > e.first.order
			return false
		}
	} else {
		s.fresh[id][s.dir] += n
		if e.read == 0 && e.written == 0 {
			s.extra[id][s.dir] += n
		}
		*owner = id
		if !store {
			s.read(e, id, granule, sectors)
		}
	}
	*stamp = s.cta
	s.distinct[id][s.dir] += n
	return true
}

// read records the first read of a granule.
func (s *Survey) read(e *entry, id int32, granule uint64, sectors int) {
	if s.dir >= Far {
		return
	}
	e.first = request{order: s.order, twice: uint8(2 * sectors), warp: s.warp}
	s.asked[id] += int64(2*sectors) * s.now.stands
	p := s.opened.entry(granule / uint64(s.rowSegment/s.granule))
	switch {
	case p.read == 0:
		p.read, p.reader = 1, id
		s.rowSegments[id] += s.now.stands
	case p.reader != id:
		s.beside[id] = p.reader
	}
}

// precede records a read of a granule that comes before the one known as the first,
// or as soon as that one: then either may be the first.
func (s *Survey) precede(e *entry, sectors int) {
	if s.dir >= Far {
		return
	}
	twice := uint8(2 * sectors)
	if s.order == e.first.order {
		twice = (twice + e.first.twice) / 2
	}
	s.asked[e.reader] += (int64(twice) - int64(e.first.twice)) * s.now.stands
	e.first = request{order: s.order, twice: twice, warp: s.warp}
}
