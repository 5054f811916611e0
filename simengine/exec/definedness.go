package exec

import (
	"errors"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// shadow finds uninitialised values of shared and local memory that matter. To load one is no fault:
// tiles are padded, and vector loads and reductions take along what is thrown away. So it tracks
// definedness as Valgrind's memcheck does (J. Seward and N. Nethercote, Using Valgrind to detect
// undefined value errors with bit-precision, USENIX 2005): through registers, with one bit for each
// lane, and through memory, with one for each byte. The fault is where an undefined value decides a
// branch, is an address, is stored to device memory, or goes into an atomic.
//
// A register is undefined if all bytes loaded to it are. What is computed from an undefined register
// is undefined. For MMA this holds by element, and a selection depends on the operand that it
// selects.
type shadow struct {
	flows  []code.Flow
	shared []bool // by byte: it was written, and what was was not undefined
	local  []bool // of all threads
	warps  [MaxThreads / WarpSize][]undefined
	reads  []reading
	found  *fault.Fault // the first
}

// undefined is the lanes in which a register is undefined, and the load that its value came from.
type undefined struct {
	lanes uint32
	from  int32
}

// reading is a load of what nobody wrote: the first by its instruction.
type reading struct {
	pc     int32
	space  ir.Space
	addr   uint64
	width  int
	thread int
}

// reset forgets what a CTA wrote.
func (s *shadow) reset(r *Runner) {
	s.flows = r.p.FlowsOf()
	s.shared, s.local = cleared(s.shared, len(r.shared)), cleared(s.local, len(r.local))
	for i := len(s.shared) - r.p.ReservedShared(); i < len(s.shared); i++ {
		s.shared[i] = true // the system clears it
	}
	n := int(r.p.N32 + r.p.N64 + r.p.NPred)
	for i := range s.warps[:r.nwarps] {
		if cap(s.warps[i]) < n {
			s.warps[i] = make([]undefined, n)
		}
		s.warps[i] = s.warps[i][:n]
		clear(s.warps[i])
	}
	s.reads, s.found = s.reads[:0], nil
}

func cleared(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// bytes returns the definedness of a lane's bytes in shared or local memory, nil in other spaces.
func (s *shadow) bytes(r *Runner, w *warp, space ir.Space, addr uint64, lane, width int) []bool {
	switch space {
	case ir.Shared:
		return s.shared[addr:][:width]
	case ir.Local:
		return s.local[uint64(w.thread(lane)*r.localBytes)+addr:][:width]
	}
	return nil
}

// anyOf reports whether any of bytes is defined.
func anyOf(b []bool) bool {
	for _, v := range b {
		if v {
			return true
		}
	}
	return false
}

func setAll(b []bool, v bool) {
	for i := range b {
		b[i] = v
	}
}

// reading is a load of uninitialised bytes: the first by its instruction.
func (s *shadow) reading(w *warp, in *code.Instr, space ir.Space, addr uint64, width, lane int) int32 {
	for i := range s.reads {
		if s.reads[i].pc == in.PC {
			return int32(i)
		}
	}
	s.reads = append(s.reads, reading{in.PC, space, addr, width, w.thread(lane)})
	return int32(len(s.reads) - 1)
}

// mark notes in which of the lanes in mask a register is undefined.
func (s *shadow) mark(w *warp, reg int32, lanes, mask uint32, from int32) {
	if reg < 0 {
		return
	}
	u := &s.warps[w.id][reg]
	u.lanes = u.lanes&^mask | lanes&mask
	if lanes&mask != 0 {
		u.from = from
	}
}

// of returns the lanes in which an operand is undefined: none for a constant.
func (s *shadow) of(r *Runner, w *warp, at code.Slot) undefined {
	if n := r.p.Register(at); n >= 0 {
		return s.warps[w.id][n]
	}
	return undefined{}
}

// access follows an access to memory by the lanes in mask, before it moves data. The space is known,
// and the bounds have been checked.
func (s *shadow) access(r *Runner, w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) {
	switch {
	case a.Op == ir.Atom || a.Op == ir.Red:
		s.atomic(r, w, in, a, space, mask)
	case a.Read && a.Data && !a.Matrix:
		s.load(r, w, in, a, space, mask)
	case a.Op == ir.St && a.Data && !a.Matrix:
		s.store(r, w, in, a, space, mask)
	case a.Write:
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			setAll(s.bytes(r, w, space, r.addr[l], l, a.Width), true)
		}
	}
}

func (s *shadow) load(r *Runner, w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) {
	for n, d := range in.X.Dst {
		var lanes uint32
		from := int32(-1)
		for m := mask; m != 0 && (space == ir.Shared || space == ir.Local); m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if b := s.bytes(r, w, space, r.addr[l], l, a.Width); !anyOf(b[n*a.Elem : (n+1)*a.Elem]) {
				lanes |= 1 << l
				if from < 0 {
					from = s.reading(w, in, space, r.addr[l]+uint64(n*a.Elem), a.Width, l)
				}
			}
		}
		s.mark(w, r.p.Register(d), lanes, mask, from)
	}
}

func (s *shadow) store(r *Runner, w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) {
	for n := range a.Vec {
		u := s.of(r, w, in.X.Src[n])
		if space != ir.Shared && space != ir.Local {
			if u.lanes&mask != 0 {
				s.matters(r, w, in, u.from, "it is stored")
			}
			continue
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			setAll(s.bytes(r, w, space, r.addr[l], l, a.Width)[n*a.Elem:(n+1)*a.Elem], u.lanes>>l&1 == 0)
		}
	}
}

// atomic follows an atomic. What it combines must be defined. What it finds in memory may be
// undefined, and stays so unless another value is put there.
func (s *shadow) atomic(r *Runner, w *warp, in *code.Instr, a *code.Access, space ir.Space, mask uint32) {
	for _, o := range in.X.Src {
		if u := s.of(r, w, o); u.lanes&mask != 0 {
			s.matters(r, w, in, u.from, "an atomic combines it")
		}
	}
	if space != ir.Shared && space != ir.Local || !a.Data {
		for _, d := range in.X.Dst {
			s.mark(w, r.p.Register(d), 0, mask, -1)
		}
		return
	}
	var lanes uint32
	from := int32(-1)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		b := s.bytes(r, w, space, r.addr[l], l, a.Width)
		if !anyOf(b) {
			lanes |= 1 << l
			if from < 0 {
				from = s.reading(w, in, space, r.addr[l], a.Width, l)
			}
		}
		if r.p.Executed.Instrs[in.PC].Atom == ir.AtomExch {
			setAll(b, true)
		}
	}
	for _, d := range in.X.Dst {
		s.mark(w, r.p.Register(d), lanes, mask, from)
	}
}

// matrices follows an ldmatrix (see Runner.loadMatrices) by the lanes in mask.
func (s *shadow) matrices(r *Runner, w *warp, in *code.Instr, mask uint32) {
	trans := r.p.Kernel.Instrs[in.PC].Mod&ir.ModTrans != 0
	for m, d := range in.X.Dst {
		var lanes uint32
		from := int32(-1)
		for rest := mask; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			at, col := l/4, l%4
			row, off, n := 8*m+at, 4*col, 4
			if trans {
				row, off, n = 8*m+2*col, 2*at, 2
			}
			if mask>>row&1 == 1 && !anyOf(s.shared[r.addr[row]:][off:off+n]) {
				lanes |= 1 << l
				if from < 0 {
					from = s.reading(w, in, ir.Shared, r.addr[row]+uint64(off), n, row)
				}
			}
		}
		s.mark(w, r.p.Register(d), lanes, mask, from)
	}
}

// matters notes the fault of an undefined value at the place where it matters. The CTA goes on:
// where a barrier is missing, what is read too early is written later, and the fault is a race.
func (s *shadow) matters(r *Runner, w *warp, in *code.Instr, from int32, why string) {
	read := &s.reads[max(from, 0)]
	if s.found != nil || r.warned(fault.Uninitialised, read.pc) {
		return
	}
	f := fault.Fault{Kind: fault.Uninitialised, Space: read.space, Address: read.addr, Width: read.width, Thread: read.thread,
		Other: r.other(in.PC, r.cta, w.first), Detail: why}
	if r.fail(w, &code.Instr{PC: read.pc}, f) == faulted {
		s.found, r.fault = r.fault, nil
	}
}

// verdict returns the error that a CTA's execution ended with, or the uninitialised read that came
// before it, unless the error is a race.
func (s *shadow) verdict(err error) error {
	if s == nil || s.found == nil {
		return err
	}
	if f := (*fault.Fault)(nil); errors.As(err, &f) && f.Kind == fault.Race {
		return err
	}
	return s.found
}
