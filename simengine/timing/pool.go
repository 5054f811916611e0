package timing

import (
	"fmt"

	"github.com/warptune/warptune/simengine/timing/reuse"
)

// pool is the CTAs that were traced, and what the survey of their footprints says.
type pool struct {
	samples []*sample // the cluster that is replayed
	counts  counts
	plan    *reuse.Plan
	skips   bool
}

// clusterSteps is how many neighbours of the first CTA are traced along an
// axis, at most: four consecutive CTAs show what fraction of a shared sector or
// line each adds.
const clusterSteps = 3

// pick is a CTA to trace.
type pick struct {
	id  int64
	dir reuse.Direction
}

// picks chooses the CTAs to trace: one in the middle of the grid, away from
// edges, its neighbours along each axis, and the corners of the grid for the
// range of addresses. Small grids are traced whole.
func picks(grid [3]int) []pick {
	nx, ny, nz := int64(grid[0]), int64(grid[1]), int64(grid[2])
	total := nx * ny * nz
	if total <= 2*clusterSteps {
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
	// The first CTA stands at a multiple of four so that neighbours that
	// share a line are seen from its start.
	mid := func(n int64) int64 { return max(min(n/2&^3, n-1-clusterSteps), 0) }
	x, y, z := mid(nx), mid(ny), mid(nz)
	at := func(x, y, z int64) int64 { return (z*ny+y)*nx + x }
	p := []pick{{at(x, y, z), reuse.Base}}
	for k := int64(1); k <= clusterSteps; k++ {
		if x+k < nx {
			p = append(p, pick{at(x+k, y, z), reuse.X})
		}
	}
	for k := int64(1); k < clusterSteps; k++ {
		if y+k < ny {
			p = append(p, pick{at(x, y+k, z), reuse.Y})
		}
	}
	if z+1 < nz {
		p = append(p, pick{at(x, y, z+1), reuse.Z})
	}
	for _, id := range []int64{0, total - 1} {
		seen := false
		for _, q := range p {
			seen = seen || q.id == id
		}
		if !seen {
			p = append(p, pick{id, reuse.Far})
		}
	}
	return p
}

// gather traces the picked CTAs.
func gather(m *machine, c *code, in *Input) (*pool, error) {
	p := &pool{counts: counts{byPC: make([]tally, c.pcs)}}
	survey := reuse.New(c.pcs, m.granule())
	for _, k := range picks(in.Grid) {
		cta, err := in.Source(k.id)
		if err != nil {
			return nil, fmt.Errorf("timing: trace of CTA %d: %w", k.id, err)
		}
		survey.Begin(k.dir)
		into := &p.counts
		if k.dir == reuse.Far { // edges of the grid are not typical
			into = &counts{byPC: make([]tally, c.pcs)}
		}
		s, err := prepare(c, cta, survey, into)
		if err != nil {
			return nil, err
		}
		if len(cta.Warps) != in.WarpsPerCTA {
			return nil, fmt.Errorf("timing: CTA %d has %d warps, want %d", k.id, len(cta.Warps), in.WarpsPerCTA)
		}
		p.skips = p.skips || s.skips
		if k.dir != reuse.Far {
			p.samples = append(p.samples, s)
		}
	}
	p.plan = survey.Plan(reuse.Device{
		Grid: in.Grid, L2Bytes: m.arch.L2Bytes, EffectiveBytes: m.arch.L2EffectiveBytes,
		Scratch: m.scratch(in), Cold: in.Cold,
	})
	return p, nil
}

// scratch is the local memory of all resident threads of the device, bytes.
func (m *machine) scratch(in *Input) float64 {
	threads := float64(in.CTAsPerSM * in.WarpsPerCTA * 32 * m.arch.SMs)
	return float64(in.Program.SpillBytes+in.Program.LocalBytes) * threads
}
