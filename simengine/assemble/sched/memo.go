package sched

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
)

// memo is a run of the lister over a block, and for which other limits it
// would have gone the same way: for lower ones that still let in all that it
// let in, as what it turned away is turned away all the more.
type memo struct {
	budget, greedy       int
	neededNow, neededAny int     // least budget and least greed for that
	most                 int     // registers live at most, as the lister counts
	order                []int32 // nil when given up, for hopeless
	hopeless             int
	pressure             int // of order
}

// validFor says whether a run within other limits would be this one.
func (x *memo) validFor(budget, greedy, hopeless int) bool {
	return x.neededNow <= budget && budget <= x.budget && x.neededAny <= greedy && greedy <= x.greedy && (x.order != nil || hopeless <= x.hopeless)
}

// list runs the lister over a block unless a run before tells the outcome, and
// returns the order and its pressure, nil when it is hopeless.
func list(f *mir.Func, b, budget, greedy, hopeless int, g *dag, s *Scratch) ([]int32, int) {
	for i := range g.memos {
		if x := &g.memos[i]; x.validFor(budget, greedy, hopeless) {
			if x.most >= hopeless {
				return nil, 0
			}
			return x.order, x.pressure
		}
	}
	l := lister{f: f, g: g, s: s, budget: budget, greedy: greedy, hopeless: hopeless}
	order := l.run(b)
	x := memo{budget: budget, greedy: greedy, neededNow: l.neededNow, neededAny: l.neededAny, most: l.most, order: order, hopeless: hopeless}
	if order != nil {
		x.pressure = orderPressure(f, b, &g.ops, order, g.bounds.out, s.general, s)
	}
	g.memos = append(g.memos, x)
	return order, x.pressure
}
