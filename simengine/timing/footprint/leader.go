package footprint

import "math"

// leader is the share of what a CTA reads first of a group for which it waits for DRAM
// if it keeps step with those that read the same, and how many that are. CTAs that walk
// the same data one part after another are never far apart: who comes later finds in L2
// what the first one had to wait for, and has soon caught up, so that all go as fast as
// the first one does (a step of 33 and more that start together or 40,000 cycles apart
// takes 625 cycles from DRAM, where each takes 710 with data of its own and 330 with
// what L2 has: deploy/calibrate together.end). They walk it so
// where the neighbour along an axis reads most of it as the same request of its warps.
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

// WaitsInLockstep says whether CTAs wait for DRAM together for more than each by itself.
func (p *Plan) WaitsInLockstep() bool {
	for pc, front := range p.LeaderReads {
		if front > p.Read[pc] {
			return true
		}
	}
	return false
}
