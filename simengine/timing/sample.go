package timing

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/reuse"
	"github.com/warptune/warptune/simengine/trace"
)

// sample is a traced CTA prepared for replay.
type sample struct {
	cta   *trace.CTA
	warps []sampleWarp
	// instrs is the warp instructions the CTA's machine code executes:
	// recorded in the trace, and with skipped loop iterations counted in.
	recorded, instrs int64
	skips            bool // the trace leaves out loop iterations
}

type sampleWarp struct {
	// first[i] are the sectors of Lines[i] in granules that the CTA touches
	// for the first time with that access.
	first  []uint8
	weight []int64 // how often each step really executes
}

// tally counts what the trace alone decides, by PTX instruction, over the
// samples' warps with skipped iterations counted in.
type tally struct {
	requests, sectors, passes, ideal int64
}

// counts sums tallies and instruction counts over all samples.
type counts struct {
	byPC    []tally
	instrs  int64 // machine instructions
	threads int64 // the same times active lanes of the step
	class   [assemble.NumClasses]int64
	slow    [assemble.NumClasses]float64 // fractions of instructions of slow paths, not in class yet
	tid     int64                        // reads of a thread index
	memory  int64                        // instructions through the memory input/output queue, as recorded and
	all     int64                        // in full
	// words is the distinct words of indexed constant loads, as recorded, and
	// allWords in full.
	words, allWords int64
	clocked         int64 // instructions as recorded
	samples         int64
	warps           int64
	spilled         int64 // words of registers stored to local memory, in full
	locals          LocalStores
	// idle is the loads, stores and atomics that no lane of their warp takes.
	idle int64
}

// prepare validates a trace against the code, surveys its footprint and adds
// its counts to total.
func prepare(c *code, cta *trace.CTA, survey *reuse.Survey, total *counts) (*sample, error) {
	if cta == nil || len(cta.Warps) == 0 {
		return nil, fmt.Errorf("timing: trace without warps")
	}
	s := &sample{cta: cta, warps: make([]sampleWarp, len(cta.Warps))}
	for i := range cta.Warps {
		w := &cta.Warps[i]
		if err := checkWarp(c, w); err != nil {
			return nil, fmt.Errorf("timing: CTA %d warp %d: %w", cta.ID, i, err)
		}
		sw := &s.warps[i]
		sw.weight = coalesce.Weights(w, nil)
		for _, k := range w.Steps {
			s.skips = s.skips || k.Repeat > 0
		}
		sw.first = make([]uint8, len(w.Lines))
		recorded, instrs := total.add(c, w, sw.weight)
		s.recorded += recorded
		s.instrs += instrs
	}
	s.survey(c, survey)
	total.samples++
	total.warps += int64(len(cta.Warps))
	return s, nil
}

// checkWarp makes replay safe: every index of the trace is in range.
func checkWarp(c *code, w *trace.Warp) error {
	last := int32(0)
	for i, k := range w.Steps {
		if int(k.Block) < 0 || int(k.Block) >= len(c.root) {
			return fmt.Errorf("step %d executes block %d of %d", i, k.Block, len(c.root))
		}
		if k.Access < last || int(k.Access) > len(w.Accesses) {
			return fmt.Errorf("step %d begins at access %d, out of order", i, k.Access)
		}
		if k.Repeat < 0 {
			return fmt.Errorf("step %d repeats %d times", i, k.Repeat)
		}
		last = k.Access
	}
	for i, a := range w.Accesses {
		if int(a.PC) < 0 || int(a.PC) >= c.pcs {
			return fmt.Errorf("access %d is of instruction %d of %d", i, a.PC, c.pcs)
		}
		if a.NLines > 0 && (a.First < 0 || int(a.First)+int(a.NLines) > len(w.Lines)) {
			return fmt.Errorf("access %d names lines beyond the %d recorded", i, len(w.Lines))
		}
	}
	return nil
}

// survey shows what the CTA touches, step by step of all warps: an iteration that
// stands for others finds what other warps' iterations before it brought. What the
// first iteration left out touches is shown last, for nothing: other CTAs' recorded
// iterations may find it there.
func (s *sample) survey(c *code, survey *reuse.Survey) {
	made := make([]int, len(s.warps))
	coalesce.InTurn(s.cta, func(i, step int) {
		w := &s.cta.Warps[i]
		survey.StandFor(i, max(s.warps[i].weight[step], 1))
		for j := w.Steps[step].Access; j < coalesce.AccessEnd(w, step); j++ {
			if a := &w.Accesses[j]; a.Space == ir.Global {
				made[i]++
				survey.Request(i, made[i])
				c.survey(w, a, s.warps[i].first, survey)
			}
		}
	})
	for i := range s.cta.Warps {
		survey.StandFor(i, 0)
		coalesce.Ahead(&s.cta.Warps[i], func(a *trace.Access, line uint64, sectors uint8) {
			if a.Space == ir.Global {
				Touch(survey, c.program.Kernel.Instrs[a.PC].Op, a.PC, line, sectors)
			}
		})
	}
}

// survey shows what one access touches.
func (c *code) survey(w *trace.Warp, a *trace.Access, first []uint8, survey *reuse.Survey) {
	op := c.program.Kernel.Instrs[a.PC].Op
	if op == ir.St {
		survey.Store(a.PC, int64(bits.OnesCount32(a.Mask))*int64(a.Width))
	}
	for n := a.First; n < a.First+int32(a.NLines); n++ {
		l := &w.Lines[n]
		first[n] = Touch(survey, op, a.PC, l.Addr, l.Sectors)
	}
}

// Touch shows a survey what an instruction does to sectors of a line, and returns
// those whose granule its CTA touches so for the first time.
func Touch(s *reuse.Survey, op ir.Op, pc int32, line uint64, sectors uint8) (first uint8) {
	switch op {
	case ir.St:
		s.Strew(pc, line, sectors)
		return s.Touch(pc, line, sectors, true)
	case ir.Atom, ir.Red:
		return s.Update(pc, line, sectors)
	}
	return s.Touch(pc, line, sectors, false)
}

// add counts a warp and returns its machine instructions as recorded and in full.
func (t *counts) add(c *code, w *trace.Warp, weight []int64) (recorded, instrs int64) {
	for i, k := range w.Steps {
		if weight[i] == 0 {
			continue
		}
		b := c.root[k.Block]
		if b == k.Block { // a merged block's instructions count with its carrier
			n := int64(c.start[b+1] - c.start[b])
			recorded += n
			instrs += n * weight[i]
			t.threads += n * weight[i] * int64(bits.OnesCount32(k.Mask))
			for cl, n := range c.classes[b] {
				t.class[cl] += int64(n) * weight[i]
			}
			t.detours(c, b, weight[i])
			t.tid += int64(c.tids[b]) * weight[i]
			t.spilled += int64(c.spilled[b]) * weight[i]
			t.idle += int64(c.requests[b]) * weight[i]
			t.memory += int64(c.memory[b])
			t.all += int64(c.memory[b]) * weight[i]
		}
		for j := k.Access; j < coalesce.AccessEnd(w, i); j++ {
			a := &w.Accesses[j]
			if a.Space == ir.Const || a.Space == ir.ParamSpace {
				t.words += int64(a.Passes)
				t.allWords += int64(a.Passes) * weight[i]
			}
			if c.program.IsJoined(a.PC) {
				continue // the machine makes none
			}
			op := c.program.Kernel.Instrs[a.PC].Op
			if op == ir.CpAsync && a.Space == ir.Shared {
				continue // its global side is counted
			}
			p := &t.byPC[a.PC]
			if c.program.IsSwapped(a.PC) {
				loop := SwapOf(&c.program.Kernel.Instrs[a.PC], a)
				instrs += loop.Issued * weight[i]
				t.threads += loop.Issued * weight[i] * int64(bits.OnesCount32(a.Mask)) / 2 // one a bank fewer each round
				p.passes += loop.Passes * weight[i]
			}
			if isRequest(op, a.Space) {
				t.idle -= weight[i]
			}
			p.requests += weight[i]
			p.sectors += weight[i] * int64(a.Sectors)
			p.passes += weight[i] * int64(max(a.Wavefronts, a.Passes))
			p.ideal += weight[i] * int64(a.Ideal)
		}
	}
	t.locals.Count(c.program, w, weight)
	t.instrs += instrs
	t.clocked += recorded
	return recorded, instrs
}

// isRequest says that an access is a load's, a store's or an atomic's.
func isRequest(o ir.Op, space ir.Space) bool {
	return o != ir.CpAsync && (space == ir.Global || space == ir.Shared || space == ir.Local)
}
