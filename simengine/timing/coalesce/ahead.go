package coalesce

import "github.com/warptune/warptune/simengine/trace"

// far is how many of the iterations left out are reported: as many rows as a filter of
// 17 by 17 spans, and twice the planes that a stencil of order 16 looks ahead when it marches
// through a volume.
const far = 16

// Ahead reports, for every place where sampling left iterations of a loop out, the lines that the first of them would
// touch. These are the lines of the iteration recorded just before it, as far on as that is from the one before. They
// go on as far again, and again, where that is whole lines or the sectors of a request follow one another. Of other
// parts of lines only the next iteration's are known.
func Ahead(w *trace.Warp, touch func(a *trace.Access, line uint64, sectors uint8)) {
	for i := range w.Steps {
		o, ok := LeftOutAt(w, int32(i))
		if !ok {
			continue
		}
		for k := range o.N {
			a := &w.Accesses[o.From+k]
			if r, ok := o.run(w, k); ok {
				r.ahead(min(o.Repeat, far), func(line uint64, sectors uint8) { touch(a, line, sectors) })
				continue
			}
			for n := range int32(a.NLines) {
				l, step, whole := o.Line(w, k, n)
				if !o.steady(w, k, n, step) {
					continue
				}
				further := min(o.Repeat, far)
				if !whole {
					further = 1
				}
				for it := uint64(1); step != 0 && it <= uint64(further); it++ {
					touch(a, l.Addr+it*step, l.Sectors)
				}
			}
		}
	}
}

// LeftOut is a place where sampling left iterations of a loop out, with the accesses
// of the two iterations recorded just before it, which are alike.
type LeftOut struct {
	Repeat       int64 // iterations left out
	before, From int32 // where the last iteration's accesses begin, and those of the one before
	first        int32 // of the one before that, -1 where none like them is recorded
	N            int32 // of each
}

// LeftOutAt is what was left out at a step. False: nothing, or what comes before
// does not tell what.
func LeftOutAt(w *trace.Warp, step int32) (o LeftOut, ok bool) {
	s := &w.Steps[step]
	if s.Repeat == 0 {
		return o, false
	}
	last := iteration(w, s.Block, int(step))
	before := iteration(w, s.Block, last)
	if before < 0 || last-before != int(step)-last {
		return o, false
	}
	o = LeftOut{Repeat: s.Repeat, before: w.Steps[before].Access, From: w.Steps[last].Access, first: -1}
	o.N = s.Access - o.From
	if first := iteration(w, s.Block, before); first >= 0 && w.Steps[before].Access-w.Steps[first].Access == o.N {
		o.first = w.Steps[first].Access
	}
	return o, o.N == o.From-o.before
}

// Line is the n-th line of the k-th access of the last iteration recorded, and how many
// lines further on each iteration goes; whole says that it goes on by whole lines. The
// step is 0 where it stays, or where it is not known.
func (o *LeftOut) Line(w *trace.Warp, k, n int32) (l *trace.Line, step uint64, whole bool) {
	before, a := &w.Accesses[o.before+k], &w.Accesses[o.From+k]
	l = &w.Lines[a.First+n]
	if before.PC != a.PC || before.NLines != a.NLines {
		return l, 0, false
	}
	p := &w.Lines[before.First+n]
	return l, l.Addr - p.Addr, l.Sectors == p.Sectors
}

// steady reports whether the n-th line of the k-th access came by the same step to the iteration
// before the last, too, as far as one before that is recorded.
func (o *LeftOut) steady(w *trace.Warp, k, n int32, step uint64) bool {
	if o.first < 0 {
		return true
	}
	first, before := &w.Accesses[o.first+k], &w.Accesses[o.before+k]
	return first.PC != before.PC || first.NLines != before.NLines || w.Lines[before.First+n].Addr-w.Lines[first.First+n].Addr == step
}

// Touch reports the lines that the iterations left out touch, iteration by iteration, of
// the accesses that are kept: of the last iterations, as many as room lines hold. Lines that
// each iteration comes back to are reported once, with the last, as are those of which it is
// not known where they go on.
func (o *LeftOut) Touch(w *trace.Warp, room int64, kept func(*trace.Access) bool, touch func(a *trace.Access, line uint64)) {
	each := int64(0)
	for k := range o.N {
		if a := &w.Accesses[o.From+k]; kept(a) {
			each += int64(a.NLines)
		}
	}
	if each == 0 {
		return
	}
	for it := max(o.Repeat-room/each, 0); it < o.Repeat; it++ {
		for k := range o.N {
			a := &w.Accesses[o.From+k]
			if !kept(a) {
				continue
			}
			for n := range int32(a.NLines) {
				l, step, _ := o.Line(w, k, n)
				if step != 0 || it == o.Repeat-1 {
					touch(a, l.Addr+uint64(it+1)*step)
				}
			}
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
