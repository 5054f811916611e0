package exec

import (
	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
)

// other returns the access of a thread by an instruction.
func (r *Runner) other(pc int32, cta int64, thread int) *fault.Other {
	k := r.p.Kernel
	return &fault.Other{PC: int(pc), Pos: k.Instrs[pc].Pos, Instr: k.Text(int(pc)), Write: k.Instrs[pc].Op.WritesMemory(), CTA: cta, Thread: thread}
}

// raceFault is the fault of a lane whose access to shared memory races with an earlier one.
func (r *Runner) raceFault(w *warp, in *code.Instr, a *code.Access, lane int, old touch, addr int) signal {
	if r.passes(fault.Race) && r.warned(fault.Race, in.PC) {
		return next
	}
	missing := "no barrier between"
	switch {
	case old.async:
		missing = "no cp.async.wait_group and barrier between"
	case int(old.thread)/WarpSize == w.id:
		missing = "both in one warp, not synchronised"
	}
	return r.fail(w, in, fault.Fault{Kind: fault.Race, Space: ir.Shared, Address: uint64(addr), Thread: w.thread(lane), Write: a.Write, Width: a.Width,
		Other: r.other(old.pc, r.cta, int(old.thread)), Detail: missing})
}

// globalRaceFault is raceFault for device memory.
func (r *Runner) globalRaceFault(w *warp, in *code.Instr, a *code.Access, lane int, old *racecheck.Touch, addr uint64) signal {
	if r.passes(fault.Race) && r.warned(fault.Race, in.PC) {
		return next
	}
	f := fault.Fault{Kind: fault.Race, Space: ir.Global, Address: addr, Thread: w.thread(lane), Write: a.Write, Width: a.Width,
		Other: r.other(old.PC, r.series.CTA(old), int(old.Thread))}
	switch {
	case f.Other.CTA != r.cta:
		f.Detail = "no atomics or volatile accesses order the two CTAs"
	case int(old.Thread)/WarpSize == w.id:
		f.Detail = "both in one warp, not synchronised"
	default:
		f.Detail = "no barrier between"
	}
	if reg := r.mem.Find(addr, 1); reg != nil {
		f.Buffer, f.Elem, f.Elements = reg.Name, reg.Elem, reg.Count
		f.Index = int64(addr-reg.Base) / int64(max(1, element.Size(reg.Elem)))
	}
	return r.fail(w, in, f)
}
