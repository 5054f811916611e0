package footprint

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/disjoint"
)

// Row locality: how much of each row segment that DRAM opens the loads and stores of CTAs use. DRAM
// pays for an opening, whatever part of the segment is then moved.

// loads and stores are the kinds of accesses, which go to DRAM at times of their own.
const loads, stores = 0, 1

// rowLocality is where CTAs read or store first, for one kind of access.
type rowLocality struct {
	beside disjoint.Sets                // of instructions that touch the same row segments
	counts []*[numDirections]touchCount // nil of an instruction that touched nothing
}

// touchCount counts what is touched first by an instruction in a direction.
type touchCount struct {
	sectors, granules, lines, rowSegments int64
	runs                                  int64 // of adjacent sectors that adjoin none touched before
	read                                  int64 // of stores: sectors that were read before
	bytes, asked                          int64 // of stores: bytes, and sectors of requests, touched before or not
	comes, returns, between               int64 // touches of new lines, of new parts of others, and the lines since these; see reopens
}

func (a *touchCount) add(b *touchCount) {
	a.sectors, a.granules, a.lines, a.rowSegments = a.sectors+b.sectors, a.granules+b.granules, a.lines+b.lines, a.rowSegments+b.rowSegments
	a.runs, a.read, a.bytes, a.asked = a.runs+b.runs, a.read+b.read, a.bytes+b.bytes, a.asked+b.asked
	a.comes, a.returns, a.between = a.comes+b.comes, a.returns+b.returns, a.between+b.between
}

// sharing reports whether all that is stored goes to sectors that others store to.
func (a *touchCount) sharing() bool { return a.bytes > 0 && a.sectors == 0 }

func newRowLocality(pcs int) rowLocality {
	return rowLocality{disjoint.New(pcs), make([]*[numDirections]touchCount, pcs)}
}

// of is what is counted of an instruction in a direction.
func (t *rowLocality) of(pc int32, d Direction) *touchCount {
	if t.counts[pc] == nil {
		t.counts[pc] = new([numDirections]touchCount)
	}
	return &t.counts[pc][d]
}

// Locate records that the current CTA stores to sectors of a line by instruction pc; atomics,
// which are not written back as they were stored, are left out.
func (s *Survey) Locate(pc int32, line uint64, sectors uint8) {
	s.locate(stores, pc, line, s.lines.entry(line), sectors)
}

// locate records that the current CTA reads or stores to sectors of a line by instruction pc.
func (s *Survey) locate(kind int, pc int32, line uint64, l lineEntry, sectors uint8) {
	if s.dir >= Far || s.now.stands == 0 {
		return
	}
	t := &s.locality[kind]
	c, n := t.of(pc, s.dir), s.now.stands
	before := l.sectors[kind]
	fresh := sectors &^ before
	c.asked += n * int64(bits.OnesCount8(sectors))
	if before != 0 {
		t.beside.Join(pc, l.by[kind])
	}
	if fresh == 0 {
		return
	}
	l.sectors[kind] = before | fresh
	switch {
	case before == 0:
		c.comes++
	case s.between > 0:
		c.returns, c.between = c.returns+1, c.between+s.between
	}
	if before == 0 {
		c.lines, l.by[kind] = c.lines+n, pc
		if !s.adjoins(kind, pc, line, l.run) {
			c.rowSegments += n
		}
	}
	c.runs += n * int64(s.runs(kind, line, l.run, before, fresh))
	width := uint(s.granule / sectorBytes)
	for g := range s.perLine {
		m := uint8(1<<width-1) << (uint(g) * width)
		if fresh&m == 0 {
			continue
		}
		if before&m == 0 {
			c.granules += n
		}
		if kind == stores && l.granules[g].read != 0 {
			c.read += n * int64(bits.OnesCount8(fresh&m))
		}
	}
	c.sectors += n * int64(bits.OnesCount8(fresh))
}

// adjoins reports whether another line of a line's row segment was touched before. It joins the
// instructions that did.
func (s *Survey) adjoins(kind int, pc int32, line uint64, run *lineRun) (found bool) {
	lines := max(uint64(s.rowSegment/lineBytes), 1)
	for l := line / lines * lines; l < line/lines*lines+lines; l++ {
		if e := s.lines.locatedFrom(run, line, l); l != line && e.sectors[kind] != 0 {
			s.locality[kind].beside.Join(pc, e.by[kind])
			found = true
		}
	}
	return found
}

// runs is how many runs of fresh sectors of a line adjoin none touched before.
func (s *Survey) runs(kind int, line uint64, run *lineRun, before, fresh uint8) (n int) {
	const last = lineBytes/sectorBytes - 1
	around := uint16(before) << 1
	if fresh&1 != 0 && s.lines.locatedFrom(run, line, line-1).sectors[kind]>>last&1 != 0 {
		around |= 1
	}
	if fresh>>last&1 != 0 && s.lines.locatedFrom(run, line, line+1).sectors[kind]&1 != 0 {
		around |= 2 << (last + 1)
	}
	for i := 0; i <= last; i++ {
		if fresh>>i&1 == 0 || i > 0 && fresh>>(i-1)&1 != 0 {
			continue
		}
		end := i
		for end < last && fresh>>(end+1)&1 != 0 {
			end++
		}
		if around>>i&1 == 0 && around>>(end+2)&1 == 0 {
			n++
		}
	}
	return n
}

// sharedRows is what the instructions of a kind that share row segments touch first, by
// direction.
type sharedRows struct {
	by      [numDirections]touchCount
	of      []int32 // the instructions
	skipped bool    // not all is counted
}

// localities adds up what loads or stores touch first, those that share row segments together,
// in the order of the first instruction of each set.
func (s *Survey) localities(kind int) (out []*sharedRows) {
	t, at := &s.locality[kind], map[int32]*sharedRows{}
	for pc, counts := range t.counts {
		if counts == nil {
			continue
		}
		set := t.beside.Find(int32(pc))
		a := at[set]
		if a == nil {
			a = new(sharedRows)
			at[set], out = a, append(out, a)
		}
		for k := range a.by {
			a.by[k].add(&counts[k])
		}
		a.of, a.skipped = append(a.of, int32(pc)), a.skipped || s.skipped[pc+kind*len(s.parent)/2]
	}
	return out
}

// most is the maximum of a share over the directions whose CTAs run close enough in time: what
// a CTA beyond rowReach of L2 touches is not in L2 together with it.
func (a *sharedRows) most(reach [numDirections]float64, d Device, of func(k Direction, c *touchCount) float64) (most float64) {
	for k := Base; k <= Z; k++ {
		if k > Base && reach[k] > rowReach*float64(d.L2Bytes) {
			break
		}
		most = max(most, of(k, &a.by[k]))
	}
	return most
}

// share is how much of the row segments is touched close together in time.
func (a *sharedRows) share(s *Survey, reach [numDirections]float64, d Device) float64 {
	return min(a.most(reach, d, func(k Direction, c *touchCount) float64 {
		switch {
		case k > Base && c.sharing(), c.sectors > 0 && (k > Base && c.runs == 0 || c.rowSegments == 0): // goes on where others end
			return 1
		case c.sectors == 0:
			return 0
		}
		return float64(c.sectors) * sectorBytes / (float64(c.rowSegments) * float64(s.rowSegment))
	}), 1)
}

// read is how much of a row segment DRAM reads for one opening. What neighbouring CTAs read
// beside a CTA's own part comes a little later, and part of it opens the segment again. An H100 reads parts of 64,
// 128 and 256 bytes that adjacent CTAs have of the rows of a matrix at 0.83, 0.93 and 0.98 of its rate for 512 bytes.
// Such parts at random places cost it four times as much more. It copies them at 0.95, 0.99 and 1, and writes them
// all alike (deploy/calibrate rows.tiles).
func (a *sharedRows) read(s *Survey, reach [numDirections]float64, d Device) float64 {
	together := a.share(s, reach, d)
	if back := a.by[Base].reopens(s, d); back > 0 && together > 0 {
		together = 1 / (1/together + back)
	}
	own := sharedRows{by: [numDirections]touchCount{Base: a.by[Base]}}
	if alone := own.share(s, reach, d); alone > 0 && together > alone {
		return 1 / (1/together + neighbourReopens*(1/alone-1/together))
	}
	return together
}

// neighbourReopens is the share of the extra openings of a CTA by itself that remain when its
// neighbours read the rest of each row segment; see sharedRows.read.
const neighbourReopens = 0.2

// reopens is how many row segments more are opened, for one that is read whole, where CTAs walk along rows and
// come to each line twice, for a granule each. An H100 reads 64 bytes of each of 256 rows at a time at 0.70 to 0.78 of its rate for
// 128, where 68,000 lines or more come between, and at 0.86 to 0.93 where 34,000 do; 128 bytes cost nothing against
// 256 (deploy/calibrate walks).
func (a *touchCount) reopens(s *Survey, d Device) float64 {
	if a.returns == 0 || s.perLine == 1 {
		return 0
	}
	halves := min(2*float64(a.returns)/float64(a.comes+a.returns), 1)
	lines := float64(a.between) / float64(a.returns) * d.Resident
	few, many := min(lines/34e3, 1), min(max(lines/34e3-1, 0), 1)
	return halves * (reopensOfFew*few + reopensOfMany*many)
}

// What walks take more of row segments opened (see reopens) as lines come between, up to 34,000 and on to 68,000:
// with DRAMOpening, 0.12 and 0.28 of the time.
const reopensOfFew, reopensOfMany = 1.3, 3

// full is how much of the sectors is stored to together: 1 where each is written whole.
func (a *sharedRows) full(reach [numDirections]float64, d Device) float64 {
	return a.most(reach, d, func(_ Direction, c *touchCount) float64 { return c.full() })
}

// full is how much of the sectors a CTA stores to: 1 where it writes each whole.
func (a *touchCount) full() float64 {
	return float64(a.bytes) / math.Max(float64(a.sectors)*sectorBytes, 1)
}

// filled is how much of the granules is stored to together.
func (a *sharedRows) filled(s *Survey, reach [numDirections]float64, d Device) float64 {
	return min(a.most(reach, d, func(k Direction, c *touchCount) float64 {
		if k > Base && c.sharing() {
			return 1
		}
		return float64(c.sectors) * sectorBytes / math.Max(float64(c.granules)*float64(s.granule), 1)
	}), 1)
}
