package page

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/warptune/warptune/search"
)

// Limits of what importance is computed from: more configurations than that are drawn from at random, by a fixed seed.
const (
	leastForImportance = 8
	mostForImportance  = 4000
	importanceSeed     = 35
	mostInteractions   = 40
)

// importance is which parameters matter among the valid rows of a level.
func (t *rows) importance(sweep, level string) *Importance {
	m := &Importance{
		Schema: ImportanceSchema, Sweep: sweep, Main: []MainEffect{}, Interactions: []Interaction{},
		Method: "Functional ANOVA of a random forest (Hutter, Hoos and Leyton-Brown, ICML 2014): the variance of the logarithm of the time that each parameter, and each pair beyond its two parameters, explains.",
	}
	order := t.ranked(level)
	m.Configurations = len(order)
	axes, points := t.axes(order)
	if len(order) < leastForImportance || len(axes) == 0 {
		m.RestsOn = fmt.Sprintf("Nothing: %d valid configurations with %d parameters that vary are too few.", len(order), len(axes))
		return m
	}
	log := make([]float64, len(order))
	for i, row := range order {
		log[i] = math.Log(t.time[row])
	}
	random := rand.New(rand.NewPCG(importanceSeed, uint64(len(order))))
	all := len(order)
	if all > mostForImportance {
		points, log = drawn(random, points, log)
	}
	sizes := make([]int, len(axes))
	for i := range axes {
		sizes[i] = len(axes[i].values)
	}
	trees := newForest(random, sizes, points, log)
	m.Fit = known(trees.fit)
	m.RestsOn = fmt.Sprintf("%d valid configurations of the level %s", len(points), level)
	if all > len(points) {
		m.RestsOn += fmt.Sprintf(", drawn from %d", all)
	}
	m.RestsOn += ", and what the forest predicts for combinations of the parameters' values that were not evaluated or that constraints exclude."
	a := trees.anova()
	for i := range axes {
		m.Main = append(m.Main, t.mainEffect(&axes[i], order, a.main[i], a.mean[i]))
	}
	m.RestShare = 1
	for i := range axes {
		m.RestShare -= a.main[i]
		for j := i + 1; j < len(axes); j++ {
			m.RestShare -= a.pair[i][j]
			m.Interactions = append(m.Interactions, Interaction{[2]string{axes[i].name, axes[j].name}, a.pair[i][j]})
		}
	}
	m.RestShare = max(m.RestShare, 0)
	slices.SortStableFunc(m.Main, func(a, b MainEffect) int { return cmp.Compare(b.VarianceShare, a.VarianceShare) })
	slices.SortStableFunc(m.Interactions, func(a, b Interaction) int { return cmp.Compare(b.VarianceShare, a.VarianceShare) })
	m.Interactions = m.Interactions[:min(len(m.Interactions), mostInteractions)]
	return m
}

// axis is a parameter that varies.
type axis struct {
	name      string
	parameter int
	values    []search.Value // sorted: numbers by size
	of        []int          // place of a code of the table
}

// axes are the parameters that vary in rows, and where each row is on them.
func (t *rows) axes(order []int) (axes []axis, points [][]uint16) {
	points = make([][]uint16, len(order))
	for i, name := range t.names {
		p := &t.parameters[i]
		if len(p.dictionary) < 2 || len(p.dictionary) > math.MaxUint16 {
			continue
		}
		a := axis{name: name, parameter: i, of: make([]int, len(p.dictionary))}
		codes := make([]int, len(p.dictionary))
		for c := range codes {
			codes[c] = c
		}
		slices.SortFunc(codes, func(x, y int) int { return compareValues(p.dictionary[x], p.dictionary[y]) })
		for place, code := range codes {
			a.of[code] = place
			a.values = append(a.values, p.dictionary[code])
		}
		for k, row := range order {
			points[k] = append(points[k], uint16(a.of[p.codes[row]]))
		}
		axes = append(axes, a)
	}
	return axes, points
}

func compareValues(a, b search.Value) int {
	number := func(v search.Value) float64 {
		if v.Kind == search.Float {
			return v.F
		}
		return float64(v.I)
	}
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a.S, b.S), cmp.Compare(a.Kind, b.Kind))
}

// drawn is some of the points, and their targets.
func drawn(random *rand.Rand, points [][]uint16, y []float64) (p [][]uint16, z []float64) {
	for _, k := range random.Perm(len(points))[:mostForImportance] {
		p, z = append(p, points[k]), append(z, y[k])
	}
	return p, z
}

// mainEffect is a parameter's, of a share and the means of the logarithm of the time by value.
func (t *rows) mainEffect(a *axis, order []int, share float64, mean []float64) MainEffect {
	n := len(a.values)
	e := MainEffect{
		Parameter: a.name, VarianceShare: share, Values: a.values, MeanTimeUS: make(Numbers, n), BestTimeUS: make(Numbers, n),
		Evaluated: make([]int, n), Failed: make([]int, n),
	}
	for i := range n {
		e.MeanTimeUS[i], e.BestTimeUS[i] = math.Exp(mean[i]), math.NaN()
	}
	codes := t.parameters[a.parameter].codes
	for _, row := range order {
		i := a.of[codes[row]]
		e.Evaluated[i]++
		if v := e.BestTimeUS[i]; math.IsNaN(v) || t.time[row] < v {
			e.BestTimeUS[i] = t.time[row]
		}
	}
	for row, valid := range t.valid {
		if !valid {
			e.Failed[a.of[codes[row]]]++
		}
	}
	return e
}
