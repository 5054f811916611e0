package coalesce

import "github.com/warptune/warptune/simengine/trace"

// far is how many of the iterations left out are reported: as many planes as a
// stencil of order 16 looks ahead when it marches through a volume.
const far = 8

// Ahead reports, for every place where sampling left iterations of a loop out, the
// lines that the first of them would touch: those of the iteration recorded just
// before it, as far on as that is from the one before, and where that is whole lines
// as far again, and again.
func Ahead(w *trace.Warp, touch func(a *trace.Access, line uint64, sectors uint8)) {
	for i, s := range w.Steps {
		if s.Repeat == 0 {
			continue
		}
		last := iteration(w, s.Block, i)
		before := iteration(w, s.Block, last)
		if before < 0 || last-before != i-last {
			continue
		}
		from, until := w.Steps[last].Access, s.Access
		first := w.Steps[before].Access
		if until-from != from-first {
			continue
		}
		for k := range until - from {
			aheadOf(w, &w.Accesses[first+k], &w.Accesses[from+k], min(int64(s.Repeat), far), touch)
		}
	}
}

// iteration is the step at which the iteration of the loop that ends at step end
// began, -1 when it is not recorded.
func iteration(w *trace.Warp, head int32, end int) int {
	for j := end - 1; j >= 0; j-- {
		if w.Steps[j].Block == head && w.Steps[j].Repeat == 0 {
			return j
		}
	}
	return -1
}

// aheadOf reports the lines of the accesses that follow before and a, at most so many.
func aheadOf(w *trace.Warp, before, a *trace.Access, most int64, touch func(a *trace.Access, line uint64, sectors uint8)) {
	if before.PC != a.PC || before.NLines != a.NLines {
		return
	}
	for n := range int32(a.NLines) {
		l, p := &w.Lines[a.First+n], &w.Lines[before.First+n]
		step := l.Addr - p.Addr
		if step == 0 {
			continue
		}
		further := most
		if l.Sectors != p.Sectors {
			further = 1
		}
		for k := range uint64(further) {
			touch(a, l.Addr+(k+1)*step, l.Sectors)
		}
	}
}
