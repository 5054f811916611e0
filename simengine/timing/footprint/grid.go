package footprint

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// longCTA is the accesses of a CTA from which on no more than one neighbour along each axis is
// traced.
const longCTA = 4096

// Grid is what a survey says of a grid.
type Grid struct {
	// CTAs stand for the grid: the one in its middle, or those drawn from all of it
	// where they differ in their work.
	CTAs []*CTA
	Plan *Plan
	// Probed is what CTAs further on read of what the first one reads, nil where none were probed.
	Probed []timing.Probed
	Same   SameRows
}

// surveyor traces CTAs.
type surveyor struct {
	in     *timing.Input
	survey *Survey
	// partial[pc] reports whether an access uses parts of the granules it touches.
	partial []bool
}

// SurveyGrid traces a CTA in the middle of the grid and neighbours along each axis, as long as
// one more can tell more of what they share.
func SurveyGrid(in *timing.Input) (*Grid, error) {
	k := in.Program.Kernel
	s := &surveyor{in: in, survey: New(len(k.Instrs), cost.Granule(in.Arch), in.Arch.DRAMPieceBytes), partial: make([]bool, len(k.Instrs))}
	defer s.survey.Release()
	n := [3]int64{int64(in.Grid[0]), int64(in.Grid[1]), int64(in.Grid[2])}
	at := func(x, y, z int64) int64 { return (z*n[1]+y)*n[0] + x }
	middle := timing.Middle(in.Grid)
	x, y, z := middle%n[0], middle/n[0]%n[1], middle/n[0]/n[1]
	base, err := s.trace(middle, Base)
	if err != nil {
		return nil, err
	}
	g := &Grid{CTAs: []*CTA{base}}
	steps := int64(timing.MostNeighbours)
	if accesses(base.CTA) > longCTA {
		steps = 1
	}
	for i := int64(1); i <= steps && x+i < n[0] && (i == 1 || s.survey.Ambiguous(X, s.partial)); i++ {
		if _, err := s.trace(at(x+i, y, z), X); err != nil {
			return nil, err
		}
	}
	for i := int64(1); i <= steps && y+i < n[1] && (i == 1 || s.survey.Ambiguous(Y, s.partial)); i++ {
		if _, err := s.trace(at(x, y+i, z), Y); err != nil {
			return nil, err
		}
	}
	if z+1 < n[2] {
		if _, err := s.trace(at(x, y, z+1), Z); err != nil {
			return nil, err
		}
	}
	if last := n[0]*n[1]*n[2] - 1; in.Extents == nil && s.survey.Scattered() && last > 1 {
		for _, id := range []int64{0, last} {
			if _, err := s.trace(id, Far); err != nil {
				return nil, err
			}
		}
	}
	if err := s.survey.ProbeAll(in, middle); err != nil {
		return nil, err
	}
	g.Probed = slices.Clone(s.survey.probed)
	if len(in.Spread) > 0 {
		if g.CTAs, err = s.spread(in.Spread); err != nil {
			return nil, err
		}
	}
	g.Plan = s.survey.Plan(DeviceOf(in))
	g.Same, err = s.sameRows(g.Plan)
	return g, err
}

// spread traces CTAs drawn from the whole grid.
func (s *surveyor) spread(ids []int64) ([]*CTA, error) {
	all := make([]*CTA, len(ids))
	for i, id := range ids {
		var err error
		if all[i], err = s.trace(id, Spread); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func accesses(c *trace.CTA) (n int) {
	for i := range c.Warps {
		n += len(c.Warps[i].Accesses)
	}
	return n
}

// trace adds a CTA to the survey.
func (s *surveyor) trace(id int64, d Direction) (*CTA, error) {
	source := s.in.Source
	if d != Base && d != Spread && s.in.DeviceSource != nil {
		source = s.in.DeviceSource
	}
	cta, err := source(id)
	if err != nil {
		return nil, fmt.Errorf("timing: trace of CTA %d: %w", id, err)
	}
	if cta == nil || len(cta.Warps) != s.in.WarpsPerCTA {
		return nil, fmt.Errorf("timing: trace of CTA %d is not of %d warps", id, s.in.WarpsPerCTA)
	}
	c, err := NewCTA(cta, len(s.in.Program.Blocks), len(s.partial))
	if err != nil {
		return nil, fmt.Errorf("timing: %w", err)
	}
	s.survey.Add(s.in.Program.Kernel, c, d, s.partial)
	return c, nil
}

// Axes is a set of the axes of a grid, bit 0 for x.
type Axes uint8

// NumAxes is how many sets there are.
const NumAxes = 8

// Has reports whether an axis is in the set.
func (a Axes) Has(axis int) bool { return a>>axis&1 != 0 }

// sharedBelow is how many times what one CTA touches several may touch together and still be
// said to touch the same.
const sharedBelow = 1.5

// along is the axes along which CTAs together touch more than one of them does, where these are
// some of the grid's only. Nothing is known of what CTAs share that were drawn from the whole
// grid.
func (s *Survey) along(g *group, d Device) Axes {
	if g.broadcast || g.random || s.ctas[Spread] > 0 {
		return 0
	}
	var a, all Axes
	for k, n := range d.Grid {
		if n == 1 {
			continue
		}
		all |= 1 << k
		if 1+float64(n-1)*s.newShare(g, X+Direction(k), 0, d) >= sharedBelow {
			a |= 1 << k
		}
	}
	if a == all {
		return 0
	}
	return a
}

// Pick is a CTA to trace, by its linear index, x fastest.
type Pick struct {
	ID  int64
	Dir Direction
}

// Picks chooses the CTAs to trace: one in the middle of the grid and up to steps of its
// neighbours along each axis. Grids of at most steps+1 CTAs are traced whole.
func Picks(grid [3]int, steps int64) []Pick {
	nx, ny, nz := int64(grid[0]), int64(grid[1]), int64(grid[2])
	if total := nx * ny * nz; total <= steps+1 {
		var p []Pick
		for id := range total {
			dir := Base
			switch {
			case id == 0:
			case id < nx:
				dir = X
			case id < nx*ny:
				dir = Y
			default:
				dir = Z
			}
			p = append(p, Pick{id, dir})
		}
		return p
	}
	x, y, z := timing.MiddleAlong(nx), timing.MiddleAlong(ny), timing.MiddleAlong(nz)
	at := func(x, y, z int64) int64 { return (z*ny+y)*nx + x }
	p := []Pick{{at(x, y, z), Base}}
	for k := int64(1); k <= steps && x+k < nx; k++ {
		p = append(p, Pick{at(x+k, y, z), X})
	}
	for k := int64(1); k <= (steps+1)/2 && y+k < ny; k++ {
		p = append(p, Pick{at(x, y+k, z), Y})
	}
	if z+1 < nz {
		p = append(p, Pick{at(x, y, z+1), Z})
	}
	return p
}

// FirstAxis is the first axis along which a grid has CTAs.
func FirstAxis(grid [3]int) int {
	for k, n := range grid {
		if n > 1 {
			return k
		}
	}
	return 0
}

// Ambiguous reports whether CTAs surveyed in a direction touched granules of earlier CTAs and
// may have done so because several CTAs share a granule, each using a part: then more CTAs must
// be surveyed to tell how many. It is so where CTAs write the same granules, since each writes
// bytes of its own, and where they read nothing new by an instruction that reads parts of
// granules (partial, by instruction).
func (s *Survey) Ambiguous(d Direction, partial []bool) bool {
	pcs := len(s.parent) / 2
	for pc := range pcs {
		store := pcs + pc
		if s.fresh[store][d] < s.distinct[store][d] {
			return true
		}
		if partial[pc] && s.fresh[pc][d] == 0 && s.distinct[pc][d] > 0 {
			return true
		}
	}
	return false
}
