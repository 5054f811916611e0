package model

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/reuse"
	"github.com/warptune/warptune/simengine/trace"
)

// mostSteps is how many neighbours along an axis are traced at most: four
// consecutive CTAs show what part of a shared granule each adds.
const mostSteps = 4

// longCTA is the accesses of a CTA from which on no more than one neighbour
// along each axis is traced.
const longCTA = 4096

// footprint is the CTAs that are composed, and what their neighbours say of them.
type footprint struct {
	ctas []composed
	plan *reuse.Plan
}

// composed is a CTA that stands for the grid, or one of several drawn from it.
type composed struct {
	*trace.CTA
	// first[w] are, for each line of warp w, the sectors in granules that the
	// CTA touches for the first time with that access.
	first [][]uint8
}

// surveyor traces CTAs.
type surveyor struct {
	in      *timing.Input
	granule int
	survey  *reuse.Survey
	// partial[pc] says that a load uses parts of the granules it touches.
	partial []bool
}

// surveyGrid traces a CTA in the middle of the grid and as many neighbours as
// its footprint needs.
func surveyGrid(f *timing.Figures, in *timing.Input) (*footprint, error) {
	k := in.Program.Kernel
	s := &surveyor{in: in, granule: f.Granule, survey: reuse.New(len(k.Instrs), f.Granule, in.Arch.DRAMPieceBytes), partial: make([]bool, len(k.Instrs))}
	n := [3]int64{int64(in.Grid[0]), int64(in.Grid[1]), int64(in.Grid[2])}
	at := func(x, y, z int64) int64 { return (z*n[1]+y)*n[0] + x }
	middle := timing.Middle(in.Grid)
	x, y, z := middle%n[0], middle/n[0]%n[1], middle/n[0]/n[1]
	var base composed
	var err error
	if base.CTA, err = s.trace(middle, reuse.Base, &base.first); err != nil {
		return nil, err
	}
	fp := &footprint{ctas: []composed{base}}
	steps := int64(mostSteps)
	if accesses(base.CTA) > longCTA {
		steps = 1
	}
	for i := int64(1); i <= steps && x+i < n[0] && (i == 1 || s.survey.Ambiguous(reuse.X, s.partial)); i++ {
		if _, err := s.trace(at(x+i, y, z), reuse.X, nil); err != nil {
			return nil, err
		}
	}
	for i := int64(1); i <= steps && y+i < n[1] && (i == 1 || s.survey.Ambiguous(reuse.Y, s.partial)); i++ {
		if _, err := s.trace(at(x, y+i, z), reuse.Y, nil); err != nil {
			return nil, err
		}
	}
	if z+1 < n[2] {
		if _, err := s.trace(at(x, y, z+1), reuse.Z, nil); err != nil {
			return nil, err
		}
	}
	if last := n[0]*n[1]*n[2] - 1; in.Extents == nil && s.survey.Scattered() && last > 1 {
		for _, id := range []int64{0, last} {
			if _, err := s.trace(id, reuse.Far, nil); err != nil {
				return nil, err
			}
		}
	}
	if len(in.Spread) > 0 {
		if fp.ctas, err = s.spread(in.Spread); err != nil {
			return nil, err
		}
	}
	threads := in.CTAsPerSM * in.WarpsPerCTA * 32 * in.Arch.SMs
	fp.plan = s.survey.Plan(reuse.Device{
		Grid: in.Grid, L2Bytes: in.Arch.L2Bytes, EffectiveBytes: in.Arch.L2EffectiveBytes,
		Kept: in.Arch.L2Kept, KeptUntil: in.Arch.L2KeptUntil,
		Scratch: float64(in.Program.LocalBytes) * float64(threads), Cold: in.Cold, Repeated: in.Repeated, Extents: in.Extents, Streaming: timing.Streaming(in.Program.Kernel),
		Resident: float64(in.CTAsPerSM * in.Arch.SMs), CTAsPerSM: float64(in.CTAsPerSM), L1Lines: float64(in.L1Lines()),
	})
	return fp, nil
}

// spread traces CTAs drawn from the whole grid.
func (s *surveyor) spread(ids []int64) ([]composed, error) {
	all := make([]composed, len(ids))
	for i, id := range ids {
		var err error
		if all[i].CTA, err = s.trace(id, reuse.Spread, &all[i].first); err != nil {
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

// trace adds a CTA to the survey; first, when not nil, receives its first touches.
func (s *surveyor) trace(id int64, d reuse.Direction, first *[][]uint8) (*trace.CTA, error) {
	source := s.in.Source
	if d != reuse.Base && d != reuse.Spread && s.in.DeviceSource != nil {
		source = s.in.DeviceSource
	}
	cta, err := source(id)
	if err != nil {
		return nil, fmt.Errorf("model: trace of CTA %d: %w", id, err)
	}
	if cta == nil || len(cta.Warps) != s.in.WarpsPerCTA {
		return nil, fmt.Errorf("model: trace of CTA %d is not of %d warps", id, s.in.WarpsPerCTA)
	}
	s.survey.Begin(d)
	marks := make([][]uint8, len(cta.Warps))
	for i := range cta.Warps {
		w := &cta.Warps[i]
		if err := s.check(w); err != nil {
			return nil, fmt.Errorf("model: CTA %d warp %d: %w", id, i, err)
		}
		if first != nil {
			marks[i] = make([]uint8, len(w.Lines))
		}
	}
	if first != nil {
		*first = marks
	}
	s.touch(cta, marks)
	return cta, nil
}

// touch adds what a CTA touches, step by step of all warps: an iteration of a loop
// that stands for others counts as many times as it does, and finds what other
// warps' iterations before it brought. What the first iteration left out touches is
// shown last, for nothing: other CTAs' recorded iterations may find it there.
func (s *surveyor) touch(cta *trace.CTA, marks [][]uint8) {
	weights, made := make([][]int64, len(cta.Warps)), make([]int, len(cta.Warps))
	for i := range cta.Warps {
		weights[i] = coalesce.Weights(&cta.Warps[i], nil)
	}
	coalesce.InTurn(cta, func(i, step int) {
		w := &cta.Warps[i]
		s.survey.StandFor(i, max(weights[i][step], 1))
		for k := w.Steps[step].Access; k < coalesce.AccessEnd(w, step); k++ {
			if a := &w.Accesses[k]; a.Space == ir.Global {
				made[i]++
				s.survey.Request(i, made[i])
				s.touchBy(w, a, marks[i])
			}
		}
	})
	for i := range cta.Warps {
		s.survey.StandFor(i, 0)
		coalesce.Ahead(&cta.Warps[i], func(a *trace.Access, line uint64, sectors uint8) {
			if a.Space == ir.Global {
				timing.Touch(s.survey, s.op(a), a.PC, line, sectors)
			}
		})
	}
}

// touchBy adds what one access touches.
func (s *surveyor) touchBy(w *trace.Warp, a *trace.Access, mark []uint8) {
	op := s.op(a)
	if op == ir.St {
		s.survey.Store(a.PC, int64(bits.OnesCount32(a.Mask))*int64(a.Width))
	}
	covered := 0
	for k := a.First; k < a.First+int32(a.NLines); k++ {
		l := &w.Lines[k]
		t := timing.Touch(s.survey, op, a.PC, l.Addr, l.Sectors)
		covered += granules(s.granule, l.Sectors)
		if mark != nil {
			mark[k] = t
		}
	}
	if bits.OnesCount32(a.Mask)*int(a.Width) < covered*s.granule {
		s.partial[a.PC] = true
	}
}

// op is the PTX instruction of an access.
func (s *surveyor) op(a *trace.Access) ir.Op { return s.in.Program.Kernel.Instrs[a.PC].Op }

// check makes every index of a trace safe to use.
func (s *surveyor) check(w *trace.Warp) error {
	last := int32(0)
	for i := range w.Steps {
		k := &w.Steps[i]
		switch {
		case k.Block < 0 || int(k.Block) >= len(s.in.Program.Blocks):
			return fmt.Errorf("step %d executes block %d of %d", i, k.Block, len(s.in.Program.Blocks))
		case k.Access < last || int(k.Access) > len(w.Accesses):
			return fmt.Errorf("step %d begins at access %d, out of order", i, k.Access)
		case k.Repeat < 0:
			return fmt.Errorf("step %d repeats %d times", i, k.Repeat)
		}
		last = k.Access
	}
	for i := range w.Accesses {
		a := &w.Accesses[i]
		if a.PC < 0 || int(a.PC) >= len(s.partial) {
			return fmt.Errorf("access %d is of instruction %d of %d", i, a.PC, len(s.partial))
		}
		if a.NLines > 0 && (a.First < 0 || int(a.First)+int(a.NLines) > len(w.Lines)) {
			return fmt.Errorf("access %d names lines beyond the %d recorded", i, len(w.Lines))
		}
	}
	return nil
}
