package clock

import (
	"fmt"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// sampleSet is the CTAs that were traced, and what the survey of their footprints says.
type sampleSet struct {
	samples   []*sample // the cluster that is replayed
	counts    counts
	plan      *footprint.Plan
	skips     bool
	irregular bool      // the samples are CTAs of different work from the whole grid
	lengths   []float64 // theirs then, of Input.Lengths
	chain     int       // how many of the samples, from the first on, are neighbours along the first axis
	// divergence is cost.ConstDivergence; constHold the steps that a load of
	// cost.WalksConstTable holds the SM's constant cache in the run under way.
	divergence float64
	mbarriers  int // the most of a sample
	constHold  int64
	askers     []int64 // by instruction; see dram.Request
	// held is, by load and the sectors of a line, how long it holds the slices of L2, of dram.Fraction: 1 is a load that
	// is not coalesced.
	held      [][cost.MostSectors + 1]int64
	constMiss [2]int64 // cost.ConstTable.Miss, steps: lanes in order, and drawn
}

// gatherer traces CTAs into a sampleSet.
type gatherer struct {
	m      *cost.Machine
	c      *code
	in     *timing.Input
	set    *sampleSet
	survey *footprint.Survey
	traced map[int64]bool
}

// gather traces as many CTAs as the survey needs. Of long CTAs it traces fewer: the neighbours'
// traces must not cost more than what is clocked.
func gather(m *cost.Machine, c *code, in *timing.Input) (*sampleSet, error) {
	p := &sampleSet{counts: newCounts(c)}
	g := gatherer{m, c, in, p, footprint.New(c.pcs, m.Granule(), m.Arch.DRAMPieceBytes), map[int64]bool{}}
	defer g.survey.Release()
	base := footprint.Picks(in.Grid, timing.MostNeighbours)[0]
	if err := g.trace(base); err != nil {
		return nil, err
	}
	steps := int64(timing.MostNeighbours)
	switch one := p.samples[0].recorded; {
	case one > in.Budget: // two such would be beyond what an execution may take
		steps = 1
	case one*(2*timing.MostNeighbours) > in.Budget:
		steps = 2 // a pair shows what two CTAs that share a granule add
	}
	for _, k := range footprint.Picks(in.Grid, steps) {
		if err := g.trace(k); err != nil {
			return nil, err
		}
	}
	if total := int64(in.Grid[0]) * int64(in.Grid[1]) * int64(in.Grid[2]); in.Extents == nil && g.survey.Scattered() {
		for _, id := range []int64{0, total - 1} {
			if err := g.trace(footprint.Pick{ID: id, Dir: footprint.Far}); err != nil {
				return nil, err
			}
		}
	}
	if err := g.survey.ProbeAll(in, base.ID); err != nil {
		return nil, err
	}
	if len(in.Spread) > 0 {
		if err := g.spread(in.Spread); err != nil {
			return nil, err
		}
	}
	p.divergence = cost.ConstDivergence(in, p.samples[0].CTA.CTA)
	p.plan = g.survey.Plan(footprint.DeviceOf(in))
	p.setConstMiss(in)
	p.askers = make([]int64, len(p.plan.Readers))
	for pc, n := range p.plan.Readers {
		p.askers[pc] = dram.Ticks(min(n, cost.MostSectors))
	}
	p.held = make([][cost.MostSectors + 1]int64, len(p.plan.LockstepSharers))
	for pc, readers := range p.plan.LockstepSharers {
		held := m.LoadHeld(readers)
		if cost.Copies(&in.Program.Kernel.Instrs[pc]) {
			held = m.CopyHeld(p.plan.Readers[pc], p.plan.Merged[pc], p.plan.Together[pc])
		}
		for n := range held {
			p.held[pc][n] = dram.Ticks(held[n])
		}
	}
	return p, nil
}

// setConstMiss sets what lines of the tables cost that the samples read.
func (p *sampleSet) setConstMiss(in *timing.Input) {
	var t cost.ConstTable
	for _, s := range p.samples {
		for i := range s.Warps {
			t.Add(&s.Warps[i])
		}
	}
	inOrder, drawn := t.Miss(in.Program.Kernel)
	p.constMiss = [2]int64{dram.Ticks(inOrder), dram.Ticks(drawn)}
}

// spread replaces the samples by CTAs drawn from the whole grid.
func (g *gatherer) spread(ids []int64) error {
	p := g.set
	p.irregular, p.skips, p.samples, p.counts = true, false, nil, newCounts(g.c)
	clear(g.traced)
	known := make(map[int64]float64, len(g.in.Lengths))
	for _, k := range g.in.Lengths {
		known[k.CTA] = k.Length
	}
	for _, id := range ids {
		if !g.traced[id] {
			p.lengths = append(p.lengths, known[id])
		}
		if err := g.trace(footprint.Pick{ID: id, Dir: footprint.Spread}); err != nil {
			return err
		}
	}
	return nil
}

// trace adds a CTA to the survey and, unless it is a far one, to the samples.
func (g *gatherer) trace(k footprint.Pick) error {
	if g.traced[k.ID] {
		return nil
	}
	g.traced[k.ID] = true
	cta, err := g.in.Source(k.ID)
	if err != nil {
		return fmt.Errorf("timing: trace of CTA %d: %w", k.ID, err)
	}
	if cta != nil && len(cta.Warps) != g.in.WarpsPerCTA {
		return fmt.Errorf("timing: CTA %d has %d warps, want %d", k.ID, len(cta.Warps), g.in.WarpsPerCTA)
	}
	into := &g.set.counts
	if k.Dir == footprint.Far { // edges of the grid are not typical
		far := newCounts(g.c)
		into = &far
	}
	s, err := prepare(g.c, cta, g.in.Cluster, k.Dir, g.survey, into)
	if err != nil {
		return err
	}
	g.set.skips = g.set.skips || s.skips
	g.set.mbarriers = max(g.set.mbarriers, s.mbarriers)
	if k.Dir != footprint.Far {
		if k.Dir == footprint.Base || k.Dir == footprint.X+footprint.Direction(footprint.FirstAxis(g.in.Grid)) {
			g.set.chain++
		}
		g.set.samples = append(g.set.samples, s)
	}
	return nil
}
