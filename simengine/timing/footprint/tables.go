package footprint

import "math/bits"

// tables are what a survey knows of lines, row segments and instructions. They are large, and used again.
type tables struct {
	byID
	summed    []group // see Survey.groups
	lines     *lineTable
	segments  *runTable[segmentEntry] // of DRAM rows, where they are no runs of lines
	distances distances               // of the first CTA's touches
}

// lineTable is a hash table from numbers of lines to what is known of them, by runs of runGranules.
type lineTable struct {
	runs
	of        pages[lineRun]
	none      lineRun
	runBits   uint   // of the lines of a run
	perLine   uint64 // granules
	inRunMask uint64 // of a line's number, where it is in its run
}

// runGranules is the granules of a run. Where they are of 64 bytes, as on an H100, it is a DRAM row segment.
const runGranules = 8

// lineRun is what is known of a run of lines: by granule, by line and, where the run is a row segment, of that.
type lineRun struct {
	granules [runGranules]entry
	located  [runGranules / 2]located
	segment  segmentEntry
}

// lineEntry is what is known of a line.
type lineEntry struct {
	granules []entry
	*located
	run *lineRun
}

// located is what is known of a line by kind of access, see rowLocality: the sectors touched, and the instruction that
// was first.
type located struct {
	by      [2]int32
	sectors [2]uint8
}

// begin has an empty table be for lines of 2 or 4 granules.
func (t *lineTable) begin(perLine uint64) {
	t.perLine, t.runBits = perLine, uint(bits.TrailingZeros64(runGranules/perLine))
	t.inRunMask = 1<<t.runBits - 1
}

// entry returns what is known of a line, zeros if it is new.
func (t *lineTable) entry(line uint64) lineEntry {
	at, added := t.number(line >> t.runBits)
	if added {
		t.of.add(at)
	}
	r, k := t.of.at(at), line&t.inRunMask
	return lineEntry{r.granules[k*t.perLine:][:t.perLine], &r.located[k], r}
}

// locatedAt returns where a line was touched, nowhere for one without an entry.
func (t *lineTable) locatedAt(line uint64) *located {
	r := &t.none
	if at := t.find(line >> t.runBits); at >= 0 {
		r = t.of.at(at)
	}
	return &r.located[line&t.inRunMask]
}

// locatedFrom is locatedAt of another line than one in a run, often in the same one.
func (t *lineTable) locatedFrom(run *lineRun, line, other uint64) *located {
	if other>>t.runBits == line>>t.runBits {
		return &run.located[other&t.inRunMask]
	}
	return t.locatedAt(other)
}

// walk returns the granules of a line, zeros for one without an entry. Lines are asked for along a walk.
func (t *lineTable) walk(line uint64) []entry {
	r := &t.none
	if at := t.find(line >> t.runBits); at >= 0 {
		t.last, r = at, t.of.at(at)
	}
	return r.granules[(line&t.inRunMask)*t.perLine:][:t.perLine]
}

// keep gives up the storage of runs from n on, of a table that was reset.
func (t *lineTable) keep(n int) {
	t.of.keep(n)
	t.runs.keep(n)
}

// entry is what is known of one granule: the CTA that read and wrote it last (1-based, 0 none),
// the instruction that did so first, the first request that read it, and after how many granules and in which iteration
// the first CTA did: 0 where it did not, -1 where it is not known when.
type entry struct {
	read, written  int16
	reader, writer int32
	first          request
	after          int32
	iteration      int32
}

// base reports whether the first CTA read the granule.
func (e *entry) base() bool { return e.after != 0 }

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

// takeTables returns empty tables, for lines of so many granules.
func takeTables(perLine uint64) *tables {
	var t *tables
	select {
	case t = <-spareTables:
	default:
		t = &tables{lines: &lineTable{runs: newRuns()}, segments: newRunTable[segmentEntry]()}
	}
	t.lines.begin(perLine)
	return t
}

// mostSpareRuns bounds the runs of tables that are kept, to some 16 MB.
const mostSpareRuns = 1 << 16

// Release gives up the survey, which is not to be used any more, so that another one has its tables.
func (s *Survey) Release() {
	t := s.tables
	s.tables = nil
	t.lines.reset()
	t.segments.reset()
	t.distances.reset()
	t.lines.keep(mostSpareRuns)
	t.segments.keep(mostSpareRuns)
	select {
	case spareTables <- t:
	default:
	}
}

// runLength is how many consecutive keys share a run of a runTable.
const runLength = 4

// runs is a hash table that numbers runs of consecutive keys, lines or row segments, in the order of their first touch: a
// CTA's footprint is mostly runs of lines.
type runs struct {
	slots []int32 // open addressing: 1 + the run there, 0 empty; 1 << bits
	bits  int
	keys  []uint64 // the runs
	last  int      // the run found last
}

func newRuns() runs {
	const bits = 6
	return runs{slots: make([]int32, 1<<bits), bits: bits}
}

// reset empties the table, but keeps its storage.
func (t *runs) reset() {
	const sparse = 8
	if len(t.slots) < sparse*len(t.keys) {
		clear(t.slots)
	} else {
		t.resetKeys()
	}
	t.keys, t.last = t.keys[:0], 0
}

// keep gives up the storage of a table that was reset, if it is for more than n runs.
func (t *runs) keep(n int) {
	if cap(t.keys) > n {
		*t = newRuns()
	}
}

// resetKeys empties the slots of a table with few runs: what is behind the home of each up to the next empty slot.
func (t *runs) resetKeys() {
	mask := uint64(len(t.slots) - 1)
	for _, run := range t.keys {
		for i := t.home(run); t.slots[i] != 0; i = (i + 1) & mask {
			t.slots[i] = 0
		}
	}
}

// near is the number of a run found last or next to that, as where something is walked again; -1 of another.
func (t *runs) near(run uint64) int {
	n := t.last
	switch {
	case n < len(t.keys) && t.keys[n] == run:
		return n
	case n+1 < len(t.keys) && t.keys[n+1] == run:
		return n + 1
	case n > 0 && n <= len(t.keys) && t.keys[n-1] == run:
		return n - 1
	}
	return -1
}

// find is the number of a run, -1 where there is none.
func (t *runs) find(run uint64) int {
	if at := t.near(run); at >= 0 {
		return at
	}
	return int(t.slots[t.slot(run)]) - 1
}

// number is the number of a run, which it is given where it has none yet (added).
func (t *runs) number(run uint64) (at int, added bool) {
	if at := t.near(run); at >= 0 {
		t.last = at
		return at, false
	}
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	slot := t.slot(run)
	if t.slots[slot] == 0 {
		t.keys = append(t.keys, run)
		t.slots[slot], added = int32(len(t.keys)), true
	}
	t.last = int(t.slots[slot]) - 1
	return t.last, added
}

// home is the slot of a run that collides with none. Twice, since one multiplication leaves some strides of runs side by
// side.
func (t *runs) home(run uint64) uint64 {
	const multiplier = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio (Knuth, TAOCP 3, 6.4)
	run *= multiplier
	return (run ^ run>>32) * multiplier >> (64 - t.bits)
}

// slot is where a run is, or where it goes.
func (t *runs) slot(run uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	i := t.home(run)
	for t.slots[i] != 0 && t.keys[t.slots[i]-1] != run {
		i = (i + 1) & mask
	}
	return i
}

func (t *runs) grow() {
	t.bits += 2
	t.slots = make([]int32, 1<<t.bits)
	for i, run := range t.keys {
		t.slots[t.slot(run)] = int32(i) + 1
	}
}

// pages is what is known of runs. What is there is never moved.
type pages[T any] []*[pageRuns]T

const pageRuns = 128 // runs on a page

// at is what is known of a run.
func (p pages[T]) at(run int) *T { return &p[run/pageRuns][run%pageRuns] }

// add makes room for the next run, and empties it.
func (p *pages[T]) add(run int) {
	if run/pageRuns == len(*p) {
		*p = append(*p, new([pageRuns]T))
		return
	}
	var none T
	*p.at(run) = none
}

// keep gives up the storage of runs from n on.
func (p *pages[T]) keep(n int) {
	if most := n / pageRuns; len(*p) > most {
		clear((*p)[most:])
		*p = (*p)[:most]
	}
}

// runTable is a hash table from keys to what is known of them, runLength to a run.
type runTable[T any] struct {
	runs
	values pages[[runLength]T]
	none   T
}

func newRunTable[T any]() *runTable[T] { return &runTable[T]{runs: newRuns()} }

// entry returns the value of a key, zero if it is new. It is good until the table is reset.
func (t *runTable[T]) entry(key uint64) *T {
	at, added := t.number(key / runLength)
	if added {
		t.values.add(at)
	}
	return &t.values.at(at)[key%runLength]
}

// get returns the value of a key, zero for one without an entry.
func (t *runTable[T]) get(key uint64) *T {
	if at := t.find(key / runLength); at >= 0 {
		return &t.values.at(at)[key%runLength]
	}
	return &t.none
}

// keep gives up the storage of runs from n on, of a table that was reset.
func (t *runTable[T]) keep(n int) {
	t.values.keep(n)
	t.runs.keep(n)
}
