package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/trace"
)

// Warps that wait for each other by words of shared memory (ir.Kernel.SharedSpins) look at a word until another warp has
// written it. How often they look depends on how warps take turns here, so an observer is told of one look, and of the
// write that ended the wait. To know which write that was, those that wait look after each write of another warp, and a
// warp writes once a turn, so that it does not run ahead of those that have not come to their wait.

// HandoverObserver is an Observer that is told which writes ended the waits of other warps.
type HandoverObserver interface {
	Observer
	// Place is the step that a warp is at.
	Place(warp int) int
	// Handover is told once a wait has ended.
	Handover(h trace.Handover)
}

// handovers is the last writes to the words of a CTA's shared memory, if they are of interest.
type handovers struct {
	handed HandoverObserver // obs, if it is one and warps wait so
	wrote  []trace.Place    // by word: the last write; Warp -1: none
	own    map[ownWord]trace.Place
}

// ownWord is a word and a warp that wrote it.
type ownWord struct {
	word uint32
	warp int32
}

// awaiting is what a warp that waits looks at.
type awaiting struct {
	looking bool // it has looked before
	told    bool // it has written in this turn
	looksAt []uint32
	lookPC  int32
}

func (r *Runner) resetHandovers() {
	for i := range r.warps[:r.nwarps] {
		r.warps[i].looking = false
	}
	if !r.p.SharedSpins || r.p.Mode != Slice {
		return
	}
	words := (len(r.shared) + 3) / 4
	if cap(r.wrote) < words {
		r.wrote = make([]trace.Place, words)
	}
	r.wrote = r.wrote[:words]
	for i := range r.wrote {
		r.wrote[i].Warp = -1
	}
	if r.own == nil {
		r.own = map[ownWord]trace.Place{}
	}
	clear(r.own)
}

// runTurn runs a warp until it waits, exits or has used its turn.
func (r *Runner) runTurn(w *warp) signal {
	w.told = false
	s := r.runWarp(w)
	if s != told {
		return s
	}
	for ; s == told && w.state == ready; s = r.runWarp(w) {
		if w.told = true; r.letLook(w) == faulted {
			return faulted
		}
	}
	if s == faulted {
		return faulted
	}
	return next
}

// letLook lets each warp look that waits, after another has written.
func (r *Runner) letLook(after *warp) signal {
	for i := range r.warps[:r.nwarps] {
		if w := &r.warps[i]; w != after && w.looking && w.state == ready && r.runWarp(w) == faulted {
			return faulted
		}
	}
	return next
}

// noteWord notes the words of shared memory that a warp writes, or looks at in a wait.
func (r *Runner) noteWord(w *warp, in *code.Instr, a *code.Access, mask uint32) {
	looks := r.p.Blocks[w.top().block].Awaits
	if looks && w.lookPC != in.PC {
		w.lookPC, w.looksAt = in.PC, w.looksAt[:0]
	} else if !looks && !a.Write {
		return
	}
	p := trace.Place{Warp: int32(w.id), PC: in.PC}
	if !looks {
		p.Step = int32(r.handed.Place(w.id))
	}
	last := ^uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		at := r.addr[bits.TrailingZeros32(m)]
		for word := uint32(at / 4); uint64(word)*4 < at+uint64(a.Width); word++ {
			switch {
			case word == last:
			case looks:
				w.looksAt = append(w.looksAt, word)
			default:
				r.wrote[word], r.own[ownWord{word, p.Warp}] = p, p
			}
			last = word
		}
	}
}

// handOver tells the observer of the writes that ended a warp's wait. It reports whether the warp had looked in vain before.
func (r *Runner) handOver(w *warp) (looked bool) {
	looked, w.looking = w.looking, false
	if r.handed == nil {
		return looked
	}
	look := trace.Place{Warp: int32(w.id), PC: w.lookPC, Step: int32(r.handed.Place(w.id))}
	told := trace.Place{Warp: -1}
	for _, word := range w.looksAt {
		by := r.wrote[word]
		if by.Warp < 0 || by.Warp == look.Warp || by == told {
			continue
		}
		arrived, ok := r.own[ownWord{word, look.Warp}]
		if !ok {
			arrived.Warp = -1
		}
		r.handed.Handover(trace.Handover{Look: look, Write: by, Arrival: arrived})
		told = by
	}
	w.lookPC, w.looksAt = -1, w.looksAt[:0]
	return looked
}
