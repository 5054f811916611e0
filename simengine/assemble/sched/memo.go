package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Runs of the list scheduler that are not repeated.
//
// A run under lower limits takes the same decisions as long as the limits admit everything that it
// admitted; what it turned away is turned away all the more.

// memo is a run of the list scheduler over a block and the range of limits that it stands for.
type memo struct {
	limits
	leastBudget, leastAhead int     // least budget and aheadBudget that admit what it admitted
	most                    int     // registers live at most, as the scheduler counts them
	order                   []int32 // nil: the run was abandoned
	pressure                int     // of order
}

// validFor reports whether a run under other limits takes the same decisions.
func (x *memo) validFor(m limits) bool {
	return x.leastBudget <= m.budget && m.budget <= x.budget && x.leastAhead <= m.aheadBudget && m.aheadBudget <= x.aheadBudget && (x.order != nil || m.abandonAt <= x.abandonAt)
}

// list returns the order that the list scheduler finds for block b, and its pressure. The order is
// nil where its pressure reaches m.abandonAt.
func list(f *mir.Func, b int, m limits, g *dag, s *Scratch) ([]int32, int) {
	for i := range g.memos {
		if x := &g.memos[i]; x.validFor(m) {
			if x.most >= m.abandonAt {
				return nil, 0
			}
			return x.order, x.pressure
		}
	}
	l := lister{f: f, g: g, s: s, limits: m}
	order := l.run(b)
	x := memo{limits: m, leastBudget: l.leastBudget, leastAhead: l.leastAhead, most: l.most, order: order}
	if order != nil {
		x.pressure = orderPressure(f, b, &g.ops, order, g.bounds.out, s.general, s)
	}
	g.memos = append(g.memos, x)
	return order, x.pressure
}
