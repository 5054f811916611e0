package footprint

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// group sums a set of instructions that touch common data. Counts of granules by direction are
// those of byID.
type group struct {
	distinct, fresh, extra, inStep, met, later [numDirections]int64
	low, high                                  uint64 // lowest and highest line
	skipped                                    bool   // the addresses surveyed are not all there are
	written                                    int64  // bytes stored
	asked                                      int64  // half sectors of fresh granules that the first request of each reads
	segmentUse
	shares
	gathered
}

// segmentUse is the row segments that a group reads of.
type segmentUse struct {
	rowSegments      int64   // that the CTAs surveyed read first
	beside           int32   // a group that reads of these segments first, -1 for none
	visits, openings float64 // lines and row segments that a CTA reads of
}

// shares is what a CTA touches of a group, and the grid.
type shares struct {
	perCTA    float64                    // granules a CTA touches
	unique    float64                    // granules the grid touches
	lost      float64                    // of those, what L2 has lost before a CTA in the next row or plane comes to it
	share     float64                    // of a CTA's granules that are new to the grid
	reread    float64                    // share of a CTA's granules that come from DRAM again, after other CTAs have read them
	sharers   cost.Sharers               // who reads the same at a time by these turns
	together  float64                    // CTAs that follow each other and read the same, 0 where it is not known
	within    func(ctas float64) float64 // share of what the grid touches that so many CTAs in a row do; nil: not known
	both      float64                    // share of the granules that SMs of both halves of L2 touch
	turns     turns                      // in which CTAs read the same, none where they are not known
	broadcast bool                       // all CTAs touch the same
}

// gathered is what is known of random accesses.
type gathered struct {
	random bool
	absent absence       // what L2 does not hold
	apart  float64       // share to granules that the CTA before in the row has not touched
	over   timing.Extent // what they are spread over
}

// groups adds up the counts of instructions that touch common data, at the
// index of each set's representative.
func (s *Survey) groups() []group {
	s.summed = zeroed(s.summed, len(s.parent))
	groups := s.summed
	for i := range groups {
		groups[i].low, groups[i].beside = ^uint64(0), -1
	}
	for id := range s.parent {
		g := &groups[s.parent.Find(int32(id))]
		if s.distinct[id] != [numDirections]int64{} { // without any, there are none of the others
			for k := range g.distinct {
				g.distinct[k] += s.distinct[id][k]
				g.fresh[k] += s.fresh[id][k]
				g.extra[k] += s.extra[id][k]
				g.inStep[k] += s.inStep[id][k]
				g.met[k] += s.met[id][k]
				g.later[k] += s.later[id][k]
			}
		}
		g.skipped = g.skipped || s.skipped[id]
		g.written += s.written[id]
		g.asked += s.asked[id]
		if id < len(s.rowSegments)/2 {
			g.rowSegments += s.rowSegments[id]
			g.visits += s.perCTA(&s.visits[id])
			g.openings += s.perCTA(&s.openings[id])
		}
		if s.beside[id] >= 0 && s.parent.Find(s.beside[id]) != s.parent.Find(int32(id)) {
			g.beside = s.parent.Find(s.beside[id])
		}
		g.low, g.high = min(g.low, s.low[id]), max(g.high, s.high[id])
	}
	return groups
}

// reach is the bytes that the grid touches between a CTA and its neighbour in the next row (Y)
// and plane (Z): those of a row, and of a plane, each once.
func (s *Survey) reach(groups []group, d Device) (out [numDirections]float64) {
	rows := make([]float64, len(groups))
	for _, dir := range [...]Direction{X, Y} {
		for i := range groups {
			g := &groups[i]
			if g.low > g.high {
				continue
			}
			if dir == X {
				rows[i] = s.mean(g)
			}
			rows[i] = s.row(g, dir, rows[i], out[dir], d)
			if span := d.holds(g.low, g.high, s.perLine); span > 0 {
				rows[i] = min(rows[i], span)
			}
			out[dir+1] += rows[i] * float64(s.granule)
		}
	}
	return out
}

// row is the granules that CTAs adjacent in a direction touch all along the grid, each once, of
// which the first CTA touches first.
func (s *Survey) row(g *group, dir Direction, first, reach float64, d Device) float64 {
	return first * (1 + float64(d.Grid[dir-X]-1)*s.newShare(g, dir, reach, d))
}

// mean is the granules a CTA of the cluster touches first.
func (s *Survey) mean(g *group) float64 { return s.perCTA(&g.distinct) }

// perCTA is the mean over CTAs of what was counted by directions.
func (s *Survey) perCTA(counts *[numDirections]int64) float64 {
	n := counts[Spread]
	if s.ctas[Spread] == 0 {
		for k := Base; k <= Z; k++ {
			n += counts[k]
		}
	}
	return float64(n) / s.surveyed()
}

// surveyed is the CTAs that a mean is taken of, at least one: the cluster's, or
// those spread over the grid.
func (s *Survey) surveyed() float64 {
	ctas := s.ctas[Spread]
	if ctas > 0 {
		return float64(ctas)
	}
	for k := Base; k <= Z; k++ {
		ctas += s.ctas[k]
	}
	return math.Max(float64(ctas), 1)
}

func (s *Survey) estimate(g *group, d Device, ctas float64, reach [numDirections]float64) {
	g.perCTA = s.mean(g)
	if float64(s.cta) >= ctas { // every CTA was surveyed
		g.unique = float64(sum(g.fresh))
		g.perCTA = float64(sum(g.distinct)) / ctas
	} else {
		g.unique = g.perCTA
		kept := g.perCTA // if L2 lost nothing
		for dir := X; dir <= Z; dir++ {
			g.unique, kept = s.row(g, dir, g.unique, reach[dir], d), s.row(g, dir, kept, 0, d)
		}
		g.lost = math.Max(g.unique-kept, 0)
	}
	if g.perCTA == 0 {
		return
	}
	g.both = s.bothSides(g, d, reach)
	g.unique = math.Max(g.unique, float64(g.written)/s.surveyed()*ctas/float64(s.granule))
	g.broadcast = g.unique < sharedBelow*g.perCTA && ctas > 1
	g.share = min(g.unique/(g.perCTA*ctas), 1)
}

// confine keeps a group within the buffers it lies in.
func (s *Survey) confine(g *group, d Device, ctas float64) {
	if span := d.holds(g.low, g.high, s.perLine); span > 0 && g.unique > span {
		g.limit(span, ctas)
	}
}

// confineTogether keeps the groups that read, or store to, one buffer within it together: each unrolled copy of a loop is
// a group of its own, and all of them walk the buffer.
func (s *Survey) confineTogether(groups []group, d Device, ctas float64) {
	pcs := len(s.parent) / 2
	for _, e := range d.Extents {
		for _, half := range [2][]group{groups[:pcs], groups[pcs:]} {
			total := 0.0
			for i := range half {
				if g := &half[i]; g.low <= g.high && e.First <= g.low && g.high <= e.Last {
					total += g.unique
				}
			}
			span := float64((e.Last - e.First + 1) * s.perLine)
			for i := range half {
				if g := &half[i]; total > span && g.low <= g.high && e.First <= g.low && g.high <= e.Last && g.perCTA > 0 {
					g.limit(g.unique*span/total, ctas)
				}
			}
		}
	}
}

// limit has the grid touch no more than so many granules. What L2 has lost of them before a CTA in the next row or plane
// comes to it is read from DRAM again: with three passes over the tokens, of 42 MB each beside it, rope_halves reads the
// cosines three times, 77.4 MB in all, and 68.2 in one pass (counters of an H100, h100-2026-11-26-triton-wgmma-a).
func (g *group) limit(granules, ctas float64) {
	g.reread += math.Min(g.lost, g.unique-granules) / (g.perCTA * ctas)
	g.unique, g.lost = granules, math.Max(g.lost-(g.unique-granules), 0)
	g.share = min(g.unique/(g.perCTA*ctas), 1)
}

// newShare is the share of a CTA's granules that its neighbour in a direction
// has not touched, 1 when the neighbour's data is evicted before it is reused.
func (s *Survey) newShare(g *group, dir Direction, reach float64, d Device) float64 {
	if g.distinct[dir] == 0 || reach > rowReach*float64(d.L2Bytes) {
		return 1
	}
	fresh := float64(g.fresh[dir]) / float64(g.distinct[dir])
	if reach == 0 && dir > X { // whatever L2 loses
		return fresh
	}
	return fresh + (1-fresh)*s.outlived(g, dir, reach, d)
}

// A CTA reads at its start what its neighbour has read near its end, as the planes between two parts of a stencil. Of it
// L2 has lost a share, by what CTAs that run at a time touch in between. Up to keptBetween of L2's size that is nothing,
// and from lostBetween on all. With 0.95 and 1.8 times its size a fifth and all were lost. That is from DRAM reads of
// bulk_stencil, 206.5 and 227.5 MB where 201.3 are read once and 226.5 with all rows between two CTAs read twice, and of
// star7, 154.9 MB of 154.1 (h100-2026-11-26-triton-wgmma-a and h100-2026-11-27-triton-wgmma-b).
//
// outlived is that share of what CTAs that are neighbours in a direction share; reach is what the grid touches from the
// start of the one to the start of the other, where they do not start together. What they read a little later than each
// other is not looked at.
func (s *Survey) outlived(g *group, dir Direction, reach float64, d Device) float64 {
	ctas := float64(d.Grid[0]) * float64(d.Grid[1]) * float64(d.Grid[2])
	if g.met[dir] == 0 || s.life == 0 || d.Resident == 0 {
		return 0
	}
	later := float64(g.later[dir]) / float64(g.met[dir])
	if math.Abs(later) < aLittle*float64(s.life) {
		return 0
	}
	if ctas <= d.Resident {
		reach = 0
	}
	wave := math.Min(d.Resident, ctas)
	touched := float64(s.life) * wave * float64(s.granule)
	if all := d.extents(); all > 0 {
		touched = math.Min(touched, all*wave/ctas)
	}
	between := math.Abs(reach + later/float64(s.life)*touched)
	return min(max((between/float64(d.L2Bytes)-keptBetween)/(lostBetween-keptBetween), 0), 1)
}

// aLittle is the share of a CTA's life within which its neighbours come to what they share.
const aLittle = 0.1

// fromDRAM is the share of the granules a CTA first touches that DRAM moves, when the share
// kept of the footprint is in L2 from the start. What random accesses find does not depend on
// the start, once earlier launches have filled the cache.
func (g *group) fromDRAM(kept float64, cold bool) float64 {
	switch {
	case g.random && cold:
		return g.apart * (g.absent.missing() + g.unread())
	case g.random:
		return g.apart * g.absent.missing()
	}
	return g.share*(1-kept) + g.reread
}

// opened is how many row segments are opened for the bytes of a whole one. Of several groups
// that read a segment it counts for the first.
func (g *group) opened(s *Survey) float64 {
	whole := float64(s.rowSegment) / float64(s.granule)
	if g.random {
		return g.openings / g.perCTA * whole // what other CTAs read near in place is not near in time
	}
	var fresh int64
	for k := Base; k <= Z; k++ {
		fresh += g.fresh[k]
	}
	return float64(g.rowSegments) / math.Max(float64(fresh), 1) * whole
}

// sparse reports whether a group uses less than half of the row segments it opens.
func (g *group) sparse(s *Survey) bool { return g.opened(s) > 2 }
