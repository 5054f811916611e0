package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/trace"
)

// memory is what requests cost this SM's share of L2 and DRAM, cycles.
type memory struct {
	read, port [trace.MostFetches + 1]float64 // by sectors of a line, some of which a copy may ask for again
	// slice and way are the same of stores, whole and in part.
	slice, way [dram.Parts][5]float64
	dram       float64 // a granule
	contended  float64 // a granule from DRAM of a line that others store to, of the slices
	share      *dram.Share
	near, far  float64                    // latency of the two halves of L2
	waits      dram.Waits                 // for DRAM
	half       float64                    // half the difference of the halves
	writeBack  float64                    // how long DRAM takes for a granule of stores, in those of one of a stream
	contention func(busy float64) float64 // mean delay of a DRAM read where DRAM is busy for a share of the time
	burst      float64                    // how much faster than the share's rate a burst of this SM is served
	atomics    cost.AtomicCost
}

func newMemory(f *cost.Figures, active float64, plan *footprint.Plan) *memory {
	spec := f.Share(active, footprint.TrafficOf(plan))
	s := dram.New(spec)
	m := &memory{
		share: s,
		near:  float64(spec.L2Latency), far: float64(spec.FarLatency), waits: spec.Waits,
		contention: spec.Contention, burst: math.Max(float64(spec.Burst), 1), dram: s.DRAMCycles(), contended: s.ContendedCycles(), writeBack: math.Max(spec.WriteBack, 1),
	}
	for n := range m.read {
		m.read[n], m.port[n] = s.ReadCycles(int64(n))
	}
	for n := range m.way[0] {
		for part := range m.slice {
			m.slice[part][n], m.way[part][n] = s.WriteCycles(int64(n), dram.Part(part))
		}
	}
	m.half = (m.far - m.near) / 2
	m.atomics = f.Atomic(active)
	return m
}

// readLine adds the read of sectors of a line, times of it, and of granules from DRAM, for each of which so many requests
// ask. It holds the L2 slices for the share held of what it takes by itself.
func (m *memory) readLine(w *work, sectors int, granules, askers, times, held float64) {
	r, p, d := held*math.Max(times*m.read[sectors], times*m.share.LookupCycles(int64(sectors), granules/math.Max(times, 1e-9), askers)), times*m.port[sectors], granules*m.dram
	w.busy[l2Slices] += r
	w.busy[inPort] += p
	w.busy[dramBus] += d
	w.blocking[l2Slices] += r
	w.blocking[inPort] += p
	w.blocking[dramBus] += d
}

// contend adds granules from DRAM of lines to whose other parts others store meanwhile.
func (m *memory) contend(w *work, granules float64) {
	w.busy[l2Slices] += granules * m.contended
	w.blocking[l2Slices] += granules * m.contended
}

// writeLine adds times stores of sectors of a line; toDRAM granules of
// it are written back.
func (m *memory) writeLine(w *work, sectors int, part dram.Part, toDRAM, times float64) {
	w.busy[l2Slices] += times * m.slice[part][sectors]
	w.busy[outWay] += times * m.way[part][sectors]
	w.busy[dramBus] += times * toDRAM * m.dram * m.writeBack
}

// spillPath is where reloads of spilled registers go: the words of all resident warps share L1,
// and what does not fit is read from L2.
type spillPath struct {
	m    *memory
	hits float64 // share of reloads that L1 serves
}

// newSpillPath takes the spill areas of all resident warps for equally used.
func newSpillPath(in *timing.Input, m *memory) spillPath {
	p := spillPath{m: m, hits: 1}
	bytes := float64(in.Program.SpillBytes) * 32 * float64(in.WarpsPerCTA*in.CTAsPerSM)
	if bytes > 0 {
		p.hits = math.Min(1, float64(in.L1Bytes)/bytes)
	}
	return p
}

func (p *spillPath) latency(f *cost.Figures) float64 {
	return p.hits*f.L1 + (1-p.hits)*p.m.near
}

func (p *spillPath) load(f *cost.Figures, w *work, lines int64) {
	c := f.Request(assemble.Load, false, lines, lines)
	w.busy[lsu] += c
	w.blocking[lsu] += c
	w.spilled[0] += 4 * float64(lines)
	p.m.readLine(w, 4, 0, 1, float64(lines)*(1-p.hits), 1)
}

func (p *spillPath) store(f *cost.Figures, w *work, lines int64) {
	w.busy[lsu] += f.Request(assemble.Store, false, lines, lines)
	w.spilled[1] += 4 * float64(lines)
	p.m.writeLine(w, 4, 0, 0, float64(lines))
}
