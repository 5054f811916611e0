package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// The order of asynchronous instructions.
//
// Warpgroup MMAs, bulk copies and operations on mbarriers keep their order among each other
// and against barriers and fences. Instructions on accumulators do not move across the fences and
// waits of products: what sets them stays before WARPGROUP.ARRIVE, what reads them stays after
// WARPGROUP.DEPBAR.

// asyncOrder is what later instructions of a block are ordered against.
type asyncOrder struct {
	last    int32                   // last asynchronous instruction, -1 none
	group   int32                   // last fence or wait of products, -1 none
	touched []int32                 // instructions on accumulators since
	recent  [descriptorsAhead]int32 // the latest products, in a ring
	count   int                     // products so far
}

// descriptorsAhead is how many products ahead descriptors are computed. ptxas has four to eight ready, of four
// uniform registers each (ptxas corpus, shared launches, sm_90a).
const descriptorsAhead = 6

// asyncOrder adds the dependences of instruction i that asynchronous instructions ask for.
func (b *dagBuilder) asyncOrder(insts []mir.Inst, i int32) {
	x := &b.async
	in := &insts[i]
	if n := x.count - descriptorsAhead; n >= 0 && b.writesDescriptor(in) {
		b.edge(x.recent[n%descriptorsAhead], i, 1)
	}
	switch in.Op.Class() {
	case mir.Wgmma, mir.Bulk, mir.Mbarrier, mir.MbarWait:
		b.edge(x.last, i, 1)
		b.edge(b.barriers, i, 0)
		if in.Op.Class() != mir.Wgmma { // they may signal what was done to memory before them
			for _, m := range b.memory {
				b.edge(m, i, 0)
			}
			for _, m := range b.loads {
				b.edge(m, i, 0)
			}
		}
		if x.last = i; in.Op.Class() == mir.Wgmma {
			x.recent[x.count%descriptorsAhead] = i
			x.count++
		}
		return
	}
	switch {
	case in.Op.GroupsProducts():
		for _, t := range x.touched {
			b.edge(t, i, 0)
		}
		x.touched, x.group = x.touched[:0], i
	case b.f.Accumulates(&b.g.ops, i):
		b.edge(x.group, i, 1)
		x.touched = append(x.touched, i)
	}
}

// writesDescriptor reports whether an instruction writes words of a uniform value of several.
func (b *dagBuilder) writesDescriptor(in *mir.Inst) bool {
	d := &in.Dst[0]
	return d.Kind == mir.ArgValue && b.f.Values[d.Value].File == vreg.Uniform && b.f.Values[d.Value].Words == 4
}
