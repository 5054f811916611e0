package timing

import "github.com/warptune/warptune/simengine/timing/reuse"

// common is what CTAs of an SM have in common without all CTAs having it: a row or a
// column of the grid reads the same.
type common struct {
	where Placement
	axes  []reuse.Axes // along which data differs, of the instructions that read such
	sets  uint8        // the same as a set
	axis  int          // the first one of the grid
	cycle int64        // of CTAs along it one in so many is a replica of the same sample
	seen  [reuse.NumAxes]map[int64]uint64
}

// newCommon is empty where nothing is shared by some CTAs only, and where CTAs differ.
func newCommon(in *Input, p *pool) common {
	c := common{where: NewPlacement(in, int64(in.CTAsPerSM))}
	whole := reuse.Of(in.Grid)
	if p.uneven {
		return c
	}
	for pc, along := range p.plan.Along {
		if along != whole && along != 0 && !p.plan.Broadcast[pc] && !c.has(along) {
			c.sets |= 1 << along
			c.axes = append(c.axes, along)
			c.seen[along] = map[int64]uint64{}
		}
	}
	c.axis, c.cycle = firstAxis(in.Grid), 1
	for 2*c.cycle <= int64(p.chain) {
		c.cycle *= 2
	}
	return c
}

func (c *common) any() bool { return c.sets != 0 }

// has says that some CTAs, but not all, share data that differs along these axes.
func (c *common) has(along reuse.Axes) bool { return c.sets>>along&1 != 0 }

// place works out the n-th CTA's shifts, and which sample it is a replica of: what lies
// at the same place along the axis of the samples must be one sample's.
func (c *common) place(n, resident int64, passing bool, shift *[reuse.NumAxes]uint64) (sample int64) {
	for _, along := range c.axes {
		key := c.where.Key(n, along)
		if passing { // what the CTAs before left is gone
			key += n / resident * c.where.ctas
		}
		at, ok := c.seen[along][key]
		if !ok {
			at = uint64(len(c.seen[along])+1) << privateShift
			c.seen[along][key] = at
		}
		shift[along] = at
	}
	return c.where.at(n)[c.axis] % c.cycle
}
