package footprint

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
// the instruction that did so first, the first request that read it, and whether the first CTA did (base).
type entry struct {
	read, written  int16
	reader, writer int32
	first          request
	base           bool
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
