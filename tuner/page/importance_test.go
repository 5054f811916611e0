package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// The sums over boxes are the analysis of variance of what a tree predicts at every point of the grid.
func TestANOVAIsThatOfTheGrid(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	sizes := []int{4, 3, 5}
	var points [][]uint16
	var y []float64
	for range 40 {
		p := []uint16{uint16(random.IntN(4)), uint16(random.IntN(3)), uint16(random.IntN(5))}
		points, y = append(points, p), append(y, float64(p[0])+2*float64(p[1])*float64(p[2])+random.Float64())
	}
	f := newForest(random, sizes, points, y)
	f.trees = f.trees[:1]
	got := f.anova()

	value := func(a, b, c int) float64 { return predict(f.trees[0], []uint16{uint16(a), uint16(b), uint16(c)}) }
	mean := func(keep func(x [3]int) bool) (m float64) {
		n := 0.0
		for a := range 4 {
			for b := range 3 {
				for c := range 5 {
					if keep([3]int{a, b, c}) {
						m += value(a, b, c)
						n++
					}
				}
			}
		}
		return m / n
	}
	whole := mean(func([3]int) bool { return true })
	variance := 0.0
	for a := range 4 {
		for b := range 3 {
			for c := range 5 {
				variance += math.Pow(value(a, b, c)-whole, 2) / 60
			}
		}
	}
	single := func(i, v int) float64 { return mean(func(x [3]int) bool { return x[i] == v }) }
	for i := range sizes {
		want := 0.0
		for v := range sizes[i] {
			want += math.Pow(single(i, v)-whole, 2) / float64(sizes[i]) / variance
			if m := single(i, v); math.Abs(got.mean[i][v]-m) > 1e-9 {
				t.Errorf("seed %d: mean of %d at %d is %g, want %g", seed, i, v, got.mean[i][v], m)
			}
		}
		if math.Abs(got.main[i]-want) > 1e-9 {
			t.Errorf("seed %d: main effect %d is %g, want %g", seed, i, got.main[i], want)
		}
		for j := i + 1; j < len(sizes); j++ {
			want := 0.0
			for v := range sizes[i] {
				for w := range sizes[j] {
					m := mean(func(x [3]int) bool { return x[i] == v && x[j] == w })
					want += math.Pow(m-single(i, v)-single(j, w)+whole, 2) / float64(sizes[i]*sizes[j]) / variance
				}
			}
			if math.Abs(got.pair[i][j]-want) > 1e-9 {
				t.Errorf("seed %d: interaction %d,%d is %g, want %g", seed, i, j, got.pair[i][j], want)
			}
		}
	}
}

// full is the table of a whole grid of two values of A, four of B, three of C and one of D, whose time is a function.
func full(times func(a, b, c float64) float64) *rows {
	t := newRows("x")
	batch := &Batch{Names: []string{"A", "B", "C", "D"}}
	for a := range int64(2) {
		for b := range int64(4) {
			for c := range int64(3) {
				n := int64(len(batch.Results))
				batch.Results = append(batch.Results, Result{
					Result: tuner.Result{Seq: n, Index: n, Outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: times(float64(a), float64(b), float64(c))}},
					Values: search.Ints(a, 8<<b, c, 7), Level: "cycle",
				})
			}
		}
	}
	t.add(batch)
	return t
}

// Parameters matter as they do in the function that made the times: one that does nothing has no share, an effect of one
// parameter is no interaction, and an interaction is no effect of one.
func TestImportance(t *testing.T) {
	m := full(func(_, b, _ float64) float64 { return math.Exp(b) }).importance("s", "cycle")
	if len(m.Main) != 3 || m.Main[0].Parameter != "B" || m.Main[0].VarianceShare < 0.9 || *m.Fit < 0.9 {
		t.Errorf("of B alone: %+v, fit %g", m.Main, *m.Fit)
	}
	for i, want := range []float64{1, math.E, math.E * math.E, math.E * math.E * math.E} {
		e := m.Main[0]
		if e.Values[i] != search.OfInt(8<<i) || e.BestTimeUS[i] != want || e.Evaluated[i] != 6 || math.Abs(e.MeanTimeUS[i]/want-1) > 0.6 {
			t.Errorf("at %v: best %g of %d, mean %g, want %g", e.Values[i], e.BestTimeUS[i], e.Evaluated[i], e.MeanTimeUS[i], want)
		}
	}
	m = full(func(a, _, c float64) float64 { return math.Exp(3 * math.Abs(a-c/2)) }).importance("s", "cycle")
	if p := m.Interactions[0]; p.Parameters != [2]string{"A", "C"} || p.VarianceShare < 0.4 {
		t.Errorf("of A against C: %+v, %+v", m.Interactions, m.Main)
	}
	total := m.RestShare
	for _, e := range m.Main {
		total += e.VarianceShare
	}
	for _, e := range m.Interactions {
		total += e.VarianceShare
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("the shares are %g in all", total)
	}
	if few := full(func(a, b, c float64) float64 { return 1 }); len(few.importance("s", "model").Main) != 0 {
		t.Error("of no configuration of the level there is an importance")
	}
}

// Ties with the best stand first; the first of each group is its fastest; the first row of a group does not tie with the
// group before.
func TestRanking(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 2))
	table := full(func(float64, float64, float64) float64 { return 1 + math.Floor(8*random.Float64())/50 })
	for i := range table.sampling {
		table.sampling[i] = 0.05 * random.Float64()
	}
	d := &Device{Ties: func(over float64, sampling ...float64) bool {
		return over <= 1+math.Hypot(0.02, math.Hypot(sampling[0], sampling[1]))
	}}
	k := table.ranking("s", "cycle", d, 0)
	tie := func(a, b int) bool {
		return d.Ties(table.time[b]/table.time[a], table.sampling[a], table.sampling[b])
	}
	seen := map[int]bool{}
	for i, row := range k.Order {
		seen[row] = true
		if best := k.Order[0]; tie(best, row) != (i < k.Ties) || table.time[row] < table.time[best] {
			t.Errorf("seed %d: place %d ties: %v, of %d ties", seed, i, tie(best, row), k.Ties)
		}
	}
	if len(seen) != 24 || k.Groups[0] != 0 || len(k.Groups) > 1 && k.Groups[1] != k.Ties {
		t.Errorf("seed %d: %d rows, groups %v, %d ties", seed, len(seen), k.Groups, k.Ties)
	}
	for g := 1; g < len(k.Groups); g++ {
		end := len(k.Order)
		if g+1 < len(k.Groups) {
			end = k.Groups[g+1]
			if tie(k.Order[k.Groups[g]], k.Order[end]) {
				t.Errorf("seed %d: the first of group %d ties with the group before", seed, g+1)
			}
		}
		for _, row := range k.Order[k.Groups[g]:end] {
			if !tie(k.Order[k.Groups[g]], row) {
				t.Errorf("seed %d: group %d has a row that does not tie", seed, g)
			}
		}
	}
}

// A table needs no metric that it does not ask for: of each one left out, some column shows it.
func TestTableAsksForItsMetrics(t *testing.T) {
	outcome := func(without string) Result {
		r := Result{Result: tuner.Result{Outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: 1, Metrics: map[string]float64{}}}}
		for i, name := range tableMetrics {
			if name != without {
				r.Outcome.Metrics[name] = float64(i + 1)
			}
		}
		return r
	}
	shown := func(r Result) (text string) {
		for _, c := range valueColumns() {
			if c.number != nil {
				v := c.number(&r)
				text += fmt.Sprintf("%s %v\n", c.Name, v)
			}
		}
		return text
	}
	whole := outcome("")
	all := shown(whole)
	for _, name := range tableMetrics {
		if shown(outcome(name)) == all {
			t.Errorf("%s is asked for, and no column has it", name)
		}
	}
	for _, c := range valueColumns() {
		v := 1.0
		if c.number != nil {
			v = c.number(&whole)
		}
		if unknown := v != v; unknown && c.Name != "floor_us" && c.Name != "checked_ctas" && c.Name != "ctas" {
			t.Errorf("column %s has a metric that is not asked for", c.Name)
		}
	}
}
