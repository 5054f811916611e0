package footprint

import "math"

// leader returns, for CTAs that read the same data in step, how many run at a time (readers),
// and the share of a CTA's first reads that wait for DRAM then.
//
// CTAs that walk the same data part by part are never far apart. The first to ask, the leader,
// waits for DRAM; who comes later finds the data in L2, catches up, and waits with the leader
// at the next part. All go as fast as the leader. A step of 33 and more CTAs, started together or 40,000 cycles
// apart, takes 625 cycles from DRAM. Each takes 710 with data of its own, and 330 with data in L2 (deploy/calibrate
// together.end). CTAs walk in step where the neighbour along an axis reads most of the data with the same request of
// its warps.
func (g *group) leader(along Axes, fromDRAM, ctas float64, d Device) (share, readers float64) {
	if !g.broadcast && along == 0 {
		return fromDRAM, 1
	}
	resident := math.Min(d.Resident, ctas)
	distinct, row := 1.0, 1.0 // CTAs from one to the next along an axis
	for k, n := range d.Grid {
		if along.Has(k) || 2*g.inStep[X+Direction(k)] <= g.distinct[X+Direction(k)] {
			distinct *= math.Min(math.Max(math.Ceil(resident/row), 1), float64(n))
		}
		row *= float64(n)
	}
	readers = math.Max(resident/distinct, 1)
	return math.Min(fromDRAM*readers, 1), readers
}

// coldCopies is the share of a CTA's copies by an instruction that wait for DRAM. CTAs that ask for a tile before it is in
// L2 all wait for it. In the first wave they start together, and those that read the same at a time do. Later they are
// further apart than DRAM takes, and the first of them alone does. Where it is not known who shares tiles, CTAs may share
// parts of them (halos), and something of each copy comes from DRAM.
func (p *Plan) coldCopies(g *group, d *Device, id int, ctas float64) float64 {
	together := p.LeaderReads[id]
	if p.LockstepSharers[id] <= 1 {
		if !g.turns.known(ctas) {
			return 1
		}
		together = math.Min(p.Read[id]*math.Max(g.sharers.CTAs, 1), 1)
	}
	first := math.Min(d.Resident/ctas, 1)
	return math.Min(together, first+(1-first)*p.Read[id])
}

// WaitsInLockstep reports whether CTAs that read in step wait for DRAM for more than each would
// by itself.
func (p *Plan) WaitsInLockstep() bool {
	for pc, front := range p.LeaderReads {
		if front > p.Read[pc] {
			return true
		}
	}
	return false
}
