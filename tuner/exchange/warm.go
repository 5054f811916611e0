package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Warm is what a run has to say about a space.
type Warm struct {
	// Best are configurations of the space, the fastest of the run first.
	Best []search.Config
	// Known is how many of the run's configurations that have a time are in
	// the space, Others how many are not.
	Known, Others int
}

// Warm returns up to most of the run's fastest configurations that are in a
// space. A parameter that the run lacks is taken as its only value in the
// space; it is an error when it has several. Parameters that only the run has
// are passed over, but not two trials that differ in nothing else: the faster
// one stands for both.
func (r *Run) Warm(space *search.Space, most int) (Warm, error) {
	columns, rest, err := r.columns(space)
	if err != nil {
		return Warm{}, err
	}
	type timed struct {
		config search.Config
		index  int64
		us     float64
	}
	var all []timed
	var w Warm
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Validity != tuner.Correct {
			continue
		}
		c := search.Config{Names: space.Names(), Values: slices.Clone(rest)}
		for p, column := range columns {
			if column >= 0 {
				c.Values[p] = t.Config[column]
			}
		}
		c, err := space.Conform(c)
		index, in := int64(0), false
		if err == nil {
			index, in = space.IndexOf(c)
		}
		if !in {
			w.Others++
			continue
		}
		w.Known++
		all = append(all, timed{c, index, t.TimeUS})
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Or(cmp.Compare(a.us, b.us), cmp.Compare(a.index, b.index)) })
	seen := map[int64]bool{}
	for _, t := range all {
		if len(w.Best) < most && !seen[t.index] {
			seen[t.index] = true
			w.Best = append(w.Best, t.config)
		}
	}
	return w, nil
}

// columns returns, for each parameter of a space, the run's column of that
// name or -1, and the values of those it lacks.
func (r *Run) columns(space *search.Space) (columns []int, rest []search.Value, err error) {
	var missing []string
	for _, p := range space.Params() {
		column, value := slices.Index(r.Params, p.Name), search.Value{}
		if column < 0 {
			if value = p.Values[0]; len(p.Values) > 1 {
				missing = append(missing, p.Name)
			}
		}
		columns, rest = append(columns, column), append(rest, value)
	}
	if len(missing) > 0 && !slices.ContainsFunc(columns, func(c int) bool { return c >= 0 }) {
		return nil, nil, fmt.Errorf("the file has none of the parameters %s (it has %s): is it of another kernel?", strings.Join(missing, ", "), strings.Join(r.Params, ", "))
	}
	if len(missing) > 0 {
		return nil, nil, fmt.Errorf("the file has no parameter %s (it has %s): choose a value for it with --set", strings.Join(missing, ", "), strings.Join(r.Params, ", "))
	}
	return columns, rest, nil
}
