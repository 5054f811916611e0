package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
)

// timeSlice is how many basic blocks a warp runs before the next one has its turn, so that warps may
// spin on each other. Lane groups of a warp share it.
const timeSlice = 4096

// runCTAs runs all warps, of all CTAs of the group, in turn until they have exited.
func (r *Runner) runCTAs() error {
	for running := true; running; {
		running = false
		progress := false
		for n := range r.groupSize() {
			r.activate(n)
			now, moved, s := r.runCTA()
			if s == faulted {
				return r.fault
			}
			if r.disagree {
				return nil
			}
			running, progress = running || now, progress || moved
		}
		if running && !progress && !r.timeOut() {
			return r.deadlock()
		}
	}
	r.endPassages()
	return nil
}

// runCTA gives each warp of a CTA its turn. It reports whether there is any that has not exited, and
// whether any did more than look whether it need wait no longer.
func (r *Runner) runCTA() (running, progress bool, s signal) {
	for i := range r.warps[:r.nwarps] {
		w := &r.warps[i]
		if w.state != ready {
			running = running || w.state == waiting
			continue
		}
		running = true
		s := r.runTurn(w)
		if s == faulted || r.disagree {
			return running, progress, s
		}
		progress = progress || s != spinning
	}
	return running, progress, next
}

// runWarp runs one warp until it waits, exits or has used its time slice.
func (r *Runner) runWarp(w *warp) signal {
	looked := spinning
	for left := timeSlice * WarpSize; left > 0; {
		t := w.top()
		at := t.block
		b := &r.blocks[t.block]
		if w.ip < 0 {
			if b.Barrier && t.mask != w.live && w.letOthersExit() {
				continue
			}
			if b.Tells && w.told {
				return next
			}
			if b.Yields && w.passed < passedYield && w.yieldLanes() || b.Joins && w.passed < passedAll && w.await() {
				continue
			}
			w.passed, t.waits = passedNone, false
			if left -= WarpSize; len(w.groups) > 0 {
				left += WarpSize - bits.OnesCount32(t.mask)
			}
			w.steps++
			w.tick++
			r.work += workStep + int64(b.Size)
			if w.steps > r.opt.StepLimit || r.work > r.opt.WorkLimit {
				return r.stepLimit(w, b)
			}
			if r.sampling && len(w.groups) == 0 {
				r.enterBlock(w, t)
				if r.disagree {
					return next
				}
			}
			if w.looking = w.looking && b.Awaits; r.obs != nil && !w.looking {
				r.obs.Step(w.id, int(t.block), t.mask)
			}
			w.ip = b.Start
		}
		switch r.runBlock(w, b, t.mask) {
		case suspend:
			w.state = waiting
			return suspend
		case faulted:
			return faulted
		}
		r.leaveBlock(w, b)
		if (b.Spins || b.Awaits) && w.top().block == at {
			w.looking = b.Awaits && r.p.Mode == code.Slice
			return looked
		}
		looked = next
		awaited := b.Awaits && r.handOver(w)
		if !w.settle() && !w.resume() {
			w.state = done
			for len(w.inLoops) > 0 {
				r.leaveLoop(w)
			}
			return r.released(w)
		}
		switch {
		case b.Tells:
			return told
		case awaited:
			return next
		}
	}
	return next
}

func (r *Runner) stepLimit(w *warp, b *code.Block) signal {
	in := &code.Instr{PC: b.PC}
	detail := "the warp executed more basic blocks than allowed: an endless loop, or lanes of one warp that wait for each other"
	if w.steps <= r.opt.StepLimit {
		detail = "the CTAs executed more than allowed: an endless loop, or a launch too long to simulate"
	}
	return r.fail(w, in, fault.Fault{Kind: fault.StepLimit, Thread: w.first, Detail: detail + r.notSampled(b)})
}

// notSampled names the innermost loop around a block of which all iterations are executed, and says
// why; "" if there is none.
func (r *Runner) notSampled(b *code.Block) (why string) {
	at := r.p.Kernel.BlockOf(int(b.PC))
	for i := range r.p.Loops {
		l, s := &r.p.Loops[i], r.p.Samplers[i]
		if r.sampling && l.Members[at] && !l.CanSample() && (s == nil || r.opt.Estimate <= 0) {
			head := &r.p.Kernel.Instrs[r.p.Kernel.Blocks[l.Head].Start]
			why = fmt.Sprintf("; of the loop at %v no iterations are left out: %s", head.Pos, l.Obstacle) // inner ones come last
		}
	}
	return why
}

// runBlock executes the instructions from w.ip to the end of the block.
func (r *Runner) runBlock(w *warp, b *code.Block, active uint32) signal {
	if r.definedness != nil {
		return r.runFollowed(w, b, active)
	}
	if b.Wgmma || w.wgmmaInFlight() {
		return r.runWatched(w, b, active)
	}
	return r.runRange(w, w.ip, b.End, active)
}

// runRange executes the instructions from one to before another.
func (r *Runner) runRange(w *warp, from, to int32, active uint32) signal {
	instrs := r.code
	for ip := from; ip < to; ip++ {
		in := &instrs[ip]
		mask := active
		if in.HasGuard {
			if mask = w.guarded(mask, in.Guard, in.GuardNot); mask == 0 {
				continue
			}
		}
		switch in.Kind {
		case code.Kind32:
			if mask == w.live {
				in.F32(&w.r32[in.D], &w.r32[in.A], &w.r32[in.B], &w.r32[in.C], &w.r32[in.E])
			} else {
				in.F32(&r.t32, &w.r32[in.A], &w.r32[in.B], &w.r32[in.C], &w.r32[in.E])
				blend(&w.r32[in.D], &r.t32, mask)
			}
		case code.Kind64:
			if mask == w.live {
				in.F64(&w.r64[in.D], &w.r64[in.A], &w.r64[in.B], &w.r64[in.C], &w.r64[in.E])
			} else {
				in.F64(&r.t64, &w.r64[in.A], &w.r64[in.B], &w.r64[in.C], &w.r64[in.E])
				blend(&w.r64[in.D], &r.t64, mask)
			}
		case code.KindSetp:
			r.setp(w, in, mask)
		case code.KindMemory:
			if r.memory(w, in, mask) == faulted {
				return faulted
			}
		case code.KindCall:
			switch handlers[in.X.Call](r, w, in, mask) {
			case suspend:
				w.ip = ip + 1
				return suspend
			case retry:
				w.ip = ip
				return suspend
			case faulted:
				return faulted
			}
		default:
			r.crossing(w, in, mask)
		}
	}
	return next
}

// crossing runs the kinds that mix register files.
func (r *Runner) crossing(w *warp, in *code.Instr, mask uint32) {
	switch in.Kind {
	case code.KindPred:
		r.predicate(w, in, mask)
		return
	case code.KindSelp:
		r.selp(w, in, mask)
		return
	case code.KindMixed:
		r.mixed(w, in, mask)
		return
	}
	d := &r.t64
	if mask == w.live {
		d = &w.r64[in.D]
	}
	switch in.Kind {
	case code.KindWiden:
		widen(d, &w.r32[in.A], in.Signed)
	case code.KindMulWide:
		mulWide(d, &w.r32[in.A], &w.r32[in.B], &w.r64[in.C], in.Signed)
	case code.KindShift64:
		widen(&r.x[0], &w.r32[in.B], false)
		in.F64(d, &w.r64[in.A], &r.x[0], &r.x[0], &r.x[0])
	}
	if mask != w.live {
		blend(&w.r64[in.D], d, mask)
	}
}

func widen(d *alu.Vec64, a *alu.Vec32, signed bool) {
	if signed {
		for i := range d {
			d[i] = uint64(int64(int32(a[i])))
		}
		return
	}
	for i := range d {
		d[i] = uint64(a[i])
	}
}

func mulWide(d *alu.Vec64, a, b *alu.Vec32, c *alu.Vec64, signed bool) {
	if signed {
		for i := range d {
			d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
		}
		return
	}
	for i := range d {
		d[i] = uint64(a[i])*uint64(b[i]) + c[i]
	}
}

// mixed runs a 64-bit lane function on registers of either size.
func (r *Runner) mixed(w *warp, in *code.Instr, mask uint32) {
	src := [4]*alu.Vec64{&r.x[0], &r.x[1], &r.x[2], &r.x[3]}
	for n, s := range in.X.Src {
		if s.File == code.File64 {
			src[n] = &w.r64[s.Index]
		} else {
			widen(&r.x[n], &w.r32[s.Index], in.X.Sext>>n&1 == 1)
		}
	}
	in.F64(&r.t64, src[0], src[1], src[2], src[3])
	d := in.X.Dst[0]
	if d.File == code.File64 {
		blend(&w.r64[d.Index], &r.t64, mask)
		return
	}
	for i := range r.t32 {
		r.t32[i] = uint32(r.t64[i])
	}
	blend(&w.r32[d.Index], &r.t32, mask)
}
