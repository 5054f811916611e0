package clock

import (
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// sharing is which data CTAs of an SM have in common that not all CTAs have: those of a row or
// a column of the grid read the same.
type sharing struct {
	where footprint.Placement
	axis  int   // the first one of the grid
	cycle int64 // of CTAs along it one in so many is a replica of the same sample
	// seen[along] is the shift of each key seen of data that differs along these axes,
	// nil where no instruction reads such.
	seen [footprint.NumAxes]map[int64]uint64
	some bool // one does
}

// newSharing is empty where all CTAs share data or none do.
func newSharing(in *timing.Input, p *sampleSet) sharing {
	c := sharing{where: footprint.NewPlacement(in, int64(in.CTAsPerSM))}
	for _, along := range p.plan.DistinctAlong {
		if along != 0 && c.seen[along] == nil {
			c.seen[along], c.some = map[int64]uint64{}, true
		}
	}
	c.axis, c.cycle = footprint.FirstAxis(in.Grid), 1
	for 2*c.cycle <= int64(p.chain) {
		c.cycle *= 2
	}
	return c
}

// place sets the shifts of the n-th CTA's addresses, by axes, and returns which sample it is a
// replica of: CTAs at the same place along the axis of the samples must be replicas of the same
// one.
func (c *sharing) place(n, resident int64, passing bool, shift *[footprint.NumAxes]uint64) (sample int64) {
	for along, seen := range c.seen {
		if seen == nil {
			continue
		}
		key := c.where.Key(n, footprint.Axes(along))
		if passing { // what the CTAs before left is gone
			key += n / resident * c.where.CTAs
		}
		at, ok := seen[key]
		if !ok {
			at = uint64(len(seen)+1) << privateShift
			seen[key] = at
		}
		shift[along] = at
	}
	return c.where.At(n)[c.axis] % c.cycle
}
