package regalloc

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Accumulators of warpgroups' products lie in adjacent registers, the first from R24 on, at a multiple
// of eight.
//
// Evidence, ptxas corpus (shared launches, 12.8 and 13.0, sm_90a): all products of 461 programs, also
// where that spills. Those that need fewer than 24 other registers take 26 more than they have
// accumulators.
const accumulatorStep = 8

// placeGroup gives the values of a group the lowest free registers.
func (l *Allocator) placeGroup(g []vreg.Value, ranges []liveRange, assigned []int16) {
	r := l.freeForGroup(g, ranges, mir.FirstAccumulator)
	k := &l.s.files[vreg.General]
	for _, v := range g {
		assigned[v] = int16(r)
		for w, spans := range ranges[v].words() {
			k.take(r+w, spans)
		}
		r += int(l.f.Values[v].Words)
	}
}

// freeForGroup is the first register from r on, in steps, where all values of a group are free.
func (l *Allocator) freeForGroup(g []vreg.Value, ranges []liveRange, r int) int {
	k := &l.s.files[vreg.General]
search:
	for ; ; r += accumulatorStep {
		at := r
		for _, v := range g {
			if !k.allFree(at, ranges[v].words()) {
				continue search
			}
			at += int(l.f.Values[v].Words)
		}
		return r
	}
}
