package coalesce

import (
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// LocalBase is the line address at which a Recorder places the local memory of
// warp 0 of every CTA; warps follow each other, each taking a line for every
// 4 bytes of a thread's local memory. It lies above all global addresses.
const LocalBase = 1 << 50 >> lineShift

// Recorder observes the execution of CTAs and builds their traces. It reuses
// its memory from one CTA to the next. It is for one goroutine.
type Recorder struct {
	kernel    *ir.Kernel
	bankWidth int
	localLine uint64 // lines of local memory of one warp
	cta       trace.CTA
	req       Request
	patterns  []pattern
	patternOf []int32          // by pc; -1 for instructions that touch no memory
	period    int32            // of the iterations that are left out next
	handovers []trace.Handover // that are not in the trace yet
}

// pattern is the last request of an instruction: the same lanes at addresses
// shifted by whole lines touch shifted lines and conflict the same way.
type pattern struct {
	valid  bool
	copy   bool // cp.async: the next pattern is that of what it writes
	split  bool // cp.async.cg: lines know what is fetched twice for the writes of the next pattern
	wide   int  // bytes a lane that the machine loads from shared memory, 0: the PTX load's
	space  ir.Space
	mask   uint32
	addr   Lanes
	access trace.Access
	lines  []trace.Line
}

// NewRecorder returns a recorder for a kernel on a machine whose shared memory
// banks are bankWidth bytes wide (4, or Kepler's 8).
func NewRecorder(k *ir.Kernel, bankWidth int) *Recorder {
	r := &Recorder{}
	r.Reset(k, bankWidth)
	return r
}

// Reset makes a new recorder of a used one, which keeps its memory.
func (r *Recorder) Reset(k *ir.Kernel, bankWidth int) {
	r.kernel, r.bankWidth, r.localLine = k, bankWidth, uint64(k.LocalBytes+3)/4
	r.patternOf = slices.Grow(r.patternOf[:0], len(k.Instrs))[:len(k.Instrs)]
	n := 0
	for pc := range k.Instrs {
		r.patternOf[pc] = -1
		switch k.Instrs[pc].Op {
		case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red:
			r.patternOf[pc] = int32(n)
			n++
		case ir.CpAsync:
			r.patternOf[pc] = int32(n)
			n += 2
		}
	}
	r.patterns = slices.Grow(r.patterns[:0], n)[:n]
	for i := range r.patterns {
		r.patterns[i].valid, r.patterns[i].wide, r.patterns[i].copy = false, 0, false
	}
	for pc, n := range r.patternOf {
		if n >= 0 && k.Instrs[pc].Op == ir.CpAsync {
			r.patterns[n].copy = true
		}
	}
}

// Widen says that the machine moves bytes a lane for the PTX load or store of shared
// memory pc, at the multiple of bytes that its own lie in, and so conflicts otherwise.
func (r *Recorder) Widen(pc int32, bytes int) {
	r.patterns[r.patternOf[pc]].wide = bytes
}

// Begin starts the trace of a CTA of the given number of warps; what CTA
// returned before is overwritten.
func (r *Recorder) Begin(cta int64, warps int) {
	r.cta.ID = cta
	for len(r.cta.Warps) < warps && cap(r.cta.Warps) > len(r.cta.Warps) {
		r.cta.Warps = r.cta.Warps[:len(r.cta.Warps)+1]
	}
	for len(r.cta.Warps) < warps {
		r.cta.Warps = append(r.cta.Warps, trace.Warp{})
	}
	r.cta.Warps = r.cta.Warps[:warps]
	r.Restart()
}

// Restart forgets what was recorded since Begin.
func (r *Recorder) Restart() {
	r.handovers = r.handovers[:0]
	for i := range r.cta.Warps {
		w := &r.cta.Warps[i]
		w.Steps, w.Accesses, w.Lines, w.Asyncs = w.Steps[:0], w.Accesses[:0], w.Lines[:0], w.Asyncs[:0]
	}
}

// CTA is the trace recorded since Begin. It belongs to the recorder and is
// valid until the next Begin.
func (r *Recorder) CTA() *trace.CTA {
	r.handOver()
	return &r.cta
}

// Clone copies a trace out of a recorder's memory.
func Clone(c *trace.CTA) *trace.CTA {
	out := &trace.CTA{ID: c.ID, Warps: make([]trace.Warp, len(c.Warps))}
	for i := range c.Warps {
		w := &c.Warps[i]
		out.Warps[i] = trace.Warp{
			Steps:    append([]trace.Step(nil), w.Steps...),
			Accesses: append([]trace.Access(nil), w.Accesses...),
			Lines:    append([]trace.Line(nil), w.Lines...),
			Asyncs:   append([]trace.Async(nil), w.Asyncs...),
		}
	}
	return out
}

// Step implements exec.Observer.
func (r *Recorder) Step(warp, block int, mask uint32) {
	w := &r.cta.Warps[warp]
	w.Steps = append(w.Steps, trace.Step{Block: int32(block), Mask: mask, Access: int32(len(w.Accesses)), Async: int32(len(w.Asyncs))})
}

// Period implements exec.PeriodObserver.
func (r *Recorder) Period(_ int, iterations int64) { r.period = int32(iterations) }

// Repeat implements exec.Observer.
func (r *Recorder) Repeat(warp, block int, n int64) {
	w := &r.cta.Warps[warp]
	mask := uint32(0)
	if len(w.Steps) > 0 {
		mask = w.Steps[len(w.Steps)-1].Mask
	}
	w.Steps = append(w.Steps, trace.Step{Block: int32(block), Mask: mask, Access: int32(len(w.Accesses)), Async: int32(len(w.Asyncs)), Repeat: n, Period: r.period})
	r.period = 0
}

// Access implements exec.Observer.
func (r *Recorder) Access(warp, pc int, space ir.Space, width int, mask uint32, addr *Lanes) {
	w := &r.cta.Warps[warp]
	p := &r.patterns[r.patternOf[pc]]
	if p.copy && space == ir.Shared {
		r.written(w, pc, width, mask, addr)
		return
	}
	shift, ok := p.shifted(space, width, mask, r.bankWidth, addr)
	if !ok {
		r.analyse(p, pc, space, width, mask, addr)
		shift = 0
	}
	a := p.access
	a.First = int32(len(w.Lines))
	base := shift
	if space == ir.Local {
		base = LocalBase + uint64(warp)*r.localLine
	}
	for _, l := range p.lines {
		l.Addr += base
		w.Lines = append(w.Lines, l)
	}
	if space == ir.Const {
		a.First = int32(addr[bits.TrailingZeros32(mask)&(warpSize-1)])
	}
	w.Accesses = append(w.Accesses, a)
}

// Follow implements exec.Follower.
func (r *Recorder) Follow(warp, pc, first int, by uint64) bool {
	p := &r.patterns[r.patternOf[first]]
	if r.patterns[r.patternOf[pc]].wide != p.wide || by&(p.unit(ir.Shared, int(p.access.Width), r.bankWidth)-1) != 0 {
		return false
	}
	w := &r.cta.Warps[warp]
	a := p.access
	a.PC, a.First = int32(pc), int32(len(w.Lines))
	w.Accesses = append(w.Accesses, a)
	return true
}

// shifted reports whether the request repeats the pattern, moved by some
// number of lines. Moving all lanes alike by whole banks only rotates the
// banks, so that shared accesses need not move by whole lines.
func (p *pattern) shifted(space ir.Space, width int, mask uint32, bankWidth int, addr *Lanes) (lines uint64, ok bool) {
	if !p.valid || p.mask != mask || p.space != space || int(p.access.Width) != width {
		return 0, false
	}
	first := bits.TrailingZeros32(mask) & (warpSize - 1)
	d := addr[first] - p.addr[first]
	if d != 0 && d&(p.unit(space, width, bankWidth)-1) != 0 {
		return 0, false
	}
	if mask == ^uint32(0) {
		for i := range addr {
			if addr[i]-p.addr[i] != d {
				return 0, false
			}
		}
		return uint64(int64(d) >> lineShift), true
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		if addr[l]-p.addr[l] != d {
			return 0, false
		}
	}
	return uint64(int64(d) >> lineShift), true
}

// unit is by what multiples of bytes lanes may move together.
func (p *pattern) unit(space ir.Space, width, bankWidth int) uint64 {
	switch {
	case space == ir.Const && p.access.Passes > 1:
		return uint64(max(constLine, width))
	case space == ir.Const:
		return uint64(width)
	case space == ir.Local:
		return ^uint64(0) // offsets name lines: only the same ones will do
	case space == ir.SharedCluster:
		return sectorBytes // what crosses the cluster's network
	case space != ir.Shared:
		return lineBytes
	case wideBanks(width, bankWidth):
		return 4 << rowBits // within a row words meet that would not across rows
	}
	return uint64(max(bankWidth, width, p.wide))
}

// analyse works the request out and keeps it as the instruction's pattern.
func (r *Recorder) analyse(p *pattern, pc int, space ir.Space, width int, mask uint32, addr *Lanes) {
	op := r.kernel.Instrs[pc].Op
	a := trace.Access{PC: int32(pc), Space: space, Width: uint8(width), Mask: mask, MaxSame: 1}
	p.lines = p.lines[:0]
	switch space {
	case ir.Shared, ir.SharedCluster:
		passes, ideal := p.shared(width, mask, r.bankWidth, addr)
		a.Passes, a.Ideal = uint16(passes), uint16(ideal)
		if space == ir.SharedCluster {
			sectors, lines := Remote(addr, mask, width, op == ir.Atom || op == ir.Red)
			a.Sectors, a.Visits = uint16(sectors), uint8(lines)
		}
	case ir.Const:
		a.Passes, a.Ideal = uint16(Const(addr, mask, width)), 1
		visits, drawn := Visits(addr, mask)
		a.Visits, a.Drawn = uint8(visits), drawn
	case ir.Local:
		// Every lane has a bank of its own: passes are words.
		words := (width + 3) / 4
		a.Passes, a.Ideal = uint16(words), uint16(words)
		r.req.Local(addr, mask, width, op == ir.St, 0)
		take(&a, p, &r.req)
	default:
		passes, ideal := GlobalPasses(addr, mask, width)
		a.Passes, a.Ideal = uint16(passes), uint16(ideal)
		r.req.Global(addr, mask, width, op == ir.St)
		if op == ir.Atom || op == ir.Red {
			r.req.words()
		}
		take(&a, p, &r.req)
		if a.NLines > 1 && op != ir.St {
			a.Wavefronts = uint16(GlobalWavefronts(addr, mask, width))
		}
	}
	if op == ir.Atom || op == ir.Red {
		a.MaxSame = uint8(MaxSame(addr, mask, width))
		a.Words = uint8(Const(addr, mask, width))
		a.Turns = uint8(Turns(addr, mask, width, r.bankWidth))
	}
	p.valid, p.split, p.space, p.mask, p.addr, p.access = true, false, space, mask, *addr, a
}

// shared is the passes of a request to shared memory, at the width that the
// machine makes it.
func (p *pattern) shared(width int, mask uint32, bankWidth int, addr *Lanes) (passes, ideal int) {
	if p.wide <= width {
		return Shared(addr, mask, width, bankWidth)
	}
	start := *addr
	for i := range start {
		start[i] &^= uint64(p.wide - 1)
	}
	return Shared(&start, mask, p.wide, bankWidth)
}

// take copies the request's lines into the pattern.
func take(a *trace.Access, p *pattern, q *Request) {
	p.lines = append(p.lines, q.Lines[:q.N]...)
	a.NLines, a.Sectors = uint16(q.N), uint16(q.Sectors())
}
