package cache

// LineBytes and SectorBytes are the unit of tag and the unit of fill.
const (
	LineBytes   = 128
	SectorBytes = 32
)

// maxSets and minWays shape the cache: many sets make lookups short, at least
// minWays ways keep conflicts rare at every carve-out.
const (
	maxSets = 128
	minWays = 8
)

// L1 is a sectored, write-through cache with least recently used replacement.
// Stores take a line, too: their sectors are found by later stores and, where
// they were written whole, by loads. Its zero value has no capacity and misses
// always.
type L1 struct {
	sets  uint64
	ways  int
	tags  []uint64 // line address + 1; 0 is empty
	used  []uint32 // tick of the last use, the replacement order
	valid []uint8  // sectors present or on their way
	wrote []uint8  // sectors stored to, wholly or in part
	ready []int64  // cycle at which the newest fill of the line arrives
	tick  uint32
}

// New makes an empty cache of bytes capacity, rounded down to whole ways.
func New(bytes int) *L1 {
	lines, sets := bytes/LineBytes, maxSets
	for sets > 1 && lines/sets < minWays {
		sets /= 2
	}
	c := &L1{sets: uint64(sets), ways: lines / sets}
	n := c.ways * sets
	c.tags, c.used = make([]uint64, n), make([]uint32, n)
	c.valid, c.wrote, c.ready = make([]uint8, n), make([]uint8, n), make([]int64, n)
	return c
}

// set is where a line address maps: low bits folded with higher ones, so that
// power of two strides spread over the sets.
func (c *L1) set(line uint64) int {
	h := line ^ line>>7 ^ line>>14 ^ line>>21 ^ line>>36
	return int(h & (c.sets - 1))
}

// Load looks up the sectors in mask of a line and allocates the line if it is
// absent. It returns the sectors found (present or pending), the cycle at which
// pending ones have arrived, and the entry to Fill with the others; the entry
// is -1 when the cache has no capacity.
func (c *L1) Load(line uint64, mask uint8) (hit uint8, ready int64, entry int) {
	if c.ways == 0 {
		return 0, 0, -1
	}
	entry = c.line(line)
	return c.valid[entry] & mask, c.ready[entry], entry
}

// Store writes the sectors in mask of a line, those in full wholly, and
// allocates the line if it is absent. It returns the sectors that were there.
func (c *L1) Store(line uint64, mask, full uint8) (hit uint8) {
	if c.ways == 0 {
		return 0
	}
	entry := c.line(line)
	hit = (c.valid[entry] | c.wrote[entry]) & mask
	c.wrote[entry] |= mask
	c.valid[entry] |= full & mask
	return hit
}

// Take gives a line room, as if it had been used: its sectors are not brought.
func (c *L1) Take(line uint64) {
	if c.ways > 0 {
		c.line(line)
	}
}

// line finds the entry of a line, or evicts another for it.
func (c *L1) line(line uint64) (entry int) {
	c.tick++
	base := c.set(line) * c.ways
	tags, used := c.tags[base:base+c.ways], c.used[base:base+c.ways]
	victim := 0
	for i, t := range tags {
		if t == line+1 {
			used[i] = c.tick
			return base + i
		}
		if used[i] < used[victim] {
			victim = i
		}
	}
	entry = base + victim
	tags[victim], used[victim] = line+1, c.tick
	c.valid[entry], c.wrote[entry], c.ready[entry] = 0, 0, 0
	return entry
}

// Fill records that the sectors in mask of an entry arrive at cycle ready.
func (c *L1) Fill(entry int, mask uint8, ready int64) {
	if entry < 0 {
		return
	}
	c.valid[entry] |= mask
	c.ready[entry] = max(c.ready[entry], ready)
}

// Contains reports which of the sectors in mask are present or pending,
// without touching the replacement order.
func (c *L1) Contains(line uint64, mask uint8) uint8 {
	if c.ways == 0 {
		return 0
	}
	base := c.set(line) * c.ways
	for i, t := range c.tags[base : base+c.ways] {
		if t == line+1 {
			return c.valid[base+i] & mask
		}
	}
	return 0
}
