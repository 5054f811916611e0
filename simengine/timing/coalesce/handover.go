package coalesce

import (
	"cmp"
	"slices"

	"github.com/warptune/warptune/simengine/trace"
)

// Place implements exec.HandoverObserver.
func (r *Recorder) Place(warp int) int { return len(r.cta.Warps[warp].Steps) - 1 }

// Handover implements exec.HandoverObserver.
func (r *Recorder) Handover(h trace.Handover) { r.handovers = append(r.handovers, h) }

// placed is an operation at its place.
type placed struct {
	trace.Place
	role    trace.WordRole
	barrier uint32
}

// mostHandovers bounds the writes of a CTA that waits are recorded for.
const mostHandovers = 1 << 13

// handOver puts waits by words of shared memory into the trace, as operations on barriers of one phase each: one for each
// write that ended waits.
func (r *Recorder) handOver() {
	if len(r.handovers) == 0 {
		return
	}
	number, known := map[trace.Place]uint32{}, map[placed]bool{}
	byWarp := make([][]placed, len(r.cta.Warps))
	add := func(at trace.Place, role trace.WordRole, n uint32) {
		p := placed{at, role, trace.WordBarrier + n}
		if at.Warp >= 0 && at.Step >= 0 && !known[p] {
			known[p] = true
			byWarp[at.Warp] = append(byWarp[at.Warp], p)
		}
	}
	for _, h := range r.handovers {
		n, ok := number[h.Write]
		if !ok {
			if n = uint32(len(number)); n >= mostHandovers {
				break
			}
			number[h.Write] = n
		}
		add(h.Write, trace.WordWrite, n)
		add(h.Arrival, trace.WordArrival, n)
		add(h.Look, trace.WordWait, n)
		if h.Arrival.Warp >= 0 {
			add(h.Write, trace.WordWait, n)
		}
	}
	r.handovers = r.handovers[:0]
	for i := range byWarp {
		place(&r.cta.Warps[i], byWarp[i])
	}
}

// place inserts operations at their steps.
func place(w *trace.Warp, ops []placed) {
	if len(ops) == 0 {
		return
	}
	slices.SortStableFunc(ops, func(a, b placed) int { return cmp.Compare(a.Step, b.Step) })
	old, before := w.Asyncs, int32(0)
	w.Asyncs = make([]trace.Async, 0, len(old)+len(ops))
	for i := range w.Steps {
		w.Asyncs = append(w.Asyncs, old[before:w.Steps[i].Async]...)
		before = w.Steps[i].Async
		w.Steps[i].Async = int32(len(w.Asyncs))
		for len(ops) > 0 && int(ops[0].Step) == i {
			o := &ops[0]
			w.Asyncs = append(w.Asyncs, trace.Async{PC: o.PC, Barrier: o.barrier, CTA: -1, Lanes: 1, Count: 1, Word: o.role})
			ops = ops[1:]
		}
	}
	w.Asyncs = append(w.Asyncs, old[before:]...)
}
