package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// asyncGroups are the cp.async groups of a warp, which are counted for the warp as a whole.
type asyncGroups struct {
	committed int32
	done      int32    // groups below this have been waited for
	at        []uint32 // by group: when it was waited for
}

func (g *asyncGroups) reset() { *g = asyncGroups{at: g.at[:0]} }

// wait is cp.async.wait_group or wait_all at a time.
func (g *asyncGroups) wait(in *ir.Instr, now uint32) {
	done := g.committed
	if in.Mod&ir.ModAll != 0 {
		g.committed++ // what was not committed is waited for too
		done = g.committed
	} else if len(in.Src) > 0 {
		done -= int32(min(in.Src[0].Imm, uint64(g.committed)))
	}
	for int32(len(g.at)) < done {
		g.at = append(g.at, now)
	}
	g.done = max(g.done, done)
}

// copyFilter is what a raceFilter knows of cp.async. A copy is settled for its own warp when that has waited for its
// group, and for the others from the next barrier of all warps on. Until then, nobody else may access where it goes.
type copyFilter struct {
	shift  uint // of the bytes of the smallest copy
	last   []copyTo
	run    uint32 // of the CTA, which tells its copies from earlier ones'
	phase  uint32
	groups [MaxThreads / WarpSize]asyncGroups
}

// copyTo is the last copy to a place.
type copyTo struct {
	run   uint32
	warp  int32
	group int32
}

// reset begins a CTA. granule is the size of the smallest copy, bytes; 0: there are none.
func (f *copyFilter) reset(size, granule int) {
	f.last = f.last[:0]
	if granule == 0 {
		return
	}
	f.shift = uint(bits.TrailingZeros(uint(granule)))
	if n := size>>f.shift + 1; cap(f.last) < n {
		f.last = make([]copyTo, n)
	} else {
		f.last = f.last[:n]
	}
	f.run++
	f.phase = 0
	for i := range f.groups {
		f.groups[i].reset()
	}
}

// settled reports whether all copies to bytes lo to hi are settled for a warp, or lanes of one that diverged.
func (f *copyFilter) settled(by warpTag, lo, hi uint64) bool {
	if len(f.last) == 0 {
		return true
	}
	for i := lo >> f.shift; i <= hi>>f.shift; i++ {
		c := &f.last[i]
		if c.run != f.run {
			continue
		}
		g := &f.groups[c.warp]
		if c.group >= g.done || by != warpTag(c.warp+1) && g.at[c.group] >= f.phase {
			return false
		}
	}
	return true
}

// passesCopies notes a cp.async to shared memory by the lanes in mask. It reports whether nobody has accessed where it
// goes in this phase but the warp itself, and no copy there is unsettled.
func (r *Runner) passesCopies(w *warp, width int, mask uint32) bool {
	p, by, last := r.filter, w.number(), uint64(width-1)
	f := &p.copies
	to := copyTo{f.run, int32(w.id), f.groups[w.id].committed}
	for m := mask; m != 0; m &= m - 1 {
		lo := r.addr[bits.TrailingZeros32(m)&(WarpSize-1)]
		hi := lo + last
		if !f.settled(by, lo, hi) {
			return false
		}
		for i := lo >> segmentBits; i <= hi>>segmentBits; i++ {
			if !p.readers[i].alone(by) || !p.writers[i].alone(by) {
				return false
			}
		}
		for i := lo >> f.shift; i <= hi>>f.shift; i++ {
			f.last[i] = to
		}
	}
	return true
}
