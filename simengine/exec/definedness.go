package exec

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/warptune/warptune/simengine/exec/fault"
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
	flows  []flow
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

// flow is which registers a compiled instruction reads and writes, numbered over all register files.
type flow struct {
	src, dst []int32
	kind     flowKind
	address  int32 // of a memory instruction, -1: none
	matrix   *matrix
}

type flowKind uint8

const (
	flowLanes  flowKind = iota // each lane's results depend on its operands
	flowMemory                 // see shadow.access
	flowSelect                 // the last operand says which of the others
	flowBits                   // of and, or: one operand may decide whatever the other is
	flowShuffle
	flowWarp // results depend on the operands of all lanes
	flowMatrix
)

// flowTable is made when it is first needed. Most programs never need it.
type flowTable struct {
	once  sync.Once
	flows []flow
}

// register is the number of a slot among all files, -1 for none.
func (p *Program) register(s slot) int32 {
	switch s.file {
	case file32:
		return s.index
	case file64:
		return p.n32 + s.index
	case filePred:
		return p.n32 + p.n64 + s.index
	}
	return -1
}

// flowsOf returns the flows of the program's code, by instruction.
func (p *Program) flowsOf() []flow {
	p.flows.once.Do(func() {
		p.flows.flows = make([]flow, len(p.code))
		for i := range p.code {
			p.flows.flows[i] = p.flowOf(i)
		}
	})
	return p.flows.flows
}

func (p *Program) flowOf(i int) flow {
	in := &p.code[i]
	ki := &p.executed.Instrs[in.pc]
	f := flow{address: -1}
	add := func(list *[]int32, s slot) {
		if n := p.register(s); n >= 0 {
			*list = append(*list, n)
		}
	}
	if in.kind == kindMemory {
		f.kind = flowMemory
		f.address = p.register(in.x.access.base)
		return f
	}
	src := ki.Src
	if ki.Mirrored() {
		src = src[1:] // the move beside the access
	}
	for n := range src {
		if o := &src[n]; o.Kind == ir.OperandReg && o.Reg != ir.NoReg {
			add(&f.src, p.slots[o.Reg])
		}
	}
	for _, r := range ki.Dst {
		if r != ir.NoReg {
			add(&f.dst, p.slots[r])
		}
	}
	switch ki.Op {
	case ir.Selp:
		f.kind = flowSelect
	case ir.And, ir.Or, ir.Setp:
		if ki.Op != ir.Setp || len(ki.Src) > 2 && (ki.Bool == ir.BoolAnd || ki.Bool == ir.BoolOr) {
			f.kind = flowBits
		}
	case ir.Shfl:
		f.kind = flowShuffle
	case ir.Vote, ir.Match, ir.Redux, ir.BarRed, ir.Movmatrix:
		f.kind = flowWarp
	case ir.Mma:
		f.kind, f.matrix = flowMatrix, in.x.matrix
	}
	return f
}

// reset forgets what a CTA wrote.
func (s *shadow) reset(r *Runner) {
	s.flows = r.p.flowsOf()
	s.shared, s.local = cleared(s.shared, len(r.shared)), cleared(s.local, len(r.local))
	n := int(r.p.n32 + r.p.n64 + r.p.npred)
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
func (s *shadow) reading(w *warp, in *instr, space ir.Space, addr uint64, width, lane int) int32 {
	for i := range s.reads {
		if s.reads[i].pc == in.pc {
			return int32(i)
		}
	}
	s.reads = append(s.reads, reading{in.pc, space, addr, width, w.thread(lane)})
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
func (s *shadow) of(r *Runner, w *warp, at slot) undefined {
	if n := r.p.register(at); n >= 0 {
		return s.warps[w.id][n]
	}
	return undefined{}
}

// access follows an access to memory by the lanes in mask, before it moves data. The space is known,
// and the bounds have been checked.
func (s *shadow) access(r *Runner, w *warp, in *instr, a *access, space ir.Space, mask uint32) {
	switch {
	case a.op == ir.Atom || a.op == ir.Red:
		s.atomic(r, w, in, a, space, mask)
	case a.read && a.data && !a.matrix:
		s.load(r, w, in, a, space, mask)
	case a.op == ir.St && a.data && !a.matrix:
		s.store(r, w, in, a, space, mask)
	case a.write:
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			setAll(s.bytes(r, w, space, r.addr[l], l, a.width), true)
		}
	}
}

func (s *shadow) load(r *Runner, w *warp, in *instr, a *access, space ir.Space, mask uint32) {
	for n, d := range in.x.dst {
		var lanes uint32
		from := int32(-1)
		for m := mask; m != 0 && (space == ir.Shared || space == ir.Local); m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if b := s.bytes(r, w, space, r.addr[l], l, a.width); !anyOf(b[n*a.elem : (n+1)*a.elem]) {
				lanes |= 1 << l
				if from < 0 {
					from = s.reading(w, in, space, r.addr[l]+uint64(n*a.elem), a.width, l)
				}
			}
		}
		s.mark(w, r.p.register(d), lanes, mask, from)
	}
}

func (s *shadow) store(r *Runner, w *warp, in *instr, a *access, space ir.Space, mask uint32) {
	for n := range a.vec {
		u := s.of(r, w, in.x.src[n])
		if space != ir.Shared && space != ir.Local {
			if u.lanes&mask != 0 {
				s.matters(r, w, in, u.from, "it is stored")
			}
			continue
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			setAll(s.bytes(r, w, space, r.addr[l], l, a.width)[n*a.elem:(n+1)*a.elem], u.lanes>>l&1 == 0)
		}
	}
}

// atomic follows an atomic. What it combines must be defined. What it finds in memory may be
// undefined, and stays so unless another value is put there.
func (s *shadow) atomic(r *Runner, w *warp, in *instr, a *access, space ir.Space, mask uint32) {
	for _, o := range in.x.src {
		if u := s.of(r, w, o); u.lanes&mask != 0 {
			s.matters(r, w, in, u.from, "an atomic combines it")
		}
	}
	if space != ir.Shared && space != ir.Local || !a.data {
		for _, d := range in.x.dst {
			s.mark(w, r.p.register(d), 0, mask, -1)
		}
		return
	}
	var lanes uint32
	from := int32(-1)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		b := s.bytes(r, w, space, r.addr[l], l, a.width)
		if !anyOf(b) {
			lanes |= 1 << l
			if from < 0 {
				from = s.reading(w, in, space, r.addr[l], a.width, l)
			}
		}
		if r.p.executed.Instrs[in.pc].Atom == ir.AtomExch {
			setAll(b, true)
		}
	}
	for _, d := range in.x.dst {
		s.mark(w, r.p.register(d), lanes, mask, from)
	}
}

// matrices follows an ldmatrix (see Runner.loadMatrices) by the lanes in mask.
func (s *shadow) matrices(r *Runner, w *warp, in *instr, mask uint32) {
	trans := r.p.Kernel.Instrs[in.pc].Mod&ir.ModTrans != 0
	for m, d := range in.x.dst {
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
		s.mark(w, r.p.register(d), lanes, mask, from)
	}
}

// matters notes the fault of an undefined value at the place where it matters. The CTA goes on:
// where a barrier is missing, what is read too early is written later, and the fault is a race.
func (s *shadow) matters(r *Runner, w *warp, in *instr, from int32, why string) {
	read := &s.reads[max(from, 0)]
	if s.found != nil || r.warned(fault.Uninitialised, read.pc) {
		return
	}
	f := fault.Fault{Kind: fault.Uninitialised, Space: read.space, Address: read.addr, Width: read.width, Thread: read.thread,
		Other: r.other(in.pc, r.cta, w.first), Detail: why}
	if r.fail(w, &instr{pc: read.pc}, f) == faulted {
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
