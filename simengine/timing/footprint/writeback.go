package footprint

import "math"

// Writing a sector back, in units of the time that DRAM takes to move one in. Of a line in a
// row segment of which L2 has only a share, it takes openLine·(1-share)² more; a sector that
// was stored to in part is read before, which takes openFill·(1-share)² besides.
//
// With these an H200 stores to one sector of each 128, 256, 512 and 1024 bytes in part in 40, 50, 55 and 55 ps,
// measured 40, 55, 59 and 63 (deploy/calibrate rows.stride write). Whole sectors at random places take 32 ps for
// 32.5; runs of 64 and 128 bytes 36 and 45 ps for 35 and 44 (rows.pieces write). An H100 in 57, 70, 77 and 77 ps for
// 48, 65, 69 and 72 (stores.spilled). Of sectors 64 bytes apart, half of each row segment, 14 and 20 ps come out for
// 20 and 25. DRAM's counters say that it writes 32 bytes of each sector, and reads as much of those stored to in
// part.
const (
	openLine = 4.0
	openFill = 2.5
	// From these shares on a row segment and a sector count as whole: a CTA and its neighbours tell no better.
	wholeRowSegment, wholeSector = 0.5, 0.9
)

// WriteBack is what writing back takes of DRAM for each byte stored: time, relative to a stream
// of whole row segments; bytes written; bytes read before. Apart is the share of them that CTAs store
// to parts of sectors of which L2 has nothing.
type WriteBack struct{ Time, Written, Read, Apart float64 }

// writeBacks is the mean over all stores, weighted by the bytes that DRAM writes.
func (s *Survey) writeBacks(groups []group, reach [numDirections]float64, ctas float64, d Device) WriteBack {
	var time, written, read, apart, all float64
	for _, a := range s.localities(stores) {
		weight := 0.0
		for _, pc := range a.of {
			if g := &groups[len(s.parent)/2+int(pc)]; g.low <= g.high {
				weight += g.perCTA * ctas * g.share
			}
		}
		if weight > 0 {
			b := a.cost(s, reach, d)
			time, written, read, apart, all = time+weight*b.Time, written+weight*b.Written, read+weight*b.Read, apart+weight*b.Apart, all+weight
		}
	}
	if all == 0 {
		return WriteBack{Time: 1, Written: 1}
	}
	return WriteBack{max(time/all, 1), written / all, read / all, apart / all}
}

// cost is what these stores' granules take to write back.
func (a *sharedRows) cost(s *Survey, reach [numDirections]float64, d Device) WriteBack {
	base := &a.by[Base]
	if a.skipped || base.sectors == 0 {
		return WriteBack{Time: 1, Written: 1, Apart: a.apart()}
	}
	share, full := a.share(s, reach, d), a.full(reach, d)
	if share >= wholeRowSegment {
		share = 1
	}
	part := 0.0
	if full < wholeSector {
		part = base.unread()
	}
	alone, filled := (1-share)*(1-share), a.filled(s, reach, d)
	lines := float64(base.lines) / float64(base.sectors)
	return WriteBack{
		Time:    filled * (1 + openLine*lines*alone + part*(1+openFill*alone)),
		Written: filled,
		Read:    filled * part,
		Apart:   a.apart(),
	}
}

// apart is the share of the stores that are to parts of sectors of which L2 has nothing, as if a CTA wrote each sector
// either whole or half. Of smaller pieces all but the first find the sector there: d3q19_stream and radix_count store
// words, at 1.0 and 1.33 times the time of such that are there (h200-2026-11-24-independent, h200-2026-11-22-project-c).
func (a *sharedRows) apart() float64 {
	base := &a.by[Base]
	if base.sectors == 0 || base.asked == 0 {
		return 0
	}
	piece := float64(base.bytes) / float64(base.asked) / sectorBytes
	return base.unread() * min(2*(1-min(base.full(), 1)), 1) * min(2*piece, 1)
}

// unread is the share of the sectors that were not read before: what was read is in L2 as it was.
func (a *touchCount) unread() float64 { return 1 - float64(a.read)/float64(a.sectors) }

// Uneven ends: where DRAM has more to do than it can, it serves some SMs more than others, 0.88 to 1.3 times the mean. A
// grid whose CTAs all start together and take equal parts of the work then ends unevenly: of 512 MB copied by CTAs in a
// loop the first of them ends after 0.44 of the time, the mean one after 0.79, and those left do not keep DRAM busy.
// Loops copy at 0.94 of the rate of CTAs that each copy a tile, whatever the order of tiles. CTAs that draw the next tile
// lose nothing. Loops that only read lose 0.015, such that only write 0.033, and copies of 64 MB, which L2 takes the most
// of, 0.01 (deploy/calibrate fronts.stream, fronts.ends, fronts.sms).
const (
	unevenReads, unevenMix, unevenWrites = 0.015, 0.06, 0.033
)

// uneven is the share of DRAM's rate that a grid loses at its end. Two waves end as far apart as one, the last CTAs of an SM
// starting at any time; of more it is the last ones' share (ln_back_rows of one, two and four waves, row_softmax of two,
// shared/hopper).
func (d *Device) uneven(p *Plan, ctas float64) float64 {
	bytes := p.ReadBytes + p.WriteBytes
	if d.Resident == 0 || bytes <= float64(d.L2Bytes) {
		return 0
	}
	w := p.WriteShare()
	lost := unevenReads + (unevenMix-unevenReads)*2*w
	if w > 0.5 {
		lost = unevenMix + (unevenWrites-unevenMix)*(2*w-1)
	}
	return lost * (1 - float64(d.L2Bytes)/bytes) / math.Max(ctas/d.Resident/2, 1)
}
