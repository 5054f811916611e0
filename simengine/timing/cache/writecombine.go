package cache

// WriteCombiner is the lines of which an SM stored parts of sectors last. A store to the same sectors that follows
// closely joins the earlier one on its way to L2. So the words of a struct, or neighbours that a thread stores one by
// one, take one write of each sector. That holds as long as not too many other lines are stored to in between. What
// is written whole does not wait. Local memory has no part in it: the window that median_1d stores to there again and
// again, some lanes at a time, goes out each time. The zero WriteCombiner joins nothing.
type WriteCombiner struct {
	open []openLine
	head int
}

type openLine struct {
	line    uint64 // address plus one
	sectors uint8  // written in part
}

// OpenLines is how many lines of an SM are open for more stores. Evidence: counters of scan_tiles and half_tone
// (deploy/calibrate/datasets/h200-2026-11-21-project-b). Of eight stores of a warp, one word each of the same eight
// lines, those after the first joined it in seven tenths of the cases where two warps leave a barrier together. They
// did in two tenths with four warps, and never with eight and more. Of four such stores by warps that come at their
// own times, all joined.
const OpenLines = 24

// NewWriteCombiner has room for so many lines.
func NewWriteCombiner(lines int) WriteCombiner { return WriteCombiner{open: make([]openLine, lines)} }

// Add stores to sectors of a line, those in full wholly, and returns the ones that go to L2:
// they join no open line.
func (c *WriteCombiner) Add(line uint64, sectors, full uint8) uint8 {
	part := sectors &^ full
	if len(c.open) == 0 || part == 0 {
		return sectors
	}
	for i := range c.open {
		if o := &c.open[i]; o.line == line+1 {
			fresh := sectors &^ (part & o.sectors)
			o.sectors |= part
			return fresh
		}
	}
	c.open[c.head] = openLine{line + 1, part}
	c.head = (c.head + 1) % len(c.open)
	return sectors
}
