package timing

import (
	"fmt"

	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/reuse"
)

// pool is the CTAs that were traced, and what the survey of their footprints says.
type pool struct {
	samples []*sample // the cluster that is replayed
	counts  counts
	plan    *reuse.Plan
	skips   bool
	uneven  bool      // the samples are CTAs of different work from the whole grid
	lengths []float64 // theirs then, of Input.Lengths
	chain   int       // how many of the samples, from the first on, are neighbours along the first axis
	// apart is how often CTAs come to be at places of their own of a table, and
	// tableHold the steps that a load of WalksTable then holds the SM's constant cache.
	apart     float64
	tableHold int64
	// held is by load how long it holds the slices of L2, in fractions of what it takes by itself.
	held      []int64
	constMiss [2]int64 // steps a line of a table takes that lanes read apart, in order and drawn
}

// clusterSteps is how many neighbours of the first CTA are traced along x, at
// most: four consecutive ones show what fraction of a shared sector or line
// each adds. Along y and z it is half of that.
const clusterSteps = 4

// pick is a CTA to trace.
type pick struct {
	id  int64
	dir reuse.Direction
}

// Middle is the CTA in the middle of a grid, away from edges, that stands for it.
func Middle(grid [3]int) int64 {
	nx, ny, nz := int64(grid[0]), int64(grid[1]), int64(grid[2])
	return (middle(nz)*ny+middle(ny))*nx + middle(nx)
}

// middle is the one of n CTAs along an axis. It stands at a multiple of four, so
// that neighbours that share a line are seen from its start.
func middle(n int64) int64 { return max(min(n/2&^3, n-1-clusterSteps), 0) }

// picks chooses the CTAs to trace: one in the middle of the grid, away from
// edges, and up to steps of its neighbours along each axis. Small grids are
// traced whole.
func picks(grid [3]int, steps int64) []pick {
	nx, ny, nz := int64(grid[0]), int64(grid[1]), int64(grid[2])
	if total := nx * ny * nz; total <= steps+1 {
		var p []pick
		for id := range total {
			dir := reuse.Base
			switch {
			case id == 0:
			case id < nx:
				dir = reuse.X
			case id < nx*ny:
				dir = reuse.Y
			default:
				dir = reuse.Z
			}
			p = append(p, pick{id, dir})
		}
		return p
	}
	x, y, z := middle(nx), middle(ny), middle(nz)
	at := func(x, y, z int64) int64 { return (z*ny+y)*nx + x }
	p := []pick{{at(x, y, z), reuse.Base}}
	for k := int64(1); k <= steps && x+k < nx; k++ {
		p = append(p, pick{at(x+k, y, z), reuse.X})
	}
	for k := int64(1); k <= (steps+1)/2 && y+k < ny; k++ {
		p = append(p, pick{at(x, y+k, z), reuse.Y})
	}
	if z+1 < nz {
		p = append(p, pick{at(x, y, z+1), reuse.Z})
	}
	return p
}

// firstAxis is the first axis along which a grid has CTAs.
func firstAxis(grid [3]int) int {
	for k, n := range grid {
		if n > 1 {
			return k
		}
	}
	return 0
}

// gatherer traces CTAs into a pool.
type gatherer struct {
	m      *machine
	c      *code
	in     *Input
	pool   *pool
	survey *reuse.Survey
	traced map[int64]bool
}

// gather traces as many CTAs as the survey needs, fewer of long ones: the
// neighbours' traces must not cost more than what is clocked.
func gather(m *machine, c *code, in *Input) (*pool, error) {
	p := &pool{counts: counts{byPC: make([]tally, c.pcs)}}
	g := gatherer{m, c, in, p, reuse.New(c.pcs, m.granule(), m.arch.DRAMPieceBytes), map[int64]bool{}}
	base := picks(in.Grid, clusterSteps)[0]
	if err := g.trace(base); err != nil {
		return nil, err
	}
	steps := int64(clusterSteps)
	switch one := p.samples[0].recorded; {
	case one > in.Budget: // two such would be beyond what an execution may take
		steps = 1
	case one*(2*clusterSteps) > in.Budget:
		steps = 2 // a pair shows what two CTAs that share a granule add
	}
	for _, k := range picks(in.Grid, steps) {
		if err := g.trace(k); err != nil {
			return nil, err
		}
	}
	if total := int64(in.Grid[0]) * int64(in.Grid[1]) * int64(in.Grid[2]); in.Extents == nil && g.survey.Scattered() {
		for _, id := range []int64{0, total - 1} {
			if err := g.trace(pick{id, reuse.Far}); err != nil {
				return nil, err
			}
		}
	}
	if len(in.Spread) > 0 {
		if err := g.spread(in.Spread); err != nil {
			return nil, err
		}
	}
	p.apart = TablesApart(in, p.samples[0].cta)
	p.plan = g.survey.Plan(reuse.Device{
		Grid: in.Grid, L2Bytes: m.arch.L2Bytes, EffectiveBytes: m.arch.L2EffectiveBytes,
		Kept: m.arch.L2Kept, KeptUntil: m.arch.L2KeptUntil,
		Scratch: m.scratch(in), Extents: in.Extents, Cold: in.Cold, Repeated: in.Repeated, Streaming: Streaming(in.Program.Kernel),
		Resident: float64(in.CTAsPerSM * m.arch.SMs), CTAsPerSM: float64(in.CTAsPerSM), L1Lines: float64(in.L1Lines()),
	})
	p.setConstMiss(in)
	p.held = make([]int64, len(p.plan.Readers))
	for pc, readers := range p.plan.Readers {
		_, held := m.merge(readers)
		p.held[pc] = dram.Ticks(held)
	}
	return p, nil
}

// setConstMiss looks at how large the tables are that the samples read.
func (p *pool) setConstMiss(in *Input) {
	var t Table
	for _, s := range p.samples {
		for i := range s.cta.Warps {
			t.Add(&s.cta.Warps[i])
		}
	}
	inOrder, drawn := t.Miss(in.Program.Kernel)
	p.constMiss = [2]int64{dram.Ticks(inOrder), dram.Ticks(drawn)}
}

// spread puts CTAs of the whole grid in the place of the cluster.
func (g *gatherer) spread(ids []int64) error {
	p := g.pool
	p.uneven, p.skips, p.samples, p.counts = true, false, nil, counts{byPC: make([]tally, g.c.pcs)}
	clear(g.traced)
	known := make(map[int64]float64, len(g.in.Lengths))
	for _, k := range g.in.Lengths {
		known[k.CTA] = k.Length
	}
	for _, id := range ids {
		if !g.traced[id] {
			p.lengths = append(p.lengths, known[id])
		}
		if err := g.trace(pick{id, reuse.Spread}); err != nil {
			return err
		}
	}
	return nil
}

// trace adds a CTA to the survey and, unless it is a far one, to the pool.
func (g *gatherer) trace(k pick) error {
	if g.traced[k.id] {
		return nil
	}
	g.traced[k.id] = true
	cta, err := g.in.Source(k.id)
	if err != nil {
		return fmt.Errorf("timing: trace of CTA %d: %w", k.id, err)
	}
	if cta != nil && len(cta.Warps) != g.in.WarpsPerCTA {
		return fmt.Errorf("timing: CTA %d has %d warps, want %d", k.id, len(cta.Warps), g.in.WarpsPerCTA)
	}
	g.survey.Begin(k.dir)
	into := &g.pool.counts
	if k.dir == reuse.Far { // edges of the grid are not typical
		into = &counts{byPC: make([]tally, g.c.pcs)}
	}
	s, err := prepare(g.c, cta, g.survey, into)
	if err != nil {
		return err
	}
	g.pool.skips = g.pool.skips || s.skips
	if k.dir != reuse.Far {
		if k.dir == reuse.Base || k.dir == reuse.X+reuse.Direction(firstAxis(g.in.Grid)) {
			g.pool.chain++
		}
		g.pool.samples = append(g.pool.samples, s)
	}
	return nil
}

// scratch is the local memory of all resident threads of the device, bytes.
func (m *machine) scratch(in *Input) float64 {
	threads := float64(in.CTAsPerSM * in.WarpsPerCTA * 32 * m.arch.SMs)
	return float64(in.Program.LocalBytes) * threads
}
