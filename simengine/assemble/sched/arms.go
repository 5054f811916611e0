package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// The order of what branches were.
//
// ptxas orders a block for few registers before it makes guarded instructions of branches: what follows a
// branch then stays behind what was before it, however many registers wait. Latencies are looked at later, and
// may move it.
//
// Evidence, H100 (bmm_bias_gelu of h100-2026-11-26-triton-wgmma-a, 128 elements a thread through erf(), each with a
// branch): ptxas keeps all sums until the last erf() is known, 160 registers where 111 would do, and spills where 189
// would do.

// keepArms adds to a block's graph, in PTX for one architecture, that instructions behind a branch of the PTX, or
// behind where two paths met, stay behind those before.
func keepArms(f *mir.Func, g *dag) {
	if !f.Target.Specific {
		return
	}
	b, k := &dagBuilder{g: g, f: f}, f.Kernel
	first, end := int32(0), 0 // the first instruction of the present part; where the PTX block met last ends
	for i := range int32(len(g.insts)) {
		if pc := int(g.insts[i].PC); pc >= 0 && pc >= end {
			at := &k.Blocks[k.BlockOf(pc)]
			if end > 0 && !(len(at.Preds) == 1 && len(k.Blocks[at.Preds[0]].Succs) == 1) {
				for j := first; j < i; j++ {
					b.edge(j, i, 0)
				}
				first = i
			}
			end = at.End
		}
		if first > 0 {
			b.edge(first, i, 0)
		}
	}
}
