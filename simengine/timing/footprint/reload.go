package footprint

import (
	"math"

	"github.com/warptune/warptune/simengine/timing/cost"
)

// Tiles that CTAs of different waves read are read from DRAM again where L2 has lost them in between. By the footprint
// theory of locality (X. Xiang, C. Ding et al., HOTL: a higher order theory of locality, ASPLOS 2013) that is where the
// CTAs in between touch more than the cache holds.
//
// Who reads the same is known by turns: CTAs that follow each other (a run), and again some CTAs later (the gap).
//
//	CTA   0 1 2 3 4 5 6 7 8 ...
//	A     a b a b a b c d c        run 1, gap 2, until the next two rows of tiles begin
//	B     x x y y z z x x y        run 2, gap 6
//
// Evidence: DRAM reads of shared/hopper h100/counters.jsonl.gz. gemm_wg reads B of 25 MB once in each of 5.8 waves, or
// once in each of two bands of eight rows; mm_grouped, with as much of A and B, reads 73 to 76 MB in groups of 4 and 8
// rows of tiles and 35 MB row by row, where CTAs of 8 rows are resident.
type turns struct {
	run, gap, span float64
	inStep         bool    // CTAs of a run read it by the same requests
	together       float64 // of probeStep CTAs that follow each other, or of a longer run, those that read the same
}

// L2 keeps what the CTAs in between touch up to keptBetween of the part of it that data read by all SMs can use, and
// nothing from lostBetween on: of 23, 29.4, 29.6 and 29.7 MB in a wave 2, 70, 80 and 40 to 90 % of what could be lost is.
const (
	keptBetween = 0.8
	lostBetween = 1.25
)

// known reports whether it is known which CTAs read the same.
func (t turns) known(ctas float64) bool { return t.run == 1 && t.gap < ctas || t.together > 1 }

// tiles is how many different ones so many CTAs in a row read.
func (t turns) tiles(ctas float64) float64 {
	return math.Max(math.Min(ctas, t.gap)/t.run, 1) * math.Max(ctas/t.span, 1)
}

// sharers are the CTAs that read the same at a time, where so many run at a time and so many of the grid read the same:
// those of a run, or with gaps between them. CTAs of a run that read it one after the other share nothing.
func (t turns) sharers(d *Device, wave, readers, ctas float64) cost.Sharers {
	n, apart := math.Min(t.run, wave), 1.0
	switch {
	case readers < 2 || t.run > 1 && !t.inStep:
		n = 1
	case t.run == 1:
		n, apart = math.Min(wave, t.span)/t.gap, t.gap
	}
	return d.sharers(math.Max(math.Min(n, readers), 1), apart, ctas, true)
}

// bothSides is the share of what so many CTAs read that those on both sides of L2 look up, where a share of their requests
// is looked up.
func (t turns) bothSides(readers, looks float64) float64 {
	run := math.Min(t.run, readers)
	one := amongSharers(1, sameSideInARow, run)
	if t.run == 1 {
		return 1 - amongSharers(1, sameSide(t.gap), readers*looks)
	}
	return 1 - math.Pow(one, looks)*amongSharers(1, 0.5, readers/run)
}

// readBuffer is what the grid reads of one buffer by groups of instructions.
type readBuffer struct {
	groups         []int32
	perCTA, unique float64 // granules
	turns
}

// touched is the bytes that so many CTAs in a row read of a buffer.
func (b *readBuffer) touched(ctas, granule float64) float64 {
	return math.Min(b.perCTA*b.tiles(ctas), b.unique) * granule
}

// inTurns finds what follows from whose turns buffers are read in, for kernels whose CTAs were probed: which share of CTAs'
// first reads comes from DRAM again (group.reread), and who reads the same at a time (group.sharers).
func (s *Survey) inTurns(groups []group, written float64, d *Device, ctas float64) {
	wave := math.Min(d.Resident, ctas)
	if s.probeMore == nil || wave <= 0 {
		return
	}
	buffers := s.readBuffers(groups, d, ctas)
	for i := range buffers {
		b := &buffers[i]
		for _, g := range b.groups {
			groups[g].within = func(ctas float64) float64 { return b.touched(ctas, 1) / b.unique }
			groups[g].together = b.together
			readers := b.perCTA * ctas / math.Max(b.unique, 1)
			groups[g].sharers = b.sharers(d, wave, readers, ctas)
			groups[g].turns = b.turns
		}
	}
	if wave < ctas {
		s.reload(buffers, groups, written, d, ctas)
	}
}

// reload finds what comes from DRAM again.
func (s *Survey) reload(buffers []readBuffer, groups []group, written float64, d *Device, ctas float64) {
	wave := d.Resident
	lost := func(between float64) float64 { // of what so many CTAs in a row touch
		bytes := written * between / ctas
		for i := range buffers {
			bytes += buffers[i].touched(between, float64(s.granule))
		}
		c := float64(d.EffectiveBytes)
		return min(max((bytes/c-keptBetween)/(lostBetween-keptBetween), 0), 1)
	}
	for i := range buffers {
		b := &buffers[i]
		all := b.perCTA * ctas
		between := wave
		if b.gap < b.span {
			between = math.Max(wave, b.gap)
		}
		most := math.Min(b.perCTA*b.tiles(wave), b.unique)*ctas/wave - b.unique // with each wave by itself
		for _, g := range b.groups {
			groups[g].reread = math.Max(groups[g].reread, most/all*lost(between))
		}
	}
}

// readBuffers sums what is read of each buffer, and finds whose turns it is read in. Groups that lie in none count alone, as
// if each CTA read its own.
func (s *Survey) readBuffers(groups []group, d *Device, ctas float64) (all []readBuffer) {
	index := map[int]int{}
	for i := range groups[:len(groups)/2] {
		g := &groups[i]
		if g.low > g.high || g.perCTA == 0 {
			continue
		}
		e := d.extent(g)
		if e < 0 || g.random || g.broadcast {
			n := g.perCTA * ctas / math.Max(g.unique, 1)
			all = append(all, readBuffer{perCTA: g.perCTA, unique: g.unique, turns: turns{run: n, gap: ctas, span: ctas}})
			continue
		}
		k, ok := index[e]
		if !ok {
			k = len(all)
			index[e], all = k, append(all, readBuffer{})
		}
		b := &all[k]
		b.groups = append(b.groups, int32(i))
		b.perCTA, b.unique = b.perCTA+g.perCTA, b.unique+g.unique
	}
	for i := range all {
		if b := &all[i]; len(b.groups) > 0 {
			b.turns = s.turns(b, groups, ctas)
		}
	}
	return all
}

// extent is the index of the buffer that a group lies in, -1 for none.
func (d *Device) extent(g *group) int {
	for i, e := range d.Extents {
		if e.First <= g.low && g.high <= e.Last {
			return i
		}
	}
	return -1
}

// turns finds in which turns CTAs read a buffer: by the neighbour of the first CTA, by those probed, and by one more, of
// whom it is to be expected that it reads the same again.
func (s *Survey) turns(b *readBuffer, groups []group, ctas float64) turns {
	readers := b.perCTA * ctas / math.Max(b.unique, 1)
	var fresh, distinct, inStep int64
	for _, g := range b.groups {
		fresh, distinct, inStep = fresh+groups[g].fresh[X], distinct+groups[g].distinct[X], inStep+groups[g].inStep[X]
	}
	once := turns{math.Max(readers, 1), ctas, ctas, 2*inStep > distinct, 1}
	n := 0
	if distinct > 0 && 2*fresh <= distinct { // the neighbour reads the same
		for n < probeFar && s.same(b.groups, n) {
			n++
		}
		run := math.Min(distance(n), readers)
		if once.together = run; n == probeFar {
			once.together = readers
		}
		if n == probeFar || readers < 2*run {
			return once
		}
		if gap := math.Round(ctas * run / readers); s.rereads(b.groups, gap) {
			return turns{run, gap, ctas, once.inStep, run}
		}
		return once
	}
	for n < probeFar && !s.same(b.groups, n) {
		n++
	}
	gap := distance(n)
	if n == probeFar {
		if gap = math.Round(ctas / readers); readers < 2 || !s.rereads(b.groups, gap) {
			return once
		}
	}
	return turns{1, gap, math.Min(gap*readers, ctas), once.inStep, math.Max(probeStep/gap, 1)}
}
