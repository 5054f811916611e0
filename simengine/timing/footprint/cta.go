package footprint

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// CTA is a traced CTA and what a survey finds of it.
type CTA struct {
	*trace.CTA
	// Weight is how often each step of a warp is executed, loop iterations that the
	// trace leaves out counted in; by warp and step.
	Weight [][]int64
	// First is, for each line of a warp's accesses, the sectors in granules that the CTA
	// touches for the first time with that access; by warp and trace.Warp.Lines.
	First [][]uint8
}

// NewCTA takes a trace, after a check that every index in it is in range for a kernel
// of so many blocks and instructions: then both levels can replay it.
func NewCTA(t *trace.CTA, blocks, pcs int) (*CTA, error) {
	c := &CTA{CTA: t, Weight: make([][]int64, len(t.Warps)), First: make([][]uint8, len(t.Warps))}
	for i := range t.Warps {
		w := &t.Warps[i]
		if err := checkWarp(w, blocks, pcs); err != nil {
			return nil, fmt.Errorf("CTA %d warp %d: %w", t.ID, i, err)
		}
		c.Weight[i] = coalesce.Weights(w, nil)
		c.First[i] = make([]uint8, len(w.Lines))
	}
	return c, nil
}

func checkWarp(w *trace.Warp, blocks, pcs int) error {
	last := int32(0)
	for i := range w.Steps {
		k := &w.Steps[i]
		switch {
		case k.Block < 0 || int(k.Block) >= blocks:
			return fmt.Errorf("step %d executes block %d of %d", i, k.Block, blocks)
		case k.Access < last || int(k.Access) > len(w.Accesses):
			return fmt.Errorf("step %d begins at access %d, out of order", i, k.Access)
		case k.Repeat < 0:
			return fmt.Errorf("step %d repeats %d times", i, k.Repeat)
		}
		last = k.Access
	}
	for i := range w.Accesses {
		a := &w.Accesses[i]
		if a.PC < 0 || int(a.PC) >= pcs {
			return fmt.Errorf("access %d is of instruction %d of %d", i, a.PC, pcs)
		}
		if a.NLines > 0 && (a.First < 0 || int(a.First)+int(a.NLines) > len(w.Lines)) {
			return fmt.Errorf("access %d names lines beyond the %d recorded", i, len(w.Lines))
		}
	}
	return nil
}

// Add surveys the next CTA, which stands to the first one in direction d, and fills in
// c.First. It marks in partial, by instruction, the accesses that use parts of the
// granules they touch.
//
// The steps of the warps are taken in turn, so that an iteration that stands for others
// finds what other warps' iterations before it brought. What the first iteration left out
// touches comes last and counts for nothing: it is there for other CTAs' recorded
// iterations to find.
func (s *Survey) Add(k *ir.Kernel, c *CTA, d Direction, partial []bool) {
	s.Begin(d)
	made := make([]int, len(c.Warps)) // requests of each warp
	coalesce.InTurn(c.CTA, func(i, step int) {
		w := &c.Warps[i]
		s.StandFor(i, max(c.Weight[i][step], 1))
		for j := w.Steps[step].Access; j < coalesce.AccessEnd(w, step); j++ {
			if a := &w.Accesses[j]; a.Space == ir.Global {
				made[i]++
				s.Request(i, made[i])
				s.access(&k.Instrs[a.PC], w, a, c.First[i], partial)
			}
		}
	})
	for i := range c.Warps {
		s.StandFor(i, 0)
		coalesce.Ahead(&c.Warps[i], func(a *trace.Access, line uint64, sectors uint8) {
			if a.Space == ir.Global {
				s.touchBy(accessOp(&k.Instrs[a.PC]), a.PC, line, sectors)
			}
		})
	}
}

// access surveys one access of a warp.
func (s *Survey) access(in *ir.Instr, w *trace.Warp, a *trace.Access, first []uint8, partial []bool) {
	bytes := bits.OnesCount32(a.Mask) * int(a.Width)
	if in.Op == ir.BulkCopy || in.Op == ir.BulkPrefetch {
		bytes = int(a.Sectors) * sectorBytes
	}
	op := accessOp(in)
	if op == ir.St {
		s.Store(a.PC, int64(bytes))
	}
	granules := 0
	for n := a.First; n < a.First+int32(a.NLines); n++ {
		l := &w.Lines[n]
		first[n] = s.touchBy(op, a.PC, l.Addr, l.Sectors)
		granules += cost.Granules(s.granule, l.Sectors)
	}
	if bytes < granules*s.granule {
		partial[a.PC] = true
	}
}

// accessOp is the load, store or atomic that an instruction is to device memory.
func accessOp(in *ir.Instr) ir.Op {
	switch {
	case in.Op == ir.Sust:
		return ir.St
	case in.Op == ir.Tex || in.Op == ir.Suld:
		return ir.Ld
	case in.Op != ir.BulkCopy && in.Op != ir.BulkPrefetch:
		return in.Op
	case in.Op == ir.BulkCopy && in.Bulk.To == ir.Global && in.Bulk.Reduce != ir.AtomNone:
		return ir.Red
	case in.Op == ir.BulkCopy && in.Bulk.To == ir.Global:
		return ir.St
	}
	return ir.Ld
}

// touchBy surveys what an instruction does to sectors of a line, and returns those whose
// granule its CTA touches so for the first time.
func (s *Survey) touchBy(op ir.Op, pc int32, line uint64, sectors uint8) (first uint8) {
	switch op {
	case ir.St:
		s.Locate(pc, line, sectors)
		return s.Touch(pc, line, sectors, true)
	case ir.Atom, ir.Red:
		return s.Update(pc, line, sectors)
	}
	return s.Touch(pc, line, sectors, false)
}
