package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/pending"
	"github.com/warptune/warptune/simengine/trace"
)

// An in-order scoreboard for one warp: it issues the instructions of a warp's trace as soon as
// operands and issue port allow, with the SM to itself, and cuts the time into phases at
// barriers. Times are cycles.

// numRegs covers the numbering of assemble.Reg: general, predicate and uniform registers.
const numRegs = int(assemble.UniformBase) + 128

// phase is a stretch of a warp between barriers.
type phase struct {
	work
	times float64 // how often it is run, skipped iterations counted
}

// result is when a register can be read, and where its value comes from.
type result struct {
	at       float64
	took     float64 // from issue; 0 for arithmetic
	later    float64 // cycles by which guards have it later; see cost.SelectsBy
	fromDRAM float32
}

// scoreboard replays one warp alone, in issue order.
type scoreboard struct {
	c        *code
	lockstep bool // the CTA reads in step with others that read the same
	// beside is how many warps of a sub-partition do the same at the same time, itself counted: each instruction waits
	// for those of the others.
	beside   float64
	now      float64
	regs     [numRegs]result
	ports    [cost.NumPorts]float64     // when each is free
	lsu, idc float64                    // when the load/store unit and the constant cache are free for this warp
	texels   float64                    // and the texture unit
	sent     float64                    // when the last store left
	recent   [cost.RecentIssues]float64 // when the last instructions were issued
	issued   uint8                      // how many, modulo 256
	count    float64                    // warps of the CTA that do the same
	queue    *queue
	copies   pending.Groups[float64] // cp.async, cycles of arrival
	inFlight
	recorded
	segments
}

// queue is when the parts of the memory system are free that the copies of a CTA go through; beyond L1, in order.
type queue [numResources - l2Slices]float64

// wait is how long a copy that n warps begin together waits for what came before and for its own bytes, cycles.
func (u *queue) wait(m *memory, q *request, at, n float64) (wait float64) {
	for i, b := range [...]float32{q.l2Slices, q.inPort, q.outWay, q.dram} {
		if b == 0 {
			continue
		}
		one := n * float64(b)
		if (l2Slices + resource(i)).shared() {
			one /= m.burst
		}
		u[i] = math.Max(u[i], at) + one
		wait = math.Max(wait, u[i]-at)
	}
	return wait
}

// inFlight is what is on its way from DRAM since the last wait.
type inFlight struct {
	flight      float64 // lines
	rowSegments float64 // DRAM row segments that they lie in
	loaded      float64 // probability that anything came from DRAM since the last barrier of the cluster
	stage       [numResources - l2Slices]float64
}

// recorded is the warp's trace. Accesses accLo to accHi are those of the current step; accCur
// is the one after the last found.
type recorded struct {
	tr                   *trace.Warp
	reqs                 []request
	accLo, accHi, accCur int32
}

// segments is the phases so far.
type segments struct {
	phases []phase
	began  float64 // of the current phase
	cur    work    // of the current phase, its time aside
	heads  []head  // of loops
}

// head is the last arrival at a loop header.
type head struct {
	block  int32
	phases int // closed then
	cur    work
}

// play returns the phases of a warp, the last one ending with its exit.
func (w *scoreboard) play(c *code, tr *trace.Warp, reqs []request, count float64, lockstep bool) []phase {
	*w = scoreboard{c: c, lockstep: lockstep, beside: 1, count: count, recorded: recorded{tr: tr, reqs: reqs}, segments: segments{heads: w.heads[:0]}}
	if c.specific {
		w.queue = new(queue)
	}
	for step, next := 0, 0; next < len(tr.Steps); {
		step = next
		next++
		k := &tr.Steps[step]
		if k.Repeat > 0 {
			w.repeat(k)
			continue
		}
		w.arrive(k.Block)
		b := c.root[k.Block]
		if b != k.Block {
			continue // ran with its carrier
		}
		w.accLo = k.Access
		for next < len(tr.Steps) && tr.Steps[next].Repeat == 0 && tr.Steps[next].Block != b && c.root[tr.Steps[next].Block] == b {
			next++
		}
		w.accHi = int32(len(tr.Accesses))
		if next < len(tr.Steps) {
			w.accHi = tr.Steps[next].Access
		}
		w.accHi = max(w.accHi, coalesce.HeldEnd(tr, c.root, next, c.p.Blocks[b].Holds))
		w.accCur = w.accLo
		w.block(b)
	}
	w.close()
	return w.phases
}

// arrive notes the arrival at a block that heads a loop.
func (w *scoreboard) arrive(block int32) {
	if !w.c.heads[block] {
		return
	}
	w.cur.time = w.now - w.began
	for i := range w.heads {
		if h := &w.heads[i]; h.block == block {
			h.phases, h.cur = len(w.phases), w.cur
			return
		}
	}
	if len(w.heads) < cost.MaxHeads {
		w.heads = append(w.heads, head{block, len(w.phases), w.cur})
	}
}

// repeat charges k.Repeat iterations like the one just replayed. The phase that was open when
// it began stands for the one that runs over the end of an iteration.
func (w *scoreboard) repeat(k *trace.Step) {
	n := float64(k.Repeat)
	for i := range w.heads {
		h := &w.heads[i]
		if h.block != k.Block {
			continue
		}
		if h.phases == len(w.phases) {
			w.cur.time = w.now - w.began
			last := w.cur
			last.add(&h.cur, -1)
			w.cur.add(&last, n)
			w.began = w.now - w.cur.time
			return
		}
		for j := h.phases; j < len(w.phases); j++ {
			w.phases[j].times *= 1 + n
		}
		return
	}
}

// close ends a phase.
func (w *scoreboard) close() {
	w.endStage()
	w.cur.time = w.now - w.began
	w.phases = append(w.phases, phase{w.cur, 1})
	w.cur, w.began = work{}, w.now
}

// block issues a block's instructions.
func (w *scoreboard) block(b int32) {
	section := w.c.section[b]
	w.cur.add(&w.c.static[section], 1)
	code := w.c.p.Blocks[b].Instrs
	for i := range code {
		w.issue(&code[i])
		if code[i].Class == assemble.Barrier {
			w.close()
			section++
			w.cur.add(&w.c.static[section], 1)
		}
	}
}

func (w *scoreboard) issue(in *assemble.Instr) {
	s := &w.c.f.Classes[in.Class]
	hold, latency := w.c.figures(in)
	at, wait := w.ready(in)
	if s.Port != 0 {
		at = math.Max(at, w.ports[s.Port])
		w.ports[s.Port] = at + w.besideProduct(s.Port, at, hold)*w.beside
	}
	if wait != nil && wait.took > 0 && at-w.now > wait.took/2 {
		w.waited(wait)
	}
	w.now = at + w.c.f.Slots(in)
	w.recent[w.issued%cost.RecentIssues] = at
	w.issued++
	r := result{at: at + latency}
	switch in.Class {
	case assemble.Load, assemble.Store, assemble.Atomic, assemble.AsyncCopy, assemble.LDC, assemble.Shuffle, assemble.S2R:
		r = w.memory(in, at, s.Latency)
		if lead := w.c.leads[in]; lead > 0 { // issued earlier
			earlier := at - w.recent[(w.issued-1-lead)%cost.RecentIssues]
			r.at, r.took = math.Max(r.at-earlier, at+1), math.Max(r.took-earlier, 1)
		}
	case assemble.Branch:
		w.now = at + math.Max(s.Latency, 1)
		if w.c.slowPath != nil {
			w.now += w.c.slowPath[in.Source]
		}
	case assemble.Yield:
		w.now = at + cost.YieldCycles
	case assemble.Fence:
		w.now = w.fence(in, at)
	case assemble.Control:
		w.control(in)
	}
	predicate := cost.WritesPredicate(in)
	for _, d := range in.Dst {
		if d.Count == 0 {
			continue
		}
		if w.c.specific && in.Class == assemble.Uniform {
			r.at = at + w.c.f.UniformResult
		} else if predicate && r.took == 0 && in.Class != assemble.Vote {
			r.later = math.Max(at+w.c.f.Predicate-r.at, 0)
		}
		for k := range int(d.Count) {
			w.regs[int(d.First)+k] = r
		}
	}
}

// besideProduct is how long an instruction holds a port, cycles; see the clock's.
func (w *scoreboard) besideProduct(port uint8, at, hold float64) float64 {
	product := &w.ports[cost.PipeTensor]
	if !w.c.products || *product <= at || port == uint8(cost.PipeTensor) {
		return hold
	}
	if port == uint8(cost.PipeFMA) {
		*product += cost.DelaysProduct / dram.Fraction
	}
	return hold * cost.SlowedBeside(cost.Pipe(port))
}

// fence is when the warp can go on after a fence: beyond the CTA, when L2 has
// acknowledged its stores and then the fence.
func (w *scoreboard) fence(in *assemble.Instr, at float64) float64 {
	f := w.c.f
	if k := w.c.p.Kernel; in.Source < 0 || !k.Instrs[in.Source].FencesBeyondCTA() {
		return at + f.Fence
	}
	w.cur.waits++
	if w.sent > 0 {
		at = math.Max(at, w.sent+w.c.spill.m.near)
	}
	return at + f.FenceDevice
}

// ready is when the operands and the place of the result are, and the result
// waited for.
func (w *scoreboard) ready(in *assemble.Instr) (float64, *result) {
	at := w.now
	var wait *result
	selects := cost.SelectsBy(in)
	for _, s := range in.Src {
		for k := range int(s.Count) {
			r := &w.regs[int(s.First)+k]
			there := r.at
			if !selects {
				there += r.later
			}
			if there > at {
				at, wait = there, r
			}
		}
	}
	for _, s := range in.Dst {
		for k := range int(s.Count) {
			if r := &w.regs[int(s.First)+k]; r.at > at {
				at, wait = r.at, r
			}
		}
	}
	return at, wait
}

// endStage ends a stage, which lies between two waits for the memory system, and takes what it
// asked of the busiest part of it.
func (w *scoreboard) endStage() {
	most := 0.0
	for i := range w.stage {
		most = math.Max(most, w.stage[i])
		w.stage[i] = 0
	}
	w.cur.staged += most
}

// control handles groups of asynchronous copies.
func (w *scoreboard) control(in *assemble.Instr) {
	if in.Source < 0 {
		return
	}
	k := &w.c.p.Kernel.Instrs[in.Source]
	switch k.Op {
	case ir.CpAsyncCommit:
		w.copies.Commit()
	case ir.CpAsyncWait:
		left := 0
		if k.Mod&ir.ModAll == 0 && len(k.Src) > 0 && k.Src[0].Kind == ir.OperandImm {
			left = int(min(k.Src[0].Imm, pending.MaxGroups))
		}
		at := w.copies.Until(left)
		if left == 0 {
			at = w.copies.Latest()
		}
		at = math.Max(at, w.now)
		if at > w.now || w.c.specific {
			w.cur.waits++
		}
		if w.c.specific {
			w.cur.fromL2++
			w.endStage()
		}
		w.now = at
	}
}
