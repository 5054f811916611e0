package sched

import (
	"slices"
	"testing"
)

// TestMemosStand: within limits that come down as fit lowers them, an order
// taken from a run before is the one that running again gives.
func TestMemosStand(t *testing.T) {
	asked, ran := 0, 0
	for _, ptx := range []string{"copy", "sgemm"} {
		f := catalogued(t, ptx, 0.3)
		s := new(Scratch).Grow(f)
		dags := DAGs(f, s)
		for _, b := range f.Order {
			g := dags[b]
			if g == nil {
				continue
			}
			for budget := g.pressure + 4; budget > max(g.pressure-20, 8); budget-- {
				for _, slack := range [...]int{0, 2, 4, 8, 16} {
					abandonAt := max(budget+1, g.pressure)
					order, pressure := list(f, b, limits{budget, budget - slack, abandonAt}, g, s)
					l := lister{f: f, g: g, s: s, limits: limits{budget, budget - slack, abandonAt}}
					want := l.run(b)
					if !slices.Equal(order, want) {
						t.Fatalf("%s block %d, budget %d, slack %d: another order than without the runs before", ptx, b, budget, slack)
					}
					if want != nil && pressure != orderPressure(f, b, &g.ops, want, g.bounds.out, s.general, s) {
						t.Fatalf("%s block %d, budget %d, slack %d: pressure %d", ptx, b, budget, slack, pressure)
					}
					asked++
				}
			}
			ran += len(g.memos)
		}
	}
	if ran >= asked {
		t.Errorf("%d runs for %d orders: none was taken over", ran, asked)
	}
	t.Logf("%d runs for %d orders", ran, asked)
}
