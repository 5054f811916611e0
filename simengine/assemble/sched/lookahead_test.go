package sched

import (
	"math"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// lookaheadByDefinition is the look-ahead order by its definition: what going ahead does is found
// by going through the rest in program order each time.
func lookaheadByDefinition(f *mir.Func, b, limit int, g *dag, s *Scratch) []int32 {
	n := int32(len(g.insts))
	u := findWordUses(f, b, g, s)
	g.ranked = g.rank(s)
	l := lister{f: f, g: g, s: s}
	npreds, earliest := slices.Clone(g.npreds), make([]int32, n)
	var out []int32
	keeps := func(i int32) bool {
		var st wordState
		st.set(&u.start)
		live, most := g.bounds.in, 0
		for _, j := range out {
			live += issueWords(u, &st, j)
		}
		live += issueWords(u, &st, i)
		most = live
		for j := range n {
			if j != i && !slices.Contains(out, j) {
				live += issueWords(u, &st, j)
				most = max(most, live)
			}
		}
		return most <= limit
	}
	cycle := int32(0)
	for int32(len(out)) < n {
		best, at, first := int32(-1), int32(math.MaxInt32), true
		for i := range n {
			if slices.Contains(out, i) {
				continue
			}
			t := max(earliest[i], l.busy[g.ranked.queue[i]], cycle)
			if npreds[i] == 0 && t < at && (first || keeps(i)) {
				best, at = i, t
			}
			first = false
		}
		cycle = at
		l.occupy(best, cycle)
		out = append(out, best)
		release(g, best, cycle, npreds, earliest)
		cycle++
	}
	return out
}

// The look-ahead order, which keeps count of what going ahead does, is the one by definition,
// also where it is taken from a run within a higher limit, and keeps within its limit.
func TestLookahead(t *testing.T) {
	orders, reused := 0, 0
	for _, ptx := range []string{"reduce", "blur", "fat_threads", "copy"} {
		f := catalogued(t, ptx, 0.5)
		s := new(Scratch).Grow(f)
		for b, g := range DAGs(f, s) {
			if g == nil || len(g.insts) > 250 {
				continue
			}
			for limit := g.pressure + 8; limit >= g.pressure; limit-- {
				runs := len(g.lookaheadMemos)
				got, pressure := listLookahead(f, b, limit, g, s)
				if want := lookaheadByDefinition(f, b, limit, g, s); !slices.Equal(got, want) {
					t.Fatalf("%s block %d, limit %d: order\n%v\nwant\n%v", ptx, b, limit, got, want)
				}
				if pressure > limit {
					t.Errorf("%s block %d: %d registers live, want at most %d", ptx, b, pressure, limit)
				}
				orders++
				if len(g.lookaheadMemos) == runs {
					reused++
				}
			}
		}
	}
	if orders < 100 || reused == 0 {
		t.Errorf("%d orders compared, %d of them taken over from other limits", orders, reused)
	}
}

// The more registers a block that gathers has beside those it needs, the more loads are
// under way each time it waits for one: with none four, and one more for every two. With
// the longest chains first, as far as a lower limit lets them, it would be three to five.
func TestLoadsAreUnderWayInWhatIsLeft(t *testing.T) {
	f := chosen(t, asmtest.Gathers(12))
	s := new(Scratch).Grow(f)
	g := DAGs(f, s)[0]
	for spare := range 8 {
		way, waits, sum := map[vreg.Value]bool{}, 0, 0
		for _, i := range scheduleBlock(f, 0, g.pressure+spare, 0, g, s) {
			in := &g.insts[i]
			switch in.Op {
			case mir.OpBAR:
				clear(way)
			case mir.OpLDG:
				way[in.Dst[0].Value] = true
			case mir.OpFFMA:
				waits++
				sum += len(way)
				in.EachRead(func(v vreg.Value, _ uint8) { delete(way, v) })
			}
		}
		if want := 4 + float64(spare)/2; float64(sum) < want*float64(waits) {
			t.Errorf("%d registers left: %.1f loads under way, want %.1f", spare, float64(sum)/float64(waits), want)
		}
	}
}
