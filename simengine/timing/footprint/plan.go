package footprint

import (
	"math"
	"slices"

	"github.com/warptune/warptune/simengine/timing"
)

// Plan is the estimate for one launch.
type Plan struct {
	ByInstr
	GridTraffic
	profiled
	// Passing reports whether what all CTAs read has left an SM's L1 by the time the next CTA
	// reads it. Displacing reports whether what loop iterations left out of the trace touch
	// evicts from L1 what the CTA comes back to.
	Passing, Displacing bool
	// Kept is the share of the footprint that the previous launch left in L2; keptStreamed
	// the same for what streaming loads and stores (ld.cs, st.cs) alone touch.
	Kept, keptStreamed float64
	streaming          []bool // by group of instructions: all in it are streaming
	// dirty is the share of what a launch stores that is still in L2, not written back,
	// when the next launch stores it again.
	dirty float64
	// Local is the share of local memory traffic beyond L1 that L2 cannot hold. Outlived
	// is the share of what a CTA leaves in local memory that is written back before the
	// next CTA in its place stores there again, although nobody reads it any more.
	Local, Outlived float64
	// Remote is the share of the lines at home in the farther half of L2 that a CTA finds
	// no copy of in the nearer half on its first touch.
	Remote float64
}

// ByInstr is what a plan says of each PTX instruction; all slices are indexed by it.
type ByInstr struct {
	// Read is the share of the granules that a CTA reads first at this instruction
	// which come from DRAM. Write is the share of those it writes first which go there: more
	// than one where what lay dirty in L2 before goes, too.
	Read, Write []float64
	// ReadAgain is the share of later reads that miss L1 which come from DRAM once more;
	// WriteAgain the share of later writes that go to DRAM once more.
	ReadAgain, WriteAgain []float64
	// Contended is the share of a CTA's first reads that are of lines to whose other parts
	// other warps store meanwhile (false sharing).
	Contended []float64
	// Broadcast reports whether all CTAs read the same bytes.
	Broadcast []bool
	// DistinctAlong is the axes of the grid along which CTAs have different data, where CTAs that differ along the
	// other axes only read the same. It is empty where all CTAs read the same, where each reads its own, and where it
	// is not known.
	DistinctAlong []Axes
	// LockstepSharers is how many of the CTAs that run at a time read the same in step, a
	// CTA itself counted; LeaderReads the share of a CTA's first reads that wait for DRAM then.
	LeaderReads, LockstepSharers []float64
	// ColdCopies is the share of a CTA's copies of what it has not read yet that wait for DRAM: what a copy brings is in
	// L2, or none of it is.
	ColdCopies []float64
	// Readers is how many CTAs of the grid read what one reads, in the mean.
	Readers []float64
	// Merged is how many CTAs of a GPC read by the instruction the same at a time, one where it is not known.
	Merged []float64
	// Looks is the share of what CTAs ask for by the instruction that L2 looks up, where requests of several SMs can
	// become one.
	Looks []float64
	// Together is how many CTAs that follow each other read by the instruction the same, 0 where it is not known.
	Together []float64
	// Random reports whether addresses depend on data and are scattered; Over is the buffer
	// they are scattered over, empty when it is not known.
	Random []bool
	Over   []timing.Extent
	// RowSegments is how many DRAM row segments the grid's accesses to the instruction's
	// buffer use, in whole ones: a quarter of one counts as a quarter.
	RowSegments []float64
	// Awaits reports whether the instruction's look ends a barrier of the grid.
	Awaits []bool
	// Buffer numbers the buffers that are stored or added to.
	Buffer []int32
}

func newByInstr(pcs int) ByInstr {
	floats := func() []float64 { return make([]float64, pcs) }
	return ByInstr{
		Read: floats(), Write: floats(), ReadAgain: floats(), WriteAgain: floats(), Contended: floats(),
		Broadcast: make([]bool, pcs), DistinctAlong: make([]Axes, pcs), LeaderReads: floats(), LockstepSharers: floats(), ColdCopies: floats(), Readers: floats(), Merged: floats(), Looks: floats(), Together: floats(),
		Random: make([]bool, pcs), Over: make([]timing.Extent, pcs), RowSegments: floats(), Awaits: make([]bool, pcs), Buffer: make([]int32, pcs),
	}
}

// GridTraffic is what the grid moves, bytes.
type GridTraffic struct {
	// Footprint is the distinct bytes touched; ReadBytes and WriteBytes move from and to DRAM
	// in a launch that follows others of its kind.
	Footprint             float64
	ReadBytes, WriteBytes float64
	// RowSegmentShare is how much of a row segment DRAM reads for one opening.
	RowSegmentShare float64
	// WriteBack is what DRAM takes to write back what is stored.
	WriteBack WriteBack
	// Uneven is the share of DRAM's rate that is lost because SMs do not end together.
	Uneven float64
	// InStep: SMs ask L2 at the same moments as each other.
	InStep bool
}

// profiled is what differs in a launch by itself under a profiler, with nothing left in L2 of a
// launch before. Bytes.
type profiled struct {
	// ColdReadBytes is read from DRAM. ColdWriteBytes is written: what the launch stores and what
	// the profiler stored before it, less what is still in L2 at its end.
	ColdReadBytes, ColdWriteBytes float64
	// crossed is read from the far half of L2 as well as the near one. missed is what lookups
	// miss in the near half, less what they find in the far one.
	crossed, missed float64
	partitioned     bool // Device.partitioned
}

// Dirty lines are written back before L2 is full. What a launch stores is stored again in place
// by the next launch up to dirtyWhole of L2, and all of it is written back from dirtyUntil on.
// Of 0.40, 0.53 and 0.67 of L2 that is only written, 1, 44 and 94 % are written back; what is
// read beside it counts by half (deploy/calibrate residency.dram_written write, accumulate and
// copy).
const (
	dirtyWhole = 0.43
	dirtyUntil = 0.66
)

// pushedOut is the share of what is stored that is written back where what is read does not stay either. Of a copy of
// 0.80 of L2, 86 % of the reads and 67 % of the stores reach DRAM (deploy/calibrate residency.dram_read and
// dram_written copy).
const pushedOut = 0.78

// rowReach is the share of L2 within which data is found again: of 73 and 82 MB of spilled
// registers a third and two fifths of the stores reach DRAM (counters of shared/silicon
// fat_threads).
const rowReach = 0.8

// Plan estimates the traffic of the whole grid from the CTAs surveyed.
func (s *Survey) Plan(d Device) *Plan {
	pcs := len(s.parent) / 2
	p := &Plan{ByInstr: newByInstr(pcs)}
	groups := s.groups()
	ctas := float64(d.Grid[0]) * float64(d.Grid[1]) * float64(d.Grid[2])
	reach := s.reach(groups, d)
	var reads, written, same, touched, unique float64
	var f footprint
	p.streaming = s.streaming(groups, d)
	for i := range groups {
		if g := &groups[i]; g.low <= g.high {
			s.estimate(g, d, ctas, reach)
		}
	}
	s.findGathers(groups, d, ctas)
	s.spreadOut(groups, d, ctas)
	if d.Copies != nil {
		s.confineTogether(groups, d, ctas)
	}
	for i := range groups {
		if g := &groups[i]; g.low <= g.high {
			s.confine(g, d, ctas)
			touched, unique = touched+g.perCTA*ctas, unique+g.unique
			if i < pcs {
				reads += g.unique * float64(s.granule)
			} else {
				written += g.unique * float64(s.granule)
			}
			// Granules both read and written are one granule of footprint.
			if n := sum(g.fresh); n > 0 {
				extra := g.unique * float64(s.granule) * float64(sum(g.extra)) / float64(n)
				f.add(extra, i < pcs, p.streaming[i])
				if i >= pcs && d.Repeated && !s.updated(i, &d) {
					same += extra // stored without being read: it is there already
				}
			}
		}
	}
	s.inTurns(groups, written, &d, ctas)
	f.all, f.written = f.all+d.Scratch, written
	p.Footprint = f.all
	if !d.Cold {
		if d.Copies != nil {
			f.all += s.copied(groups, &d)
		}
		p.keep(&f, &d)
	}
	if reads > 0 {
		p.Remote = 1 - min(float64(d.EffectiveBytes)/reads, 1)
	}
	p.Passing, p.Displacing = s.passing(d), s.displacing(d)
	own := min(unique/math.Max(touched, 1), 1)
	p.fill(s, groups, &d, own, ctas)
	s.countRowSegments(p, groups, d)
	s.awaitGrid(p, groups, &d)
	p.WriteBack = s.writeBacks(groups, reach, ctas, d)
	p.sumTraffic(s, groups, reach, ctas, d)
	p.Uneven, p.InStep = d.uneven(p, ctas), d.inStep(ctas)
	p.partitioned = d.partitioned()
	taken, inOrder := s.taken(groups, d, reach), s.storesInOrder()
	p.ColdWriteBytes = d.profiledWrites(taken, written, math.Max(written-same, 0), ctas, inOrder)
	if d.Cold && p.WriteBytes > 0 { // the time is that of a first launch, before which all is restored
		p.writeBack(d.profiledWrites(taken, written, written, ctas, inOrder) / p.WriteBytes)
	}
	if d.Scratch > 0 {
		p.Local = max(1-rowReach*float64(d.L2Bytes)/d.Scratch, 0)
		p.Outlived = d.outlived(p.Footprint-d.Scratch, written, ctas)
	}
	return p
}

// updated reports whether an instruction of a group that writes adds to what is there.
func (s *Survey) updated(group int, d *Device) bool {
	pcs := len(s.parent) / 2
	for pc, updates := range d.Updates {
		if updates && int(s.parent.Find(int32(pcs+pc))) == group {
			return true
		}
	}
	return false
}

// onlyUpdated reports whether all instructions of a group that reads add to what is there.
func (s *Survey) onlyUpdated(group int, d *Device) bool {
	if d.Updates == nil {
		return false
	}
	for pc := range len(s.parent) / 2 {
		if int(s.parent.Find(int32(pc))) == group && s.distinct[pc] != [numDirections]int64{} && !d.Updates[pc] {
			return false
		}
	}
	return true
}

// fill sets what the plan says of each instruction. own is the share of what a CTA touches that
// no other CTA does.
func (p *Plan) fill(s *Survey, groups []group, d *Device, own, ctas float64) {
	pcs := len(s.parent) / 2
	for id := range s.parent {
		g := &groups[s.parent.Find(int32(id))]
		if g.low > g.high {
			continue
		}
		if id < pcs {
			p.ReadAgain[id] = p.lost(s.again[id], g, d, d.Copies != nil && d.Copies[id], own, ctas)
			p.Read[id], p.Broadcast[id], p.Random[id], p.Over[id] = g.fromDRAM(p.keptOf(s.parent.Find(int32(id))), d.Cold), g.broadcast, g.random, g.over
			p.Merged[id], p.Together[id] = 1, g.together
			if s.probed != nil && s.inStepProbes {
				p.Merged[id] = merged(&s.probed[id], min(d.Resident, ctas)/probeStep)
			}
			p.Readers[id] = 1 / math.Max(g.share, 1/ctas)
			p.DistinctAlong[id], p.Contended[id] = s.along(g, *d), s.sharing.share(id)
			p.LeaderReads[id], p.LockstepSharers[id] = g.leader(p.DistinctAlong[id], p.Read[id], ctas, *d)
			p.Looks[id] = p.looks(g, d, id, ctas)
			p.ColdCopies[id] = p.coldCopies(g, d, id, ctas)
		} else {
			p.WriteAgain[id-pcs] = p.lost(s.again[id], g, d, false, own, ctas)
			p.Write[id-pcs] = g.share * (1 - p.dirty)
		}
	}
}

// WriteShare is the share of DRAM's traffic that is written.
func (p *Plan) WriteShare() float64 {
	if p.WriteBytes == 0 {
		return 0
	}
	return p.WriteBytes / (p.ReadBytes + p.WriteBytes)
}

// writeBack has DRAM write so many times what the plan says the launch stores.
func (p *Plan) writeBack(times float64) {
	p.WriteBytes *= times
	for pc := range p.Write {
		p.Write[pc] *= times
	}
}

// awaitGrid finds the looks that end barriers of the grid: of all CTAs at the same word, beside which all CTAs' atomics
// add. A wait for the CTA before, at a word of its own, is none.
func (s *Survey) awaitGrid(p *Plan, groups []group, d *Device) {
	added := map[int32]bool{} // groups that atomics add to
	for pc := range d.Adds {
		if root := s.parent.Find(int32(pc)); d.Adds[pc] && groups[root].broadcast {
			added[root] = true
		}
	}
	for pc := range d.Looks {
		p.Awaits[pc] = d.Looks[pc] && added[s.parent.Find(int32(pc))]
	}
}

// countRowSegments adds up, by buffer, the row segments of the instructions that use it in the
// same way, reading or writing.
func (s *Survey) countRowSegments(p *Plan, groups []group, d Device) {
	pcs := len(s.parent) / 2
	var touched [2][]*group // of loads and of stores
	for k := range groups {
		if o := &groups[k]; o.low <= o.high && int(s.parent.Find(int32(k))) == k {
			touched[k/pcs] = append(touched[k/pcs], o)
		}
	}
	for id := range s.parent {
		g := &groups[s.parent.Find(int32(id))]
		if g.low > g.high {
			continue
		}
		n := 0.0
		for _, o := range touched[id/pcs] {
			if d.together(g, o) {
				n += o.unique * float64(s.granule) / float64(s.rowSegment)
			}
		}
		p.RowSegments[id%pcs] = math.Max(p.RowSegments[id%pcs], n)
	}
	s.nameBuffers(p, groups, d)
}

// nameBuffers numbers the buffers that are stored or added to, in the order of their first use.
func (s *Survey) nameBuffers(p *Plan, groups []group, d Device) {
	pcs := len(s.parent) / 2
	var first []*group // of each
	for pc := range pcs {
		g := &groups[s.parent.Find(int32(pcs+pc))]
		if g.low > g.high {
			continue
		}
		at := slices.IndexFunc(first, func(o *group) bool { return d.together(g, o) })
		if at < 0 {
			at, first = len(first), append(first, g)
		}
		p.Buffer[pc] = int32(at)
	}
}

// together reports whether two groups lie in one buffer.
func (d *Device) together(g, o *group) bool {
	if g == o {
		return true
	}
	for _, e := range d.Extents {
		if e.First <= g.low && g.high <= e.Last && e.First <= o.low && o.high <= e.Last {
			return true
		}
	}
	return false
}

// sumTraffic adds up the bytes that DRAM moves, and the bytes of the row segments it opens for
// them.
func (p *Plan) sumTraffic(s *Survey, groups []group, reach [numDirections]float64, ctas float64, d Device) {
	pcs := len(s.parent) / 2
	shares := make([]float64, pcs) // of row segments, by load
	for _, a := range s.localities(loads) {
		for _, pc := range a.of {
			shares[pc] = a.read(s, reach, d)
		}
	}
	var opened float64 // bytes, if all of each row segment were read
	for i := range groups {
		g := &groups[i]
		if g.low > g.high || int(s.parent.Find(int32(i))) != i {
			continue
		}
		touched := g.perCTA * ctas * float64(s.granule)
		if i < pcs {
			bytes := touched * g.fromDRAM(p.keptOf(int32(i)), d.Cold)
			p.ReadBytes += bytes
			p.ColdReadBytes += touched * g.fromDRAM(0, true)
			if !s.onlyUpdated(i, &d) { // atomics are no reads
				crossed, missed := g.lookedUp(s, d)
				p.crossed += touched * crossed
				p.missed += touched * missed
			}
			if g.random || shares[i] == 0 {
				opened += bytes * g.opened(s)
			} else {
				opened += bytes / shares[i]
			}
		} else {
			p.WriteBytes += touched * g.share * (1 - p.dirty)
		}
	}
	p.RowSegmentShare = 1
	if opened > 0 {
		p.RowSegmentShare = min(p.ReadBytes/opened, 1)
	}
}

// kept is the share of a footprint, bytes, that stays in L2 when all of it does up to whole of
// the cache's size and nothing from until on.
func (d *Device) kept(whole, until, bytes float64) float64 {
	size := float64(d.L2Bytes)
	return min(max((until*size-bytes)/math.Max((until-whole)*size, 1), 0), 1)
}

func sum(a [numDirections]int64) (n int64) {
	for _, v := range a {
		n += v
	}
	return n
}
