package reuse

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
	granule  int // bytes: 32 or 64
	piece    int // bytes, a multiple of granule
	perLine  uint64
	table    table
	opened   table
	cta      int32 // 1-based index of the current CTA
	dir      Direction
	parent   []int32                // union-find over pcs: loads at pc, stores at pcs+pc
	distinct [][numDirections]int64 // granules first touched in a CTA, by pc and direction
	fresh    [][numDirections]int64 // of those, the ones no earlier CTA touched
	extra    [][numDirections]int64 // of the fresh, the ones new to loads and stores alike
	pieces   []int64                // pieces first read, by pc, far CTAs left out
	written  []int64                // bytes stored, by pc, far CTAs left out
	low      []uint64               // lowest and highest line by pc
	high     []uint64
	ctas     [numDirections]int64
	weight   int64  // iterations that the touches stand for
	skipped  []bool // by pc: some touches stood for more than one
}

// New makes an empty survey for a kernel of pcs instructions. granule is the
// unit of traffic in bytes, 32 or 64; piece what DRAM moves for one opening.
func New(pcs, granule, piece int) *Survey {
	s := &Survey{granule: granule, piece: max(piece, granule), perLine: uint64(lineBytes / granule), table: newTable(), opened: newTable(), weight: 1}
	n := 2 * pcs
	s.skipped = make([]bool, n)
	s.parent = make([]int32, n)
	s.low, s.high = make([]uint64, n), make([]uint64, n)
	for i := range s.parent {
		s.parent[i], s.low[i] = int32(i), ^uint64(0)
	}
	s.distinct = make([][numDirections]int64, n)
	s.fresh = make([][numDirections]int64, n)
	s.pieces = make([]int64, n)
	s.written = make([]int64, n)
	s.extra = make([][numDirections]int64, n)
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
		pieces += s.pieces[i]
	}
	return 2*fresh*int64(s.granule) < pieces*int64(s.piece)
}

// StandFor says that the following touches of the CTA, of a loop iteration,
// stand for n iterations like it: what such an iteration is the first to touch,
// each of the others touches as much of.
func (s *Survey) StandFor(n int64) { s.weight = n }

// Begin starts the next CTA.
func (s *Survey) Begin(d Direction) {
	if d == Spread && s.ctas[Spread] == 0 {
		clear(s.written)
	}
	s.cta++
	s.weight = 1
	s.dir = d
	s.ctas[d]++
}

// Touch records that the current CTA reads or writes sectors of a line by
// instruction pc. It returns the sectors whose granule the CTA touches for the
// first time (in that way: reads and writes are counted apart).
func (s *Survey) Touch(pc int32, line uint64, sectors uint8, store bool) (first uint8) {
	id := pc
	if store {
		id += int32(len(s.parent) / 2)
	}
	s.skipped[id] = s.skipped[id] || s.weight > 1
	s.low[id], s.high[id] = min(s.low[id], line), max(s.high[id], line)
	width := uint(s.granule / 32)
	mask := uint8(1<<width - 1)
	for g := range s.perLine {
		m := mask << (uint(g) * width)
		if sectors&m == 0 {
			continue
		}
		if s.touch(id, line*s.perLine+g, store) {
			first |= sectors & m
		}
	}
	return first
}

// Store records that the current CTA stores bytes by instruction pc, other CTAs
// others: where each writes a part of a granule, more of them share it than the
// cluster shows.
func (s *Survey) Store(pc int32, bytes int64) {
	if s.dir != Far {
		s.written[int(pc)+len(s.parent)/2] += bytes * s.weight
	}
}

func (s *Survey) touch(id int32, granule uint64, store bool) (first bool) {
	e := s.table.entry(granule)
	stamp, owner := &e.read, &e.reader
	if store {
		stamp, owner = &e.written, &e.writer
	}
	if *stamp != 0 {
		s.union(id, *owner)
		if *stamp == s.cta {
			return false
		}
	} else {
		s.fresh[id][s.dir] += s.weight
		if e.read == 0 && e.written == 0 {
			s.extra[id][s.dir] += s.weight
		}
		*owner = id
		if !store && s.dir < Far {
			if e := s.opened.entry(granule / uint64(s.piece/s.granule)); e.read == 0 {
				e.read = 1
				s.pieces[id] += s.weight
			}
		}
	}
	*stamp = s.cta
	s.distinct[id][s.dir] += s.weight
	return true
}

func (s *Survey) find(i int32) int32 {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

func (s *Survey) union(a, b int32) {
	if a == b {
		return
	}
	if a, b = s.find(a), s.find(b); a != b {
		s.parent[max(a, b)] = min(a, b)
	}
}
