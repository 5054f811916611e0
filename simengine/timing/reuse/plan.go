package reuse

import (
	"math"
	"slices"
)

// Device is what the estimate needs to know of the device and the launch.
type Device struct {
	Grid [3]int
	// L2Bytes is the second-level cache, EffectiveBytes the part of it that
	// data touched by all SMs can use (less than L2Bytes where halves of the
	// cache keep copies).
	L2Bytes, EffectiveBytes int
	// Kept is the share of L2Bytes up to which a launch finds everything that the
	// previous one touched, KeptUntil that from which it finds nothing.
	Kept, KeptUntil float64
	// Scratch is further data that lives in L2 (local memory), bytes.
	Scratch float64
	// Extents are the buffers in device memory; nil when they are not known,
	// and then the range of addresses surveyed stands for them.
	Extents []Extent
	// Cold says that no earlier launch of the kernel left data behind. Repeated says that one all the
	// same stored what this one stores: a profiler restores only what is updated.
	Cold, Repeated bool
	// Streaming says by instruction that it marks lines to be evicted first; nil: none does.
	Streaming []bool
	// Resident is the CTAs that the device runs at a time, 0 for few of many, and
	// CTAsPerSM those of an SM.
	Resident, CTAsPerSM float64
	// L1Lines is the lines of an SM's L1.
	L1Lines float64
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

// Plan is the estimate for one launch. Slices are indexed by PTX instruction.
type Plan struct {
	// Read is the share of the granules that a CTA reads first at this
	// instruction which come from DRAM; Write the share of those it writes
	// first which go to DRAM: more than one where what lay in L2 before goes, too.
	Read, Write []float64
	// ReadAgain is the share of what a CTA reads at this instruction not for the first
	// time, and not from L1, that comes from DRAM once more; WriteAgain the share of
	// what it writes not for the first time that goes to DRAM once more.
	ReadAgain, WriteAgain []float64
	// Contended is the share of a CTA's first reads at this instruction that are of lines
	// whose other parts others store meanwhile.
	Contended []float64
	// Broadcast says that all CTAs read the same bytes at this instruction.
	Broadcast []bool
	// Along is the axes of the grid along which CTAs have different data at this
	// instruction, while those that differ along others only read the same bytes: 0
	// where all CTAs read the same or each its own, and where that is not known.
	Along []Axes
	// Front is the share of a CTA's first reads at this instruction that wait for DRAM if it
	// keeps step with the Readers, itself among them, that run at a time and read the same.
	Front, Readers []float64
	// Passing says that what all CTAs read is gone from an SM's L1 when the next CTA
	// comes for it.
	Passing bool
	// Displacing says that what iterations left out touch pushes out of L1 what the CTA
	// comes back to.
	Displacing bool
	// Random says that the addresses are data dependent and scattered; Over is
	// the buffer they are scattered over, empty when it is not known.
	Random []bool
	Over   []Extent
	// Pieces is the pieces that the grid's accesses to the buffer of an
	// instruction lie in, parts of one counted as such.
	Pieces []float64
	// Buffer tells instructions that use one buffer from those that use others.
	Buffer []int32
	// PieceShare is how much of a piece DRAM reads for one opening: how
	// sequential the traffic is.
	PieceShare float64
	// WriteBack is what DRAM takes for what is stored: how strewn it is.
	WriteBack WriteBack
	// Footprint is the distinct bytes the grid touches; ReadBytes and
	// WriteBytes what it moves from and to DRAM.
	Footprint             float64
	ReadBytes, WriteBytes float64
	// ColdReadBytes is what the grid would read from DRAM if nothing were left
	// of a previous launch, as a profiler's single launch does.
	ColdReadBytes float64
	// ColdWriteBytes is what DRAM takes of such a launch: what it stores and what
	// the profiler stored before it, less what is still in L2 at its end.
	ColdWriteBytes float64
	// crossed is the bytes of such a launch's reads that are looked up in the far
	// half of L2, too; missed is what lookups miss in the near one, less what they
	// find in the far one.
	crossed, missed float64
	halves          bool
	// Local is the share of local memory traffic beyond L1 that L2 cannot hold.
	// Outlived is the share of what a CTA leaves in local memory that is written
	// back before the next one in its place stores there again: dead, but dirty.
	Local, Outlived float64
	// Remote is the share of the lines found in L2 on a CTA's first touch that
	// have no copy in the nearer half, of those at home in the farther one.
	Remote float64
	// Kept is the share of the footprint that the previous launch left in L2, of what streaming loads
	// and stores touch keptStreamed.
	Kept, keptStreamed float64
	streaming          []bool // by group
	// dirty is the share of what a launch stores that is still in L2, not written
	// back, when the next launch stores it again.
	dirty float64
}

// Dirty lines are written back before the cache is full: what a launch stores is
// stored again in place by the next up to dirtyWhole of L2 and all of it written
// back from dirtyUntil on. Of 0.40, 0.53 and 0.67 of L2 that is only written 1, 44
// and 94 % are; what is read beside it counts by half (deploy/calibrate
// residency.dram_written write, accumulate and copy).
const (
	dirtyWhole = 0.43
	dirtyUntil = 0.66
)

// pushedOut is how much of what is stored goes with what is read when that does not
// stay: of a copy of 0.80 of L2 86 % of the reads and 67 % of the stores reach DRAM
// (deploy/calibrate residency.dram_read and dram_written copy).
const pushedOut = 0.78

// rowReach is the share of L2 within which data is found again: of 73 and 82 MB
// of spilled registers a third and two fifths of the stores reach DRAM
// (shared/silicon fat_threads counters).
const rowReach = 0.8

// Plan estimates the traffic of the whole grid from the CTAs surveyed.
func (s *Survey) Plan(d Device) *Plan {
	pcs := len(s.parent) / 2
	p := &Plan{Read: make([]float64, pcs), Write: make([]float64, pcs), ReadAgain: make([]float64, pcs), WriteAgain: make([]float64, pcs), Contended: make([]float64, pcs), Broadcast: make([]bool, pcs), Along: make([]Axes, pcs), Random: make([]bool, pcs), Over: make([]Extent, pcs), Pieces: make([]float64, pcs), Buffer: make([]int32, pcs), Front: make([]float64, pcs), Readers: make([]float64, pcs)}
	groups := s.groups()
	ctas := float64(d.Grid[0]) * float64(d.Grid[1]) * float64(d.Grid[2])
	reach := s.reach(groups, d)
	var reads, written, restored, touched, unique float64
	var f footprint
	p.streaming = s.streaming(groups, d)
	for i := range groups {
		if g := &groups[i]; g.low <= g.high {
			s.estimate(g, d, ctas, reach)
		}
	}
	s.spread(groups, d, ctas)
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
				extra := float64(sum(g.extra)) / float64(n)
				f.add(g.unique*float64(s.granule)*extra, i < pcs, p.streaming[i])
				if i >= pcs && d.Repeated {
					restored -= g.unique * float64(s.granule) * extra // is there already
				}
			}
		}
	}
	f.all, f.written = f.all+d.Scratch, written
	restored = math.Max(written+restored, 0)
	p.Footprint = f.all
	if !d.Cold {
		p.keep(&f, &d)
	}
	if reads > 0 {
		p.Remote = 1 - min(float64(d.EffectiveBytes)/reads, 1)
	}
	p.Passing, p.Displacing = s.passing(d), s.displacing(d)
	own := min(unique/math.Max(touched, 1), 1) // share of what a CTA touches that others do not
	for id := range s.parent {
		g := &groups[s.parent.Find(int32(id))]
		if g.low > g.high {
			continue
		}
		if id < pcs {
			p.ReadAgain[id] = p.lost(s.again[id], g, &d, own, ctas)
			p.Read[id], p.Broadcast[id], p.Random[id], p.Over[id] = g.fromDRAM(p.keptOf(s.parent.Find(int32(id))), d.Cold), g.broadcast, g.random, g.over
			p.Along[id], p.Contended[id] = s.along(g, d), s.sharing.share(id)
			p.Front[id], p.Readers[id] = g.front(p.Along[id], p.Read[id], ctas, d)
		} else {
			p.WriteAgain[id-pcs] = p.lost(s.again[id], g, &d, own, ctas)
			p.Write[id-pcs] = g.share * (1 - p.dirty)
		}
	}
	s.countPieces(p, groups, d)
	p.WriteBack = s.writeBacks(groups, reach, ctas, d)
	p.sumTraffic(s, groups, reach, ctas, d)
	p.halves = d.halves()
	taken, inOrder := s.taken(groups, d, reach), s.storesInOrder()
	p.ColdWriteBytes = d.profiled(taken, written, restored, ctas, inOrder)
	if d.Cold && p.WriteBytes > 0 { // its time is that of a first launch: by less it would come out short
		p.writeBack(d.profiled(taken, written, written, ctas, inOrder) / p.WriteBytes)
	}
	if d.Scratch > 0 {
		p.Local = max(1-rowReach*float64(d.L2Bytes)/d.Scratch, 0)
		p.Outlived = d.outlived(p.Footprint-d.Scratch, written, ctas)
	}
	return p
}

// WriteShare is the share of DRAM's traffic that is written.
func (p *Plan) WriteShare() float64 {
	if p.WriteBytes == 0 {
		return 0
	}
	return p.WriteBytes / (p.ReadBytes + p.WriteBytes)
}

// writeBack makes DRAM take so many times what is stored while the launch runs.
func (p *Plan) writeBack(times float64) {
	p.WriteBytes *= times
	for pc := range p.Write {
		p.Write[pc] *= times
	}
}

// countPieces adds up, by buffer, the pieces of the instructions that use it in
// the same way, reading or writing.
func (s *Survey) countPieces(p *Plan, groups []group, d Device) {
	pcs := len(s.parent) / 2
	for id := range s.parent {
		g := &groups[s.parent.Find(int32(id))]
		if g.low > g.high {
			continue
		}
		n := 0.0
		lo, hi := id/pcs*pcs, id/pcs*pcs+pcs // the loads or the stores
		for k := lo; k < hi; k++ {
			if o := &groups[k]; int(s.parent.Find(int32(k))) == k && o.low <= o.high && d.together(g, o) {
				n += o.unique * float64(s.granule) / float64(s.piece)
			}
		}
		p.Pieces[id%pcs] = math.Max(p.Pieces[id%pcs], n)
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

// together says that two groups lie in one buffer.
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

// sumTraffic adds up what DRAM moves, and what it opens for that.
func (p *Plan) sumTraffic(s *Survey, groups []group, reach [numDirections]float64, ctas float64, d Device) {
	pcs := len(s.parent) / 2
	shares := make([]float64, pcs) // of pieces, by load
	for _, a := range s.strewings(loads) {
		for _, pc := range a.of {
			shares[pc] = a.read(s, reach, d)
		}
	}
	var opened float64 // bytes, if all of each piece were read
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
			crossed, missed := g.lookedUp(s, d)
			p.crossed += touched * crossed
			p.missed += touched * missed
			if g.random || shares[i] == 0 {
				opened += bytes * g.opened(s)
			} else {
				opened += bytes / shares[i]
			}
		} else {
			p.WriteBytes += touched * g.share * (1 - p.dirty)
		}
	}
	p.PieceShare = 1
	if opened > 0 {
		p.PieceShare = min(p.ReadBytes/opened, 1)
	}
}

// kept is the share of a footprint that stays in L2 when all of it does up to
// whole of the cache's size and nothing from until on.
func (d *Device) kept(whole, until, footprint float64) float64 {
	size := float64(d.L2Bytes)
	return min(max((until*size-footprint)/math.Max((until-whole)*size, 1), 0), 1)
}

func sum(a [numDirections]int64) (n int64) {
	for _, v := range a {
		n += v
	}
	return n
}
