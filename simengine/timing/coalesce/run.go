package coalesce

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/trace"
)

// run is sectors that follow one another, counted from the device's first: those that a
// request of the last iteration recorded touches, and how far they move on.
type run struct {
	from, to int64 // without to
	twice    int64 // sectors that two iterations move on by
}

// run is the k-th access of the last iteration, where its sectors follow one another and move on
// evenly, by parts of lines: rows of a picture whose length is no multiple of a line's. False
// where they do not, and where they move on by whole lines or stay.
func (o *LeftOut) run(w *trace.Warp, k int32) (run, bool) {
	last, ok := runOf(w, o.From+k)
	before, same := runOf(w, o.before+k)
	if !ok || !same || w.Accesses[o.From+k].PC != w.Accesses[o.before+k].PC {
		return run{}, false
	}
	step := last.from - before.from
	last.twice = 2 * step
	if o.first >= 0 {
		first, same := runOf(w, o.first+k)
		if d := step - (before.from - first.from); !same || d < -1 || d > 1 {
			return run{}, false
		}
		last.twice = last.from - first.from
	}
	return last, last.twice%(2*lineSectors) != 0
}

// ahead reports the lines of so many iterations to come, and the sectors of each, as far as
// there are any: a thread's own memory begins at 0.
func (r run) ahead(iterations int64, touch func(line uint64, sectors uint8)) {
	for it := int64(1); it <= iterations; it++ {
		by := (it*r.twice + it&1) >> 1
		if r.from+by < 0 {
			return
		}
		for from, to := r.from+by, r.to+by; from < to; {
			line := from / lineSectors
			end := min(to, (line+1)*lineSectors)
			mask := uint8(1)<<(end-line*lineSectors) - uint8(1)<<(from-line*lineSectors)
			touch(uint64(line), mask)
			from = end
		}
	}
}

// lineSectors is the sectors of a line.
const lineSectors = lineBytes / sectorBytes

// runOf is the sectors of an access, false where they do not follow one another.
func runOf(w *trace.Warp, access int32) (r run, ok bool) {
	a := &w.Accesses[access]
	if a.NLines == 0 { // of shared or constant memory
		return r, false
	}
	n := int64(0)
	for i, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
		from := int64(l.Addr)*lineSectors + int64(bits.TrailingZeros8(l.Sectors))
		to := int64(l.Addr)*lineSectors + int64(bits.Len8(l.Sectors))
		if i == 0 {
			r = run{from: from, to: to}
		}
		r.from, r.to = min(r.from, from), max(r.to, to)
		n += int64(bits.OnesCount8(l.Sectors))
	}
	return r, n == r.to-r.from
}
