package slice

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/bounds"
)

// A load reads what stores before it in its block wrote, and nothing older, where each byte that it reads was written
// there and a barrier lies between: kernels pass values between lanes by memory that they use for something else before
// and after. Without races nothing else can have written the bytes meanwhile. (Of programs with races it says nothing; the
// first CTA that is recorded is checked for them.)

// handovers finds the stores that loads read so.
type handovers struct {
	s       *slicer
	exact   *bounds.Exact // nil: such loads cannot be told
	blockOf []int32
	known   map[int][]int // by load; nil: it may read what others write
}

// newHandovers looks at a kernel whose barriers are all of whole CTAs, at which all of a CTA's warps meet in the same places.
func newHandovers(s *slicer) *handovers {
	h := &handovers{s: s, known: map[int][]int{}}
	for pc := range s.k.Instrs {
		switch in := &s.k.Instrs[pc]; {
		case in.Op == ir.BarRed, in.Op == ir.Exit && in.Guard != ir.NoReg, in.Op == ir.Bar && !ofCTA(in):
			return h
		}
	}
	h.exact = bounds.Exactly(s.ranges())
	h.blockOf = blockOf(s.k)
	return h
}

// ofCTA reports whether a barrier is one of all threads of a CTA, barrier 0.
func ofCTA(in *ir.Instr) bool {
	return in.Mod&ir.ModArrive == 0 && in.Guard == ir.NoReg && len(in.Src) == 1 && in.Src[0].Kind == ir.OperandImm && in.Src[0].Imm == 0
}

// ofWarp reports whether a barrier is one of all lanes of a warp.
func ofWarp(in *ir.Instr) bool {
	return in.Op == ir.BarWarp && in.Guard == ir.NoReg && len(in.Src) == 1 && in.Src[0].Kind == ir.OperandImm && uint32(in.Src[0].Imm) == ^uint32(0)
}

// stores are those that a load reads; false: it is not known.
func (h *handovers) stores(pc int) ([]int, bool) {
	in := &h.s.k.Instrs[pc]
	if h.exact == nil || in.Op != ir.Ld || in.Space != ir.Shared {
		return nil, false
	}
	found, ok := h.known[pc]
	if !ok {
		found = h.find(pc)
		h.known[pc] = found
	}
	return found, found != nil
}

// done is of each byte from first on the warps, a bit each, whose lanes read there what stores before have written.
type done struct {
	first uint32
	warps []uint32
}

// add notes that warps read what a thread stores.
func (d *done) add(bytes lane, warps uint32) {
	for b := range bytes.n {
		if at := bytes.at + b - d.first; at < uint32(len(d.warps)) {
			d.warps[at] |= warps
		}
	}
}

// complete reports whether all that threads need is there for their warps.
func (d *done) complete(need []lane) bool {
	for t, bytes := range need {
		for b := range bytes.n {
			if at := bytes.at + b - d.first; at >= uint32(len(d.warps)) || d.warps[at]&(1<<(t/warpLanes)) == 0 {
				return false
			}
		}
	}
	return true
}

func (h *handovers) find(pc int) []int {
	k := h.s.k
	need := h.touched(pc)
	at := h.s.accessed(&k.Instrs[pc])
	if need == nil || at.anywhere() {
		return nil
	}
	var read memory
	read.add(at)
	var stores []int
	done, all := done{uint32(at.bytes.Low), make([]uint32, at.bytes.High-at.bytes.Low+1)}, uint32(0)
	ownOnly := false
	for i := pc - 1; i >= k.Blocks[h.blockOf[pc]].Start; i-- {
		in := &k.Instrs[i]
		switch {
		case in.Op == ir.Bar:
			if done.complete(need) {
				return stores
			}
			all = ^uint32(0)
		case ofWarp(in):
			if done.complete(need) {
				return stores
			}
			ownOnly = true
		case in.Op.WritesMemory() && read.mayAlias(h.s.written(in)):
			stores = append(stores, i)
			if all == 0 && !ownOnly || in.Op != ir.St || in.Space != ir.Shared {
				continue
			}
			for t, bytes := range h.touched(i) {
				done.add(bytes, all|1<<(t/warpLanes))
			}
		}
	}
	if done.complete(need) {
		return stores
	}
	return nil
}

const warpLanes = 32

// lane is the bytes that a thread accesses.
type lane struct{ at, n uint32 }

// touched is what each thread accesses by the instruction at pc; nil: it is not known.
func (h *handovers) touched(pc int) []lane {
	in, at, does := &h.s.k.Instrs[pc], h.exact.Shared(pc), h.exact.Guards(pc)
	width := uint32(in.Type.Size() * max(int(in.Vec), 1))
	if at == nil || does == nil || width == 0 {
		return nil
	}
	rows := warpLanes
	if in.Mod&ir.ModMatrix != 0 {
		width, rows = matrixRow, 8*int(in.Vec)
	}
	out := make([]lane, len(at))
	for t := range out {
		if out[t].at = at[t]; does[t] && t%warpLanes < rows {
			out[t].n = width
		}
	}
	return out
}
