package reuse

import "math"

// scattered is how many times the granules that there are the CTAs' shares must
// come to before addresses are taken for random: the separable estimate counts
// the corners of two-dimensional halos twice, a few per cent to a third.
const scattered = 1.5

// spread finds the instructions whose addresses depend on data: their CTAs'
// shares come to far more granules than the buffer has. Several loads of one
// kernel may gather from the same buffer, so those that use little of each piece
// that DRAM opens are counted together. Without extents the range of addresses
// that far CTAs showed stands for the buffer, group by group.
func (s *Survey) spread(groups []group, d Device, ctas float64) {
	if float64(s.cta) >= ctas {
		return // every CTA was surveyed: what is shared is known
	}
	for _, e := range s.buffers(groups, d) {
		span := float64((e.Last - e.First + 1) * s.perLine)
		var unique, accesses float64
		candidate := func(g *group) bool {
			return g.low <= g.high && e.First <= g.low && g.high <= e.Last && (g.sparse(s) || g.unique > scattered*span)
		}
		loads := groups[:len(groups)/2]
		for i := range loads {
			if g := &loads[i]; candidate(g) {
				unique += g.unique
				accesses += g.perCTA
			}
		}
		if unique <= scattered*span {
			continue
		}
		passing := 0.0 // lines of other data a gather
		for i := range groups {
			if g := &groups[i]; g.low <= g.high && (i >= len(loads) || !candidate(g)) {
				passing += g.perCTA / float64(s.perLine) / accesses
			}
		}
		absent := s.absent(span, passing, d)
		for i := range loads {
			if g := &loads[i]; candidate(g) {
				g.random, g.broadcast = true, false
				g.over, g.absent = e, absent
				g.unique *= span / unique
				g.share = min(g.unique/(g.perCTA*ctas), 1)
			}
		}
	}
}

// buffers are the ranges that random addresses may be spread over.
func (s *Survey) buffers(groups []group, d Device) []Extent {
	if d.Extents != nil || s.ctas[Far] == 0 {
		return d.Extents
	}
	var ranges []Extent
	for i := range len(groups) / 2 {
		if g := &groups[i]; g.low <= g.high && !g.skipped {
			ranges = append(ranges, Extent{g.low, g.high})
		}
	}
	return ranges
}

// absence is what random accesses do not find when L2 is full: the share of the
// granules at home in the half that is near which are not there and, of those at
// home in the other half, the share without a copy in the near one. Of these as
// large a share is not at home either.
type absence struct{ home, near float64 }

// missing is the share of the accesses that L2 does not hold.
func (a absence) missing() float64 { return a.home/2 + a.near*a.near/2 }

// unread is the share of a group's random accesses that a cold launch makes to
// granules which nobody has read yet, although L2 would hold them later on: what it
// holds, as far as it is used again before it is replaced.
func (g *group) unread() float64 {
	held := 1 - g.absent.missing()
	return held * held * g.share
}

// absent is what L2 does not hold of accesses to random granules, span of them. Replacement is least recently used, by lines; a line
// keeps the granules that were touched since it was brought in. What else the CTAs
// touch, passing lines of it an access, goes through L2 and takes room.
// Where L2 has two halves, each keeps the lines at home in it and copies of those
// its own SMs read: a line at home in one half is looked for there by the SMs
// of that half, and by the others when they find no copy.
//
// With 64-byte granules, a 60 MB L2 in two halves and 4 bytes read and 4 written
// a gather this gives 0.92 of the gathers from 268 MB; 0.92 were measured
// (shared/silicon random_gather, dram__bytes_read). Other footprints are compared
// with deploy/calibrate scatter.random in a test of package timing.
func (s *Survey) absent(span, passing float64, d Device) absence {
	lines := span / float64(s.perLine)
	room := float64(d.L2Bytes) / lineBytes
	if d.halves() {
		return absentFromHalves(lines, passing, room/2, float64(s.perLine))
	}
	// u is the accesses that it takes to replace all of the cache, in units of lines.
	u := bisect(room/lines, func(u float64) float64 { return 1 - math.Exp(-u) + passing*u })
	home := 1 - found(math.Exp(-u), float64(s.perLine))
	return absence{home, math.Sqrt(home)}
}

// absentFromHalves solves for u, the accesses of the whole device that it takes
// to replace all of a half of L2 that has room for so many lines, in units of lines.
func absentFromHalves(lines, passing, room, perLine float64) absence {
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
	return absence{1 - found(home, perLine), 1 - found(copied, perLine)}
}

// found is the chance that a granule is there, of perLine in a line, when lines
// are absent with that chance: looking back, each access within the time a line
// stays was to this granule or prolonged the stay of the line.
func found(absent, perLine float64) float64 { return (1 - absent) / (1 + (perLine-1)*absent) }

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

// halves says that L2 keeps copies of the same data on two sides.
func (d *Device) halves() bool { return d.EffectiveBytes > 0 && d.EffectiveBytes < d.L2Bytes }
