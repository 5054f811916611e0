package clock

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// leastOfDRAM is the cycles that DRAM takes at least for what the launch moves. Of a kernel that leaves out iterations
// a wave is clocked in which what is stored may queue for DRAM without holding anything up, which no launch can go on
// doing.
func (g gridShape) leastOfDRAM(m *cost.Machine, p *sampleSet) float64 {
	spec := m.Share(g.Active, footprint.TrafficOf(p.plan))
	bytes := (p.plan.ReadBytes + p.plan.WriteBytes*math.Max(spec.WriteBack, 1)) / float64(g.CTAs) * float64(g.PerSM)
	return float64(m.ColdStart) + float64(spec.L2Latency) + bytes/float64(m.Granule())*dram.New(spec).DRAMCycles()
}

// dramShares is which part of the requests DRAM serves. Due is that share by PC, in fractions
// of unit; Acc the remainder that is carried over to the next request (error diffusion).
type dramShares struct {
	readDue, writeDue []int32
	// cold is the share of copies that wait for DRAM (footprint.Plan.ColdCopies), coldDue that of their granules which
	// this SM has brought from there.
	cold, coldAcc, coldDue []int32
	readAcc, writeAcc      []int32
	againDue, againAcc     [2][]int32 // of what is touched again, by loads and stores
	// remote is the share, of 1<<16, of the first touches at home in the far half of L2 that
	// find no copy in the near half.
	remote uint64
}

// setCold takes from a plan which copies wait for DRAM.
func (d *dramShares) setCold(p *footprint.Plan) {
	granules := make([]float64, len(p.Read))
	for pc, share := range p.Read {
		granules[pc] = share / math.Max(math.Max(p.ColdCopies[pc], share), 1.0/unit)
	}
	d.cold, d.coldAcc, d.coldDue = due(p.ColdCopies), make([]int32, len(granules)), due(granules)
}

// unit is 1 in the fixed-point numbers of estimated shares.
const unit = 1 << 16

func due(shares []float64) []int32 {
	d := make([]int32, len(shares))
	for i, v := range shares {
		d[i] = int32(v*unit + 0.5)
	}
	return d
}

// granules is how many granules of L2 and DRAM traffic the sectors of a line lie in.
func (s *sm) granules(sectors uint8) int64 {
	return int64(cost.Granules(s.m.Granule(), sectors))
}

// take is how many of n granules a share due (of unit) comes to. The remainder is carried over
// in acc to the next request.
func (s *sm) take(acc *int32, due int32, n int64) int64 {
	if due == 0 {
		return 0
	}
	t := int64(*acc) + int64(due)*n
	*acc = int32(t % unit)
	return t / unit
}

// takeLine is take for n granules of one line that one request reads: DRAM brings all of them
// or none.
func (s *sm) takeLine(acc *int32, due int32, n int64) int64 {
	t := int64(*acc) + int64(due)*n
	if n == 0 || t < n*unit {
		*acc = int32(t)
		return 0
	}
	*acc = int32(t - n*unit)
	return n
}

// localDue is how many of n granules of local memory that are loaded (way 0) or stored (way 1)
// miss L2.
func (s *sm) localDue(way int, n int64) int64 {
	return s.take(&s.stats.loop.localAcc[way], s.stats.loop.localShare[way], n)
}

// pcStats is what the caches did for one PTX instruction. Loop iterations left out of the trace
// count like the one recorded before them.
type pcStats struct {
	sectors, l1Hits int64 // sectors looked up in L1 and found
	l2Sectors       int64 // sectors asked of L2, or stored there
	joined          int64 // of these, what the CTA had asked for before and has not got yet
	partialLines    int64 // of those loaded and added to, in lines of which not all sectors are asked for
	dramSectors     int64 // of them, in granules that came from DRAM
	again           int64 // of these, what the CTA had touched before
}

// stored counts the sectors of a store and those of them that L1 held.
func (p *pcStats) stored(sectors, hit uint8) {
	p.sectors += int64(bits.OnesCount8(sectors))
	p.l1Hits += int64(bits.OnesCount8(hit))
}

// repeat multiplies what was counted since before by n, which is how often the step that it was
// counted for is executed.
func (p *pcStats) repeat(before *pcStats, n int64) {
	p.sectors = before.sectors + n*(p.sectors-before.sectors)
	p.l1Hits = before.l1Hits + n*(p.l1Hits-before.l1Hits)
	p.l2Sectors = before.l2Sectors + n*(p.l2Sectors-before.l2Sectors)
	p.joined = before.joined + n*(p.joined-before.joined)
	p.dramSectors = before.dramSectors + n*(p.dramSectors-before.dramSectors)
	p.partialLines = before.partialLines + n*(p.partialLines-before.partialLines)
	p.again = before.again + n*(p.again-before.again)
}
