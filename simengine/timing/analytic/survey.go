package analytic

import (
	"fmt"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/trace"
)

// mostSteps is how many neighbours along an axis are traced at most: four consecutive CTAs show
// what part of a shared granule each adds.
const mostSteps = 4

// longCTA is the accesses of a CTA from which on no more than one neighbour along each axis is
// traced.
const longCTA = 4096

// surveyed is the CTAs that the time is composed of, and what the survey says of the grid.
type surveyed struct {
	ctas []*footprint.CTA
	plan *footprint.Plan
}

// surveyor traces CTAs.
type surveyor struct {
	in      *timing.Input
	granule int
	survey  *footprint.Survey
	// partial[pc] says that a load uses parts of the granules it touches.
	partial []bool
}

// surveyGrid traces a CTA in the middle of the grid and neighbours along each axis, as long as
// one more can tell more of what they share.
func surveyGrid(f *cost.Figures, in *timing.Input) (*surveyed, error) {
	k := in.Program.Kernel
	s := &surveyor{in: in, granule: f.Granule, survey: footprint.New(len(k.Instrs), f.Granule, in.Arch.DRAMPieceBytes), partial: make([]bool, len(k.Instrs))}
	n := [3]int64{int64(in.Grid[0]), int64(in.Grid[1]), int64(in.Grid[2])}
	at := func(x, y, z int64) int64 { return (z*n[1]+y)*n[0] + x }
	middle := timing.Middle(in.Grid)
	x, y, z := middle%n[0], middle/n[0]%n[1], middle/n[0]/n[1]
	base, err := s.trace(middle, footprint.Base)
	if err != nil {
		return nil, err
	}
	fp := &surveyed{ctas: []*footprint.CTA{base}}
	steps := int64(mostSteps)
	if accesses(base.CTA) > longCTA {
		steps = 1
	}
	for i := int64(1); i <= steps && x+i < n[0] && (i == 1 || s.survey.Ambiguous(footprint.X, s.partial)); i++ {
		if _, err := s.trace(at(x+i, y, z), footprint.X); err != nil {
			return nil, err
		}
	}
	for i := int64(1); i <= steps && y+i < n[1] && (i == 1 || s.survey.Ambiguous(footprint.Y, s.partial)); i++ {
		if _, err := s.trace(at(x, y+i, z), footprint.Y); err != nil {
			return nil, err
		}
	}
	if z+1 < n[2] {
		if _, err := s.trace(at(x, y, z+1), footprint.Z); err != nil {
			return nil, err
		}
	}
	if last := n[0]*n[1]*n[2] - 1; in.Extents == nil && s.survey.Scattered() && last > 1 {
		for _, id := range []int64{0, last} {
			if _, err := s.trace(id, footprint.Far); err != nil {
				return nil, err
			}
		}
	}
	if len(in.Spread) > 0 {
		if fp.ctas, err = s.spread(in.Spread); err != nil {
			return nil, err
		}
	}
	fp.plan = s.survey.Plan(footprint.DeviceOf(in))
	return fp, nil
}

// spread traces CTAs drawn from the whole grid.
func (s *surveyor) spread(ids []int64) ([]*footprint.CTA, error) {
	all := make([]*footprint.CTA, len(ids))
	for i, id := range ids {
		var err error
		if all[i], err = s.trace(id, footprint.Spread); err != nil {
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
func (s *surveyor) trace(id int64, d footprint.Direction) (*footprint.CTA, error) {
	source := s.in.Source
	if d != footprint.Base && d != footprint.Spread && s.in.DeviceSource != nil {
		source = s.in.DeviceSource
	}
	cta, err := source(id)
	if err != nil {
		return nil, fmt.Errorf("model: trace of CTA %d: %w", id, err)
	}
	if cta == nil || len(cta.Warps) != s.in.WarpsPerCTA {
		return nil, fmt.Errorf("model: trace of CTA %d is not of %d warps", id, s.in.WarpsPerCTA)
	}
	c, err := footprint.NewCTA(cta, len(s.in.Program.Blocks), len(s.partial))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	s.survey.Add(s.in.Program.Kernel, c, d, s.partial)
	return c, nil
}
