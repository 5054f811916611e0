package timing

// Combining is the lines that an SM stored to last. A store to the same sectors that
// follows closely joins them on their way to L2: words of a struct, or neighbours
// that a thread stores one by one, take one write of each sector as long as not too
// many other lines are stored to in between. The zero Combining joins nothing.
type Combining struct {
	open []openLine
	head int
}

type openLine struct {
	line    uint64 // address plus one
	sectors uint8
}

// CombinedLines is how many lines of an SM are open for more. Of eight stores of a
// warp, one word each of the same eight lines, those after the first were joined to
// seven tenths where two warps leave a barrier together, to two tenths with four
// warps and not at all with eight and more; of four such stores by warps that come at
// their own times, all (scan_tiles and half_tone, deploy/calibrate/validation/third).
const CombinedLines = 24

// NewCombining has room for so many lines.
func NewCombining(lines int) Combining { return Combining{open: make([]openLine, lines)} }

// Add stores to sectors of a line and returns those that are not on their way yet.
func (c *Combining) Add(line uint64, sectors uint8) uint8 {
	if len(c.open) == 0 {
		return sectors
	}
	for i := range c.open {
		if o := &c.open[i]; o.line == line+1 {
			fresh := sectors &^ o.sectors
			o.sectors |= sectors
			return fresh
		}
	}
	c.open[c.head] = openLine{line + 1, sectors}
	c.head = (c.head + 1) % len(c.open)
	return sectors
}
