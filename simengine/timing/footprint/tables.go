package footprint

import (
	"math"
	"slices"
)

// tables are what a survey knows of lines, row segments and instructions. They are large, and used again.
type tables struct {
	byID
	summed    []group // see Survey.groups
	lines     *runTable[lineEntry]
	segments  *runTable[segmentEntry] // of DRAM rows
	distances distances               // of the first CTA's touches
}

// lineEntry is what is known of a line: by granule, and by kind of access what stands in its row.
type lineEntry struct {
	granules [lineBytes / sectorBytes]entry
	located  [2]struct { // see rowLocality
		sectors uint8 // touched
		by      int32 // the instruction that was first
	}
}

// entry is what is known of one granule: the CTA that read and wrote it last (1-based, 0 none),
// the instruction that did so first, the first request that read it, whether the first CTA did (base), after how many
// granules and in which iteration.
type entry struct {
	read, written  int16
	reader, writer int32
	first          request
	base           bool
	after          int32
	iteration      int32
}

// request is a request that reads a granule: how many its warp made before, twice the sectors
// it reads (a mean, where several may be the first), and its warp, modulo 256.
type request struct {
	order       uint16
	twice, warp uint8
}

// segmentEntry is what is known of a row segment: the instruction that read of it first, and the CTA that did so last.
type segmentEntry struct {
	read   bool
	reader int32
	opened int16
}

// spareTables are empty tables with the storage of surveys that are done. The garbage collector empties a sync.Pool
// more often than it helps.
var spareTables = make(chan *tables, 4)

// takeTables returns empty tables.
func takeTables() *tables {
	select {
	case t := <-spareTables:
		return t
	default:
		return &tables{lines: newRunTable[lineEntry](), segments: newRunTable[segmentEntry]()}
	}
}

// mostSpareLines bounds the lines of tables that are kept, to some 10 MB.
const mostSpareLines = 1 << 17

// Release gives up the survey, which is not to be used any more, so that another one has its tables.
func (s *Survey) Release() {
	t := s.tables
	s.tables = nil
	if len(t.lines.keys) > mostSpareLines/runLength {
		return
	}
	t.lines.reset()
	t.segments.reset()
	t.distances.reset()
	select {
	case spareTables <- t:
	default:
	}
}

// runLength is how many consecutive keys share a run, a power of two: the lines of a DRAM row segment of 512 bytes.
const runLength = 4

// runTable is a hash table from numbers of lines, or of row segments, to what is known of them. A CTA's footprint is
// mostly runs of lines, so they are kept by runs, which lie one after the other in the order of their first touch.
type runTable[T any] struct {
	slots  []int32 // open addressing: 1 + the run there, 0 empty; 1 << bits
	bits   int
	keys   []uint64 // by run: key / runLength
	values [][runLength]T
	last   int // the run found last, often the next one to be asked for
	none   T
}

func newRunTable[T any]() *runTable[T] {
	const bits = 6
	return &runTable[T]{slots: make([]int32, 1<<bits), bits: bits}
}

// reset empties the table, but keeps its storage.
func (t *runTable[T]) reset() {
	clear(t.slots)
	t.keys, t.values, t.last = t.keys[:0], t.values[:0], 0
}

// entry returns the value of a key, zero if it is new. The pointer is good until the next call.
func (t *runTable[T]) entry(key uint64) *T {
	run := key / runLength
	if t.last < len(t.keys) && t.keys[t.last] == run {
		return &t.values[t.last][key%runLength]
	}
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	slot := t.slot(run)
	if t.slots[slot] == 0 {
		if n := len(t.keys); n == cap(t.values) { // twice as much: what is there is moved seldom
			t.keys, t.values = slices.Grow(t.keys, n+16), slices.Grow(t.values, n+16)
		}
		t.keys, t.values = append(t.keys, run), append(t.values, [runLength]T{})
		t.slots[slot] = int32(len(t.keys))
	}
	t.last = int(t.slots[slot]) - 1
	return &t.values[t.last][key%runLength]
}

// get returns the value of a key, zero for one without an entry.
func (t *runTable[T]) get(key uint64) *T {
	run := key / runLength
	if t.last < len(t.keys) && t.keys[t.last] == run {
		return &t.values[t.last][key%runLength]
	}
	if at := int(t.slots[t.slot(run)]) - 1; at >= 0 {
		return &t.values[at][key%runLength]
	}
	return &t.none
}

// home is the slot of a run that collides with none. Twice, since one multiplication leaves some strides of runs side by
// side.
func (t *runTable[T]) home(run uint64) uint64 {
	const multiplier = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio (Knuth, TAOCP 3, 6.4)
	run *= multiplier
	return (run ^ run>>32) * multiplier >> (64 - t.bits)
}

// slot is where a run is, or where it goes.
func (t *runTable[T]) slot(run uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	i := t.home(run)
	for t.slots[i] != 0 && t.keys[t.slots[i]-1] != run {
		i = (i + 1) & mask
	}
	return i
}

func (t *runTable[T]) grow() {
	t.bits += 2
	t.slots = make([]int32, 1<<t.bits)
	for i, run := range t.keys {
		t.slots[t.slot(run)] = int32(i) + 1
	}
}

// touch records the touch of a granule, of which a request uses so many sectors. It reports whether it is the CTA's
// first.
func (s *Survey) touch(id int32, e *entry, granule uint64, store bool, sectors int) (first bool) {
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
		if !store && *stamp != s.cta {
			s.meet(id, e, n)
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
	s.made += n
	if s.cta == 1 {
		s.life = s.made
	}
	return true
}

// pass records a read of a granule that the CTA has read before, in an iteration left out, so many lines ago.
func (s *Survey) pass(id int32, e *entry, ago int64) {
	if e.read == 0 {
		e.reader = id
	}
	e.read = s.cta
	if s.dir == Base {
		if s.again[id] == nil {
			s.again[id] = new(spans)
		}
		s.again[id][class(max(ago, 0))] += s.now.stands
	}
}

// meet counts a CTA's first read of a granule that another CTA has read, n times.
func (s *Survey) meet(id int32, e *entry, n int64) {
	if s.order == e.first.order {
		s.inStep[id][s.dir] += n
	}
	if e.base && e.after > 0 {
		s.met[id][s.dir] += n
		if s.now.iteration == 0 || s.now.iteration != e.iteration { // else it is the same of those that an iteration stands for
			s.later[id][s.dir] += n * (s.made + n - int64(e.after))
		}
	}
}

// read records the first read of a granule.
func (s *Survey) read(e *entry, id int32, granule uint64, sectors int) {
	if s.dir >= Far {
		return
	}
	if e.base = s.cta == 1; e.base && s.now.stands > 0 { // of an iteration left out it is not known
		e.after, e.iteration = int32(min(s.made+s.now.stands, math.MaxInt32)), s.now.iteration
	}
	e.first = request{order: s.order, twice: uint8(2 * sectors), warp: s.warp}
	s.asked[id] += int64(2*sectors) * s.now.stands
	p := s.segments.entry(granule / uint64(s.rowSegment/s.granule))
	switch {
	case !p.read:
		p.read, p.reader = true, id
		s.rowSegments[id] += s.now.stands
	case p.reader != id:
		s.beside[id] = p.reader
	}
}

// precede records a read of a granule that comes before the one known as the first, or in the
// same turn: then either may be the first, and their mean counts.
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
