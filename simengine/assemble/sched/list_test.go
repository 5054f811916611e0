package sched

import (
	"math"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// listed is the order that the lister is to find, by its definition: every
// instruction that may issue is looked at each time, and what it would do to the
// live registers is counted anew.
func listByDefinition(f *mir.Func, b, budget, aheadBudget, abandonAt int, g *dag, s *Scratch) []int32 {
	n := int32(len(g.insts))
	u, r := findWordUses(f, b, g, s), g.rank(s)
	st, live := u.start, g.bounds.in
	npreds, earliest := slices.Clone(g.npreds), make([]int32, n)
	g.ranked = r
	l := lister{f: f, g: g, s: s}
	cycle, next := int32(0), int32(0)
	var out []int32
	fits := func(i int32, limit int) bool {
		gain, d := live+int(u.gain[i]), int(u.deltaAt(i, &st))
		return u.gain[i] == 0 || gain <= limit || live+int(u.least[i]) <= limit && (d <= 0 || live+d <= limit)
	}
	for int32(len(out)) < n {
		best, at := int32(-1), int32(math.MaxInt32)
		for _, i := range r.order {
			limit := aheadBudget
			if i == next {
				limit = budget
			}
			t := max(earliest[i], l.busy[r.queue[i]], cycle)
			if npreds[i] == 0 && !slices.Contains(out, i) && t < at && fits(i, limit) {
				best, at = i, t
			}
		}
		if best < 0 {
			best = next
			at = max(earliest[best], l.busy[r.queue[best]], cycle)
		}
		cycle = at
		l.occupy(best, cycle)
		live += issueWords(u, &st, best)
		if live >= abandonAt {
			return nil
		}
		out = append(out, best)
		for next < n && slices.Contains(out, next) {
			next++
		}
		release(g, best, cycle, npreds, earliest)
		cycle++
	}
	return out
}

// issueWords issues an instruction as far as words go, and returns by how much that changes the live registers.
func issueWords(u *wordUses, st *wordState, i int32) (change int) {
	for _, k := range part(u.reads, u.readEnd, i) {
		st.sum[k] -= int64(i)
		if st.remain[k]--; st.remain[k] == 0 && st.live[k] {
			st.live[k] = false
			change--
		}
	}
	for _, k := range part(u.writes, u.writeEnd, i) {
		if st.remain[k] > 0 {
			st.live[k] = true
			change++
		}
	}
	return change
}

// release has those that wait for an instruction wait no longer than for its result.
func release(g *dag, i, cycle int32, npreds, earliest []int32) {
	for k := g.head[i]; k >= 0; k = g.edges[k].next {
		e := &g.edges[k]
		npreds[e.to]--
		earliest[e.to] = max(earliest[e.to], cycle+e.lat)
	}
}

// The lister, which keeps the ready instructions apart and counts registers as they
// come and go, gives the order that looking at all of them gives.
func TestLister(t *testing.T) {
	orders := 0
	for _, ptx := range []string{"reduce", "blur", "fat_threads", "nbody"} {
		f := catalogued(t, ptx, 0.5)
		s := new(Scratch).Grow(f)
		for b, g := range DAGs(f, s) {
			if g == nil || len(g.insts) > 700 {
				continue
			}
			for budget := g.pressure + 2; budget > max(g.pressure-12, 8); budget -= 3 {
				for _, slack := range [...]int{0, 4} {
					l := lister{f: f, g: g, s: s, limits: limits{budget, budget - slack, budget + 8}}
					got, want := l.run(b), listByDefinition(f, b, budget, budget-slack, budget+8, g, s)
					if !slices.Equal(got, want) {
						t.Fatalf("%s block %d, budget %d, slack %d: order\n%v\nwant\n%v", ptx, b, budget, slack, got, want)
					}
					orders++
				}
			}
		}
	}
	if orders < 50 {
		t.Errorf("only %d orders compared", orders)
	}
}
