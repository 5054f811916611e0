package clock

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/trace"
)

// sample is a traced CTA that is replayed.
type sample struct {
	*footprint.CTA
	// instrs is the warp instructions the CTA's machine code executes:
	// recorded in the trace, and with skipped loop iterations counted in.
	recorded, instrs int64
	skips            bool      // the trace leaves out loop iterations
	barrierOf        [][]int16 // by warp and asynchronous operation: the mbarrier among the CTA's, -1 none
	mbarriers        int
	exchange         []cost.Exchange // by mbarrier
	writes           []int64         // by mbarrier, of waits by words: writes and arrivals; 0 for mbarriers
}

// tally counts what the trace alone decides, by PTX instruction, over the warps of all samples
// with skipped iterations counted in.
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
	textures        int64 // steps for which fetches hold the texture unit, in full
	clocked         int64 // instructions as recorded
	samples         int64
	warps           int64
	spilled         int64 // words of registers stored to local memory, in full
	locals          footprint.LocalStores
	// idle is the loads, stores and atomics that no lane of their warp takes.
	idle     int64
	products products
	// runs is how often warps execute each block of the PTX, lanes the same times active lanes.
	runs, lanes []int64
}

func newCounts(c *code) counts {
	return counts{byPC: make([]tally, c.pcs), runs: make([]int64, len(c.root)), lanes: make([]int64, len(c.root))}
}

// prepare checks a trace against the code, surveys its footprint and adds its counts to
// total.
func prepare(c *code, cta *trace.CTA, cluster int, d footprint.Direction, survey *footprint.Survey, total *counts) (*sample, error) {
	if cta == nil || len(cta.Warps) == 0 {
		return nil, fmt.Errorf("timing: trace without warps")
	}
	marked, err := footprint.NewCTA(cta, len(c.root), c.pcs)
	if err != nil {
		return nil, fmt.Errorf("timing: %w", err)
	}
	s := &sample{CTA: marked}
	for i := range cta.Warps {
		w := &cta.Warps[i]
		for _, k := range w.Steps {
			s.skips = s.skips || k.Repeat > 0
		}
		recorded, instrs := total.add(c, w, s.Weight[i])
		s.recorded += recorded
		s.instrs += instrs
	}
	if c.async {
		s.barriers(cost.Exchanges(c.program.Kernel, cta, cluster))
	}
	survey.Add(c.program.Kernel, marked, d, make([]bool, c.pcs))
	total.samples++
	total.warps += int64(len(cta.Warps))
	return s, nil
}

// barriers numbers the mbarriers of a CTA by their addresses. Those of other CTAs of the cluster are taken for its own.
func (s *sample) barriers(by map[uint32]cost.Exchange) {
	number := map[uint32]int16{}
	s.barrierOf = make([][]int16, len(s.Warps))
	for i := range s.Warps {
		asyncs := s.Warps[i].Asyncs
		s.barrierOf[i] = make([]int16, len(asyncs))
		for k := range asyncs {
			at := asyncs[k].Barrier
			n, ok := number[at]
			switch {
			case at == trace.NoBarrier || !ok && len(number) >= mostMbarriers:
				n = -1
			case !ok:
				n = int16(len(number))
				number[at] = n
				s.exchange, s.writes = append(s.exchange, by[at]), append(s.writes, 0)
			}
			s.barrierOf[i][k] = n
			if w := asyncs[k].Word; n >= 0 && (w == trace.WordWrite || w == trace.WordArrival) {
				s.writes[n]++
			}
		}
	}
	s.mbarriers = len(number)
}

// mostMbarriers bounds the mbarriers of a CTA: 8 bytes each, shared memory holds no more.
const mostMbarriers = 1 << 14

// add counts a warp and returns its machine instructions as recorded and in full.
func (t *counts) add(c *code, w *trace.Warp, weight []int64) (recorded, instrs int64) {
	for i, k := range w.Steps {
		if weight[i] == 0 {
			continue
		}
		t.runs[k.Block] += weight[i]
		t.lanes[k.Block] += weight[i] * int64(bits.OnesCount32(k.Mask))
		b := c.root[k.Block]
		if b == k.Block { // a merged block's instructions count with its carrier
			n := int64(c.start[b+1] - c.start[b])
			recorded += n
			instrs += n * weight[i]
			t.threads += n * weight[i] * int64(bits.OnesCount32(k.Mask))
			for cl, n := range c.classes[b] {
				t.class[cl] += int64(n) * weight[i]
			}
			t.addSlowPaths(c, b, weight[i])
			t.tid += int64(c.tids[b]) * weight[i]
			t.spilled += int64(c.spilled[b]) * weight[i]
			t.idle += int64(c.requests[b]) * weight[i]
			t.products.add(c.products[b], float64(weight[i]))
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
				loop := cost.CASLoopOf(&c.program.Kernel.Instrs[a.PC], a)
				instrs += loop.Issued * weight[i]
				t.threads += loop.Issued * weight[i] * int64(bits.OnesCount32(a.Mask)) / 2 // one a bank fewer each round
				p.passes += loop.Passes * weight[i]
			}
			if isRequest(op, a.Space) {
				t.idle -= weight[i]
			}
			p.requests += weight[i]
			p.sectors += weight[i] * int64(a.Sectors)
			if a.Texels > 0 {
				t.textures += weight[i] * c.m.TextureCost(a)
				continue
			}
			p.passes += weight[i] * int64(max(a.Wavefronts, a.Passes))
			p.ideal += weight[i] * int64(a.Ideal)
		}
	}
	t.locals.Count(c.program, w, weight)
	t.instrs += instrs
	t.clocked += recorded
	return recorded, instrs
}

// isRequest reports whether an access is that of a load, a store or an atomic.
func isRequest(o ir.Op, space ir.Space) bool {
	return o != ir.CpAsync && o != ir.BulkCopy && o != ir.BulkPrefetch && (space == ir.Global || space == ir.Shared || space == ir.Local)
}
