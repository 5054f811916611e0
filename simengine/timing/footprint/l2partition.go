package footprint

import "math"

// sameSideInARow is the chance that two CTAs in a row of launch order run on the same side of
// an L2 of two partitions, and so look up the same half first. Of data that 2, 3, 4 and 8 CTAs
// in a row read 0.593, 0.664, 0.727 and 0.872 crosses between the halves, which is 1 -
// sameSideInARow^(n-1)/2. CTAs farther apart stand to each other as after as many steps: 0.686
// two apart, one half from eight on (deploy/calibrate counted.together.l2_crossed).
const sameSideInARow = 0.82

// sameSide is the chance that CTAs that far apart in launch order run on the same side.
func sameSide(distance float64) float64 {
	return (1 + math.Pow(2*sameSideInARow-1, distance)) / 2
}

// bothSides is the share of a group's granules that CTAs on both sides touch.
func (s *Survey) bothSides(g *group, d Device, reach [numDirections]float64) float64 {
	if !d.partitioned() {
		return 0
	}
	one, distance := 1.0, 1.0 // the chance that a granule is touched from one side only
	for k, n := range d.Grid {
		dir := X + Direction(k)
		if n > 1 {
			sharers := float64(n) / (1 + float64(n-1)*s.newShare(g, dir, reach[dir], d))
			one = amongSharers(one, sameSide(distance), sharers)
		}
		distance *= float64(n)
	}
	return 1 - one
}

// copied is the bytes that copies take in L2 of what SMs on both sides read, beyond those of data that one SM reads.
// Of data divided among SMs a half is kept at the middle of Kept and KeptUntil, of data that all read at
// EffectiveBytes. Of A and B of 33.5 MB that all SMs of an H100 read launch after launch, all comes from DRAM again
// (shared/hopper h100/counters.jsonl.gz: mm_splitk).
func (s *Survey) copied(groups []group, d *Device) (bytes float64) {
	if !d.partitioned() {
		return 0
	}
	times := (d.Kept + d.KeptUntil) / 2 * float64(d.L2Bytes) / float64(d.EffectiveBytes)
	for i := range groups[:len(groups)/2] {
		if g := &groups[i]; g.low <= g.high && g.share > 0 {
			both := math.Max(g.both, 1-amongSharers(1, 0.5, 1/g.share)) // sharers that are not next to each other
			bytes += g.unique * float64(s.granule) * both * math.Max(times-1, 0)
		}
	}
	return bytes
}

// amongSharers is the chance that all sharers of a granule are on one side, where each is with
// chance each and two of them agree with chance agree. A fractional number of sharers is
// interpolated between the whole ones about it.
func amongSharers(each, agree, sharers float64) float64 {
	all := func(n float64) float64 { return math.Pow(each, n) * math.Pow(agree, n-1) }
	low := math.Max(math.Floor(sharers), 1)
	more := math.Max(sharers-low, 0)
	return (1-more)*all(low) + more*all(low+1)
}

// lookedUp returns two shares for each granule that a CTA touches first in a launch that begins cold. crossed is
// looked up in the far half of L2. missed is what lookups miss in the near half, less what they find in the far one.
// Sectors count by their part of a granule.
//
// A granule at home in the far half is brought to the near one whole. The first request from a side misses what it
// asks for, unless the granule is at home there and the other side was first, as in half of the cases. Its lookup in
// the far half hits if that side was first. Later requests hit, whichever sectors they ask for and whether these have
// arrived or not: where CTAs read one sector each, 0.57 to 0.66 of what is fetched (deploy/calibrate
// counted.together.l2_hits).
func (g *group) lookedUp(s *Survey, d Device) (crossed, missed float64) {
	asked := g.firstAsked(s)
	if !d.partitioned() {
		return 0, asked * g.fromDRAM(0, true)
	}
	if !g.random {
		both := g.both
		if g.turns.run > 0 { // a line that L2 has lost is read anew by some of the sharers
			both = g.turns.bothSides(1/math.Max(g.share+g.reread, 1e-9), g.sharers.LookedUp())
		}
		crossed = (1 + both) / 2
		missed = asked*(1+both/2) - both/2
		return crossed * (g.share + g.reread), missed * (g.share + g.reread)
	}
	a := g.absent
	crossed = a.near / 2
	missed = asked*(a.home+a.near)/2 - a.near*(1-a.near)/2
	// Of granules that nobody has read yet both sides will have read it.
	return g.apart * (crossed + g.unread()), g.apart * (missed + g.unread()*(1.5*asked-0.5))
}

// firstAsked is the part of a granule that the first request for it asks for.
func (g *group) firstAsked(s *Survey) float64 {
	var fresh int64
	for k := Base; k <= Z; k++ {
		fresh += g.fresh[k]
	}
	if fresh == 0 {
		return 1
	}
	return float64(g.asked) / 2 * sectorBytes / (float64(fresh) * float64(s.granule))
}

const sectorBytes = 32

// Lookups is the sectors that a launch looks up in L2, and those of the reads that it finds
// there.
type Lookups struct{ Reads, ReadHits, Writes float64 }

// Lookups is what a launch looks up in L2 when L1 asks for so many sectors, missed of them
// local memory that L2 does not hold, and stores so many. Of what it would miss if it began
// cold, it finds as large a share as of what it reads. What is at home in the far half, half of
// all there is, is looked up in both halves.
func (p *Plan) Lookups(asked, missed, stored float64) Lookups {
	far := 0.0
	if p.partitioned {
		far = 0.5
	}
	l := Lookups{Reads: asked + p.crossed/sectorBytes + far*missed, Writes: stored * (1 + far)}
	cold := 1.0
	if p.ColdReadBytes > 0 {
		cold = math.Min(p.ReadBytes/p.ColdReadBytes, 1)
	}
	l.ReadHits = math.Max(asked-cold*p.missed/sectorBytes-missed, 0)
	return l
}
