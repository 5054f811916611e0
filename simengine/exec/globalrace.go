package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
)

// globalRaces checks and notes an access to device memory. Buffers that no instruction of the kernel
// may write (see bindWritten) are left out.
func (r *Runner) globalRaces(w *warp, in *code.Instr, a *code.Access, mask uint32, strong bool) signal {
	if from := r.p.Origins[a.Index] & r.isBuffer; !a.Write && from != 0 && from&r.written == 0 {
		return next
	}
	s, known := r.series, &r.races.known[w.id]
	now := racecheck.Touch{Run: s.Run(), Tick: w.tick, PC: in.PC, Strong: strong}
	lane := &r.lanes
	*lane = laneAccess{r: r, w: w, in: in}
	for m := mask; m != 0; m &= m - 1 {
		lane.lane = bits.TrailingZeros32(m)
		now.Thread = uint16(w.thread(lane.lane))
		var old *racecheck.Touch
		var at uint64
		if a.Write {
			old, at = s.Write(now, known, lane, r.addr[lane.lane], a.Width)
		} else {
			old, at = s.Read(now, known, lane, r.addr[lane.lane], a.Width)
		}
		if old == nil {
			continue
		}
		if s := r.globalRaceFault(w, in, a, lane.lane, old, at); s != next {
			return s
		}
	}
	return next
}

// laneAccess is the access of one lane, as racecheck asks of it.
type laneAccess struct {
	r    *Runner
	w    *warp
	in   *code.Instr
	lane int
}

// Before reports whether an earlier access of the CTA happened before the lane's.
func (l *laneAccess) Before(old *racecheck.Touch) bool {
	if from := int(old.Thread) / WarpSize; from != l.w.id {
		return l.r.races.known[l.w.id][from] >= old.Tick
	}
	return l.w.together(int(old.Thread)%WarpSize, l.lane, old.Tick)
}

// Stores is what the lane stores to size bytes at addr, if it is known.
func (l *laneAccess) Stores(addr uint64, size int) (v uint32, ok bool) {
	a := l.in.X.Access
	if a.Op != ir.St || !a.Data {
		return 0, false
	}
	for i := range size {
		b, ok := l.r.storedByte(l.w, l.in, l.lane, int(addr)+i)
		if !ok {
			return 0, false
		}
		v |= uint32(b) << (8 * i)
	}
	return v, true
}

// Holds is what memory holds in size bytes at addr.
func (l *laneAccess) Holds(addr uint64, size int) (uint32, bool) {
	reg := l.r.mem.Find(addr, uint64(size))
	if reg == nil {
		return 0, false
	}
	off := addr - reg.Base
	p := l.r.mem.Page(reg, off>>memory.PageBits)
	in := off & (memory.PageSize - 1)
	if p == nil || in+uint64(size) > memory.PageSize {
		return 0, false
	}
	return uint32(element.Load(p.Data[in:], size)), true
}

// bindWritten finds the buffers that the kernel may write.
func (r *Runner) bindWritten() {
	var from uint64
	for _, i := range r.p.Writers {
		to := r.p.Origins[i] & r.isBuffer
		if to == 0 {
			from = r.isBuffer
		}
		from |= to
	}
	r.written = 0
	for i, reg := range r.bufferOf { // two parameters may be one buffer
		for m := from; reg != nil && m != 0; m &= m - 1 {
			if r.bufferOf[bits.TrailingZeros64(m)] == reg {
				r.written |= 1 << i
			}
		}
	}
}
