package footprint

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/timing"
)

// gatherFactor is how many times the granules of a buffer the CTAs' shares must come to before
// addresses are taken for random: the separable estimate counts the corners of two-dimensional
// halos twice, a few per cent to a third.
const gatherFactor = 1.5

// findGathers finds the instructions whose addresses depend on data: their CTAs' shares come to
// far more granules than the buffer has. Several loads of one kernel may gather from one
// buffer, so that those that use little of each row segment are counted together, with those
// that read on in the same row segments. Without extents, the range of addresses that far CTAs
// showed stands for the buffer, group by group.
func (s *Survey) findGathers(groups []group, d Device, ctas float64) {
	if float64(s.cta) >= ctas {
		return // every CTA was surveyed: what is shared is known
	}
	byIndex := s.byIndex(d)
	for _, e := range s.buffers(groups, d) {
		if g := s.gatherFrom(groups[:len(groups)/2], e, d.Copies, byIndex); g.unique > gatherFactor*g.span {
			passing := 0.0 // lines of other data a gather
			for i := range groups {
				if o := &groups[i]; o.low <= o.high && !slices.Contains(g.of, o) {
					passing += o.perCTA / float64(s.perLine) / g.visits
				}
			}
			g.mark(s.absent(g.span, passing, g.granules/g.visits, d), s.apartInRow(g.of, d), ctas)
		}
	}
}

// gather is what may gather from one buffer.
type gather struct {
	of               []*group
	unique           float64       // granules that the grid would touch, were each CTA's its own
	granules, visits float64       // and lines that a CTA reads of
	over             timing.Extent // where
	span             float64       // granules of it
}

// gatherFrom collects the loads that may gather from a buffer: no copies, nor groups of texels by index.
func (s *Survey) gatherFrom(loads []group, e timing.Extent, copies, byIndex []bool) gather {
	g := gather{over: e, span: s.span(e)}
	seen := timing.Extent{First: e.Last, Last: e.First}
	for i := range loads {
		o := &loads[i]
		if copies != nil && copies[i] || byIndex[i] {
			continue
		}
		if o.perCTA == 0 || o.low < e.First || e.Last < o.high {
			continue
		}
		if o.sparse(s) || o.unique-o.lost > gatherFactor*g.span || o.beside >= 0 && loads[o.beside].sparse(s) {
			g.of = append(g.of, o)
			g.unique += o.unique - o.lost
			g.granules += o.perCTA
			g.visits += o.visits
			seen.First, seen.Last = min(seen.First, o.low), max(seen.Last, o.high)
		}
	}
	// Of lines that loads left out here read of first there is at least as much.
	g.visits = math.Max(g.visits, g.granules/float64(s.perLine))
	// Of a buffer that data points into a part only the rest is never read.
	if s.ctas[Far]+s.ctas[Spread] > 0 && g.visits*float64(s.cta) >= linesThatBound {
		g.over, g.span = seen, s.span(seen)
	}
	return g
}

// byIndex reports, by group, whether all loads in it are of Device.ByIndex.
func (s *Survey) byIndex(d Device) []bool {
	pcs := len(s.parent) / 2
	out := make([]bool, pcs)
	if d.ByIndex == nil {
		return out
	}
	for i := range out {
		out[i] = true
	}
	for pc := range pcs {
		if sum(s.distinct[pc]) > 0 && !d.ByIndex[pc] {
			out[s.parent.Find(int32(pc))] = false
		}
	}
	return out
}

// apartInRow is the share of what CTAs of a row of the grid gather that their neighbour in the row, which runs at the
// same time, has not touched. Places that data points to may still move on evenly from CTA to CTA.
func (s *Survey) apartInRow(of []*group, d Device) float64 {
	for k, n := range d.Grid {
		if n == 1 {
			continue
		}
		var fresh, distinct int64
		for _, g := range of {
			fresh, distinct = fresh+g.fresh[X+Direction(k)], distinct+g.distinct[X+Direction(k)]
		}
		if distinct == 0 {
			return 1
		}
		return (1 + float64(n-1)*float64(fresh)/float64(distinct)) / float64(n)
	}
	return 1
}

// linesThatBound is how many random lines suffice to tell the range they lie in: they span all
// but two parts in linesThatBound + 1 of it.
const linesThatBound = 64

// span is the granules of a range of lines.
func (s *Survey) span(e timing.Extent) float64 { return float64((e.Last - e.First + 1) * s.perLine) }

// mark sets, for the loads of a gather, where they go and what L2 does not hold of it.
func (g *gather) mark(absent absence, apart, ctas float64) {
	for _, o := range g.of {
		o.random, o.broadcast = true, false
		o.over, o.absent, o.apart = g.over, absent, apart
		o.unique *= g.span / g.unique
		o.share = min(o.unique/(o.perCTA*ctas), 1)
	}
}

// buffers are the ranges that random addresses may be spread over.
func (s *Survey) buffers(groups []group, d Device) []timing.Extent {
	if d.Extents != nil || s.ctas[Far] == 0 {
		return d.Extents
	}
	var ranges []timing.Extent
	for i := range len(groups) / 2 {
		if g := &groups[i]; g.low <= g.high && !g.skipped {
			ranges = append(ranges, timing.Extent{First: g.low, Last: g.high})
		}
	}
	return ranges
}

// absence is what random accesses do not find when L2 is full. home is the share missing of the granules at home in
// the near half. near is the share missing of those at home in the other half that have no copy in the near one. Of
// these the share home is not at home either.
type absence struct{ home, near float64 }

// missing is the share of the accesses that L2 does not hold.
func (a absence) missing() float64 { return a.home/2 + a.near*a.near/2 }

// unread is the share of a group's random accesses that a cold launch makes to granules which nobody has read yet. L2
// would hold them later on: what it holds, as far as it is used again before it is replaced.
func (g *group) unread() float64 {
	held := 1 - g.absent.missing()
	return held * held * g.share
}

// absent is what L2 does not hold of accesses to span random granules, under
// least-recently-used replacement of lines. It follows the characteristic time approximation
// (Che, Tung and Wang, "Hierarchical Web caching systems", IEEE JSAC 20(7), 2002): a line is
// there if it was used within the time that it takes to replace all of the cache.
//
// A line keeps the granules touched since it was brought in, together of them at a time where
// whole rows are gathered. Other data that the CTAs touch, passing lines of it an access, goes
// through L2 and takes room. Where L2 has two halves, each keeps the lines at home in it and copies of those that its
// own SMs read. The SMs of that half look there for a line at home in it, the others when they find no copy.
//
// With 64-byte granules, a 60 MB L2 in two halves and 4 bytes read and 4 written a gather this
// gives 0.92 of the gathers from 268 MB; 0.92 were measured (shared/silicon random_gather,
// dram__bytes_read). TestRandomReadsAgainstH200 compares other footprints with deploy/calibrate
// scatter.random.
func (s *Survey) absent(span, passing, together float64, d Device) absence {
	lines, parts := span/float64(s.perLine), float64(s.perLine)/together
	room := float64(d.L2Bytes) / lineBytes
	if d.partitioned() {
		return absentFromHalves(lines, passing, room/2, parts)
	}
	// u is the accesses that it takes to replace all of the cache, in units of lines.
	u := bisect(room/lines, func(u float64) float64 { return 1 - math.Exp(-u) + passing*u })
	home := 1 - found(math.Exp(-u), parts)
	return absence{home, math.Sqrt(home)}
}

// absentFromHalves solves for u, the accesses of the whole device, in units of lines, that it
// takes to replace all of a half of L2 with room for so many lines. Each line is brought in by
// parts.
func absentFromHalves(lines, passing, room, parts float64) absence {
	absent := func(u float64) (home, copied float64) {
		copied = math.Exp(-u / 2)                      // half of the accesses come from this side
		return math.Exp(-u / 2 * (1 + copied)), copied // and of the others those without a copy
	}
	u := bisect(room/lines, func(u float64) float64 {
		home, copied := absent(u)
		// Of what passes through, half of it is at home here, and half of what is
		// not is read from here.
		return (1-home)/2 + (1-copied)/2 + passing*u*3/4
	})
	home, copied := absent(u)
	return absence{1 - found(home, parts), 1 - found(copied, parts)}
}

// found is the chance that a granule, one of so many parts of a line, is there when lines are absent with chance
// absent. Looking back, each access within the time a line stays was to this part or prolonged the stay of the line.
func found(absent, parts float64) float64 { return (1 - absent) / (1 + (parts-1)*absent) }

// bisect finds where a growing function reaches a value; far out if it does not.
func bisect(value float64, f func(float64) float64) float64 {
	low, high := 0.0, 1.0
	for f(high) < value && high < 1<<20 {
		low, high = high, 2*high
	}
	for range 40 {
		if mid := (low + high) / 2; f(mid) < value {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// partitioned reports whether L2 has two halves that keep copies of the same data.
func (d *Device) partitioned() bool { return d.EffectiveBytes > 0 && d.EffectiveBytes < d.L2Bytes }
