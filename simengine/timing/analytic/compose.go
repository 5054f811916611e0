package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
)

// Compose says how long a launch takes and what bounds it, without clocking it. It fills the
// same Result as clock.Run, issue slots and stalls aside. It is deterministic and changes
// nothing it is given. Input.Budget has no meaning. Errors are those of Input.Validate, of
// Source, and traces or programs that do not fit each other.
func Compose(in timing.Input) (*timing.Result, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	f, err := cost.FiguresOf(in.Arch)
	if err != nil {
		return nil, err
	}
	g, err := footprint.SurveyGrid(&in)
	if err != nil {
		return nil, err
	}
	together, err := timeOf(f, &in, g, 0)
	if err != nil {
		return nil, err
	}
	share := cost.ConstDivergence(&in, g.CTAs[0].CTA)
	if share == 0 {
		return together, nil
	}
	apart, err := timeOf(f, &in, g, cost.ConstDivergenceHold/float64(f.Schedulers))
	if err != nil {
		return nil, err
	}
	apart.Cycles, apart.Floor = cost.Between(together.Cycles, apart.Cycles, share), together.Floor
	apart.TimeUS = in.Arch.Microseconds(apart.Cycles) + in.Arch.LaunchGapUS
	return apart, nil
}

// timeOf is the result when a load from a table that CTAs walk holds the SM's constant cache
// for hold cycles.
func timeOf(f *cost.Figures, in *timing.Input, g *footprint.Grid, hold float64) (*timing.Result, error) {
	s := shape{timing.NewShape(in)}
	m := newMemory(f, s.Active, g.Plan)
	c, err := newCode(f, in, hold, newSpillPath(in, m))
	if err != nil {
		return nil, err
	}
	t, a := composeAll(c, m, in, g, s.PerSM)
	// Of DRAM's traffic the neighbours tell more than the CTA itself.
	read, written := localBytes(g.Plan, t, in)
	bytes := (g.Plan.ReadBytes+g.Plan.WriteBytes*m.writeBack)/float64(s.CTAs) + read + written + t.again()
	t.total.busy[dramBus] = bytes / float64(f.Granule) * m.dram
	d := newDemand(f, m, &t.total, a, in.WarpsPerCTA, in.Cluster, c.products)
	p, turn := s.span(f, d), s.inTurn(f, in, d)
	p.cycles = math.Max(p.cycles, turn)
	skew := s.skew(f, in, d, &p)
	tail := g.Same.Beyond(p.cycles)
	p.cycles += tail
	r := report(f, in, g, t, d, s, p, skew, turn)
	r.Tail = tail
	return r, nil
}

// again is the bytes that a CTA moves from and to DRAM of what it touched before.
func (t *traffic) again() (bytes float64) {
	for pc := range t.byPC {
		bytes += t.byPC[pc].again
	}
	return bytes
}

// localBytes is the bytes that a CTA's local memory, spilled registers and declared arrays,
// moves from and to DRAM.
func localBytes(plan *footprint.Plan, t *traffic, in *timing.Input) (read, written float64) {
	const sector = 32
	loaded := t.total.spilled[0]*(1-t.c.spill.hits) + t.locals[0].l2
	spilled, declared := t.total.spilled[1], t.locals[1].sectors
	rewritten := footprint.Rewritten(in.Program, float64(in.WarpsPerCTA), spilled, declared, t.places)
	return sector * loaded * plan.Local, sector * (spilled + declared) * plan.LocalStores(rewritten)
}

// composeAll is the traffic of a CTA and how long it takes with the SM to itself, in the mean
// over those that stand for the grid.
func composeAll(c *code, m *memory, in *timing.Input, g *footprint.Grid, perSM int64) (*traffic, alone) {
	var sum *traffic
	var mean alone
	var w scoreboard
	share := 1 / float64(len(g.CTAs))
	for n := range g.CTAs {
		cta := g.CTAs[n]
		ks := kinds(cta.CTA)
		replayed := make([]bool, len(cta.Warps))
		for i := range ks {
			replayed[ks[i].warp] = true
		}
		t := newTraffic(c, m, in, g.Plan, cta, perSM, replayed)
		a := w.alone(t, ks, false)
		if g.Plan.WaitsInLockstep() && !c.async { // tiles are asked for long before they are needed
			a.lockstep = w.alone(t, ks, true).time
		}
		if len(g.CTAs) == 1 {
			return t, a
		}
		if sum == nil {
			sum = &traffic{c: c, m: m, plan: g.Plan, byPC: make([]tally, len(t.byPC))}
		}
		sum.add(t, share)
		mean.add(&a, share)
	}
	return sum, mean
}

// alone is how long a CTA takes with the SM to itself; lockstep reports whether it reads in
// step with others that read the same.
func (w *scoreboard) alone(t *traffic, ks []kind, lockstep bool) alone {
	if t.c.async {
		return playRoles(t, ks, lockstep)
	}
	for i := range ks {
		ks[i].phases = w.play(t.c, &t.cta.Warps[ks[i].warp], t.requests[ks[i].warp], ks[i].count, lockstep)
	}
	conserve(ks, &t.total)
	return compose(t.c.f, t.m, ks)
}
