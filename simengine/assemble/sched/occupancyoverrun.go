package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// OverrunSlack is for how many fewer registers than the budget a program is ordered
// in vain before one that overshoots takes more.
const OverrunSlack = 2

// OverrunsOccupancy says of a program without a cap, ordered for its budget, whether it takes
// more registers rather than have fewer loads under way: where the block with most of
// them live reads vectors of 16 bytes from global memory, whose aligned groups of four
// leave holes. ptxas 13.0.88 does for sm_90, with most of such programs: of 22 whose order for
// 32 registers takes more, as the one for 31 does, 19 take 34 to 45, and of 24 at higher
// steps, 13; of 115 without such loads at 32, 16 (PTX of nvcc's of deploy/calibrate/validation).
// For sm_80, on which it was not found, the occupancy step is right of 82.6 % of programs with it and of 81.3 %
// without.
func OverrunsOccupancy(f *mir.Func, l *mir.Layout, dags []*dag, s *Scratch) bool {
	most, crowded := -1, -1
	for _, b := range f.Order {
		if dags[b] == nil {
			continue
		}
		if n := orderPressure(f, b, &dags[b].ops, l.Blocks[b].Order, dags[b].bounds.out, s.general, s); n > most {
			most, crowded = n, b
		}
	}
	if crowded < 0 {
		return false
	}
	for i := range f.Blocks[crowded].Insts {
		if in := &f.Blocks[crowded].Insts[i]; in.Op == mir.OpLDG && in.Dst[0].N == 4 {
			return true
		}
	}
	return false
}
