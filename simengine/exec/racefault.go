package exec

import (
	"fmt"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// Other is the other instruction of a fault: the earlier of two accesses that race.
type Other struct {
	PC     int
	Pos    ptx.Pos
	Instr  string
	Write  bool
	CTA    int64
	Thread int
}

// other returns the access of a thread by an instruction.
func (r *Runner) other(pc int32, cta int64, thread int) *Other {
	k := r.p.Kernel
	return &Other{int(pc), k.Instrs[pc].Pos, k.Text(int(pc)), k.Instrs[pc].Op.WritesMemory(), cta, thread}
}

// raceFault is the fault of a lane whose access to shared memory races with an earlier one.
func (r *Runner) raceFault(w *warp, in *instr, a *access, lane int, old touch, addr int) signal {
	if r.passes(Race) && r.warned(Race, in.pc) {
		return next
	}
	missing := "no barrier between"
	switch {
	case old.async:
		missing = "no cp.async.wait_group and barrier between"
	case int(old.thread)/WarpSize == w.id:
		missing = "both in one warp, not synchronised"
	}
	return r.fail(w, in, Fault{Kind: Race, Space: ir.Shared, Address: uint64(addr), Thread: w.thread(lane), Write: a.write, Width: a.width,
		Other: r.other(old.pc, r.cta, int(old.thread)), Detail: missing})
}

// globalRaceFault is raceFault for device memory.
func (r *Runner) globalRaceFault(w *warp, in *instr, a *access, lane int, old *racecheck.Touch, addr uint64) signal {
	if r.passes(Race) && r.warned(Race, in.pc) {
		return next
	}
	f := Fault{Kind: Race, Space: ir.Global, Address: addr, Thread: w.thread(lane), Write: a.write, Width: a.width,
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

// raced says what two racing accesses do: "writes what is read by thread 3 of CTA 0 in `ld...` at
// ...".
func (f *Fault) raced() string {
	verb, what := "reads", "is read"
	if f.Write {
		verb = "writes"
	}
	if f.Other.Write {
		what = "is written"
	}
	where := ""
	if f.Space == ir.Global {
		if f.Buffer != "" {
			verb += fmt.Sprintf(" element %d of %s,", f.Index, f.Buffer)
		}
	}
	if f.Space == ir.Global || f.Other.CTA != f.CTA {
		where = fmt.Sprintf(" of CTA %d", f.Other.CTA)
	}
	return fmt.Sprintf("%s what %s by thread %d%s in `%s` at %v", verb, what, f.Other.Thread, where, f.Other.Instr, f.Other.Pos)
}
