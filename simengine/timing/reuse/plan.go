package reuse

import "math"

// Device is what the estimate needs to know of the device and the launch.
type Device struct {
	Grid [3]int
	// L2Bytes is the second-level cache, EffectiveBytes the part of it that
	// data touched by all SMs can use (less than L2Bytes where halves of the
	// cache keep copies).
	L2Bytes, EffectiveBytes int
	// Scratch is further data that lives in L2 (local memory), bytes.
	Scratch float64
	// Extents are the buffers in device memory; nil when they are not known,
	// and then the range of addresses surveyed stands for them.
	Extents []Extent
	// Cold says that no earlier launch of the kernel left data behind.
	Cold bool
}

// Extent is one buffer: its first and last 128-byte line.
type Extent struct{ First, Last uint64 }

// holds is the granules of the buffers that a range of lines lies in, 0 when
// none is known to hold it.
func (d *Device) holds(low, high, perLine uint64) float64 {
	var lines uint64
	for _, e := range d.Extents {
		if e.First <= high && low <= e.Last {
			lines += e.Last - e.First + 1
		}
	}
	return float64(lines * perLine)
}

// within is the buffer that a range of lines lies in, empty when it is not one.
func (d *Device) within(low, high uint64) Extent {
	for _, e := range d.Extents {
		if e.First <= low && high <= e.Last {
			return e
		}
	}
	return Extent{}
}

// Plan is the estimate for one launch. Slices are indexed by PTX instruction.
type Plan struct {
	// Read is the share of the granules that a CTA reads first at this
	// instruction which come from DRAM; Write the share of those it writes
	// first which go to DRAM.
	Read, Write []float64
	// Broadcast says that all CTAs read the same bytes at this instruction.
	Broadcast []bool
	// Random says that the addresses are data dependent and scattered; Over is
	// the buffer they are scattered over, empty when it is not known.
	Random []bool
	Over   []Extent
	// RowShare is the granules of DRAM reads that share one opened row, of the
	// RowGranules there are in it: how sequential the traffic is.
	RowShare float64
	// Footprint is the distinct bytes the grid touches; ReadBytes and
	// WriteBytes what it moves from and to DRAM.
	Footprint             float64
	ReadBytes, WriteBytes float64
	// ColdReadBytes is what the grid would read from DRAM if nothing were left
	// of a previous launch, as a profiler's single launch does.
	ColdReadBytes float64
	// Local is the share of local memory traffic beyond L1 that L2 cannot hold.
	Local float64
	// Remote is the share of the lines found in L2 on a CTA's first touch that
	// have no copy in the nearer half, of those at home in the farther one.
	Remote float64
	perCTA float64 // bytes a CTA touches first, all groups
	// Kept is the share of the footprint that the previous launch left in L2.
	Kept float64
}

// group sums a set of instructions that touch common data.
type group struct {
	distinct, fresh, extra [numDirections]int64
	low, high              uint64
	perCTA                 float64 // granules a CTA touches
	unique                 float64 // granules the grid touches
	share                  float64 // of a CTA's granules that are new to the grid
	random, broadcast      bool
	skipped                bool // the addresses surveyed are not all there are
}

// A launch finds all of the previous one's footprint in L2 up to keptWhole of
// the cache's size and nothing from keptUntil on: replacement is close to least
// recently used, and a stream longer than the cache evicts itself. GH200 reads
// at the L2 rate up to 40 of 60 MB (RRZE gpu-l2-cache), and 50 MB of
// copy_strided STRIDE=2 run at the DRAM rate (shared/silicon).
const (
	keptWhole = 0.67
	keptUntil = 0.85
)

// rowReach is the share of L2 within which data is found again: of 73 and 82 MB
// of spilled registers a third and two fifths of the stores reach DRAM
// (shared/silicon fat_threads counters).
const rowReach = 0.8

// Plan estimates the traffic of the whole grid from the CTAs surveyed.
func (s *Survey) Plan(d Device) *Plan {
	pcs := len(s.parent) / 2
	p := &Plan{Read: make([]float64, pcs), Write: make([]float64, pcs), Broadcast: make([]bool, pcs), Random: make([]bool, pcs), Over: make([]Extent, pcs)}
	groups := s.groups()
	ctas := float64(d.Grid[0]) * float64(d.Grid[1]) * float64(d.Grid[2])
	reach := s.reach(groups, d)
	var reads float64
	for i := range groups {
		if g := &groups[i]; g.low <= g.high {
			s.estimate(g, d, ctas, reach)
			if i < pcs {
				reads += g.unique * float64(s.granule)
			}
			// Granules both read and written are one granule of footprint.
			if n := sum(g.fresh); n > 0 {
				p.Footprint += g.unique * float64(s.granule) * float64(sum(g.extra)) / float64(n)
			}
		}
	}
	p.Footprint += d.Scratch
	p.Kept = kept(p.Footprint, d)
	p.perCTA = reach[Y] / float64(d.Grid[0])
	if reads > 0 {
		p.Remote = 1 - min(float64(d.EffectiveBytes)/reads, 1)
	}
	for id := range s.parent {
		g := &groups[s.find(int32(id))]
		if g.low > g.high {
			continue
		}
		q := s.fromDRAM(g, p, d)
		if id < pcs {
			p.Read[id], p.Broadcast[id], p.Random[id] = q, g.broadcast, g.random
			if g.random {
				p.Over[id] = d.within(g.low, g.high)
			}
		} else {
			p.Write[id-pcs] = q
		}
	}
	p.sumTraffic(s, groups, ctas, d)
	if d.Scratch > 0 {
		p.Local = max(1-rowReach*float64(d.L2Bytes)/d.Scratch, 0)
	}
	p.RowShare = s.rowShare()
	return p
}

func (p *Plan) sumTraffic(s *Survey, groups []group, ctas float64, d Device) {
	pcs := len(s.parent) / 2
	for i := range groups {
		g := &groups[i]
		if g.low > g.high || int(s.find(int32(i))) != i {
			continue
		}
		bytes := g.perCTA * ctas * s.fromDRAM(g, p, d) * float64(s.granule)
		if i < pcs {
			p.ReadBytes += bytes
			cold := *p
			cold.Kept = 0
			p.ColdReadBytes += g.perCTA * ctas * s.fromDRAM(g, &cold, d) * float64(s.granule)
		} else {
			p.WriteBytes += bytes
		}
	}
}

// kept is the share of a footprint that a launch leaves in L2 for the next.
func kept(footprint float64, d Device) float64 {
	if d.Cold {
		return 0
	}
	full, none := keptWhole*float64(d.L2Bytes), keptUntil*float64(d.L2Bytes)
	return min(max((none-footprint)/(none-full), 0), 1)
}

func sum(a [numDirections]int64) (n int64) {
	for _, v := range a {
		n += v
	}
	return n
}

// groups adds up the counts of instructions that touch common data, at the
// index of each set's representative.
func (s *Survey) groups() []group {
	groups := make([]group, len(s.parent))
	for i := range groups {
		groups[i].low = ^uint64(0)
	}
	for id := range s.parent {
		g := &groups[s.find(int32(id))]
		for k := range g.distinct {
			g.distinct[k] += s.distinct[id][k]
			g.fresh[k] += s.fresh[id][k]
			g.extra[k] += s.extra[id][k]
		}
		g.skipped = g.skipped || s.skipped[id]
		g.low, g.high = min(g.low, s.low[id]), max(g.high, s.high[id])
	}
	return groups
}

// reach is how many bytes the grid touches between a CTA and its neighbour in
// the next row, and in the next plane.
func (s *Survey) reach(groups []group, d Device) [numDirections]float64 {
	var perCTA float64
	for i := range groups {
		if groups[i].low <= groups[i].high {
			perCTA += s.mean(&groups[i]) * float64(s.granule)
		}
	}
	return [numDirections]float64{Y: perCTA * float64(d.Grid[0]), Z: perCTA * float64(d.Grid[0]) * float64(d.Grid[1])}
}

// mean is the granules a CTA of the cluster touches first.
func (s *Survey) mean(g *group) float64 {
	var n, ctas int64
	for k := Base; k <= Z; k++ {
		n += g.distinct[k]
		ctas += s.ctas[k]
	}
	if ctas == 0 {
		return 0
	}
	return float64(n) / float64(ctas)
}

func (s *Survey) estimate(g *group, d Device, ctas float64, reach [numDirections]float64) {
	g.perCTA = s.mean(g)
	if float64(s.cta) >= ctas { // every CTA was surveyed
		g.unique = float64(sum(g.fresh))
		g.perCTA = float64(sum(g.distinct)) / ctas
	} else {
		g.unique = g.perCTA
		for k, n := range [...]int{d.Grid[0], d.Grid[1], d.Grid[2]} {
			dir := X + Direction(k)
			if n > 1 {
				g.unique *= 1 + float64(n-1)*s.newShare(g, dir, reach[dir], d)
			}
		}
	}
	if g.perCTA == 0 {
		return
	}
	g.broadcast = g.unique < 1.5*g.perCTA && ctas > 1
	// More distinct granules than there are to touch: the CTAs' shares of new
	// ones do not go on as in the cluster, since addresses are scattered.
	span := d.holds(g.low, g.high, s.perLine)
	if span == 0 && s.ctas[Far] > 0 && !g.skipped {
		span = float64(g.high-g.low+1) * float64(s.perLine)
	}
	if span > 0 && g.unique > span {
		g.random, g.unique = g.unique > scattered*span, span
	}
	g.share = min(g.unique/(g.perCTA*ctas), 1)
}

// scattered is how many times the granules that there are the CTAs' shares must
// come to before addresses are taken for random: the separable estimate counts
// the corners of two-dimensional halos twice, a few per cent to a third.
const scattered = 1.5

// newShare is the share of a CTA's granules that its neighbour in a direction
// has not touched, 1 when the neighbour's data is evicted before it is reused.
func (s *Survey) newShare(g *group, dir Direction, reach float64, d Device) float64 {
	if g.distinct[dir] == 0 || reach > rowReach*float64(d.L2Bytes) {
		return 1
	}
	return float64(g.fresh[dir]) / float64(g.distinct[dir])
}

// fromDRAM is the share of the granules a CTA first touches that DRAM moves.
func (s *Survey) fromDRAM(g *group, p *Plan, d Device) float64 {
	fresh := g.share * (1 - p.Kept)
	if g.random {
		// A granule is found again if less than the cache's reach of other
		// data was brought in since; the gaps between the touches of a
		// granule are exponentially distributed.
		gap := g.unique / max(g.perCTA, 1) * p.perCTA
		hit := 1 - math.Exp(-float64(d.EffectiveBytes)/max(gap, 1))
		return 1 - hit*(1-fresh)
	}
	return fresh
}

// rowShare is the mean number of granules touched of each DRAM row that is
// touched at all, over the rows full, by the cluster's reads.
func (s *Survey) rowShare() float64 {
	var fresh, rows int64
	for i := range len(s.parent) / 2 {
		for k := Base; k <= Z; k++ {
			fresh += s.fresh[i][k]
		}
		rows += s.rows[i]
	}
	if rows == 0 {
		return 1
	}
	return min(float64(fresh)/float64(rows)/float64(rowBytes/s.granule), 1)
}
