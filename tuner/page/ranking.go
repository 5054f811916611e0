package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner/score"
)

// byTrial is all rows in the order of their trials.
func (t *rows) byTrial() []int {
	order := make([]int, t.len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(t.trialOf(a), t.trialOf(b)) })
	return order
}

// ranked is the valid rows of a level, by time, then by their place in the space.
func (t *rows) ranked(level string) []int {
	order := make([]int, 0, t.len())
	for row := range t.len() {
		if t.valid[row] && (t.level[row] == level || t.level[row] == "") {
			order = append(order, row)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.time[a], t.time[b]), cmp.Compare(t.index[a], t.index[b]))
	})
	return order
}

// ranking ranks the rows of a sweep's last level, of which some trials were given up.
func (t *rows) ranking(sweep, level string, d *Device, givenUp int64) *Ranking {
	k := &Ranking{Schema: RankingSchema, Sweep: sweep, Epoch: t.epoch, Rows: t.len(), Groups: []int{}, Notes: []string{}, Expected: d.Expected}
	order := t.ranked(level)
	ties := func(first, row int) bool {
		return d.Ties(t.time[row]/t.time[first], t.sampling[first], t.sampling[row])
	}
	var others []int
	k.Order = make([]int, 0, len(order))
	for _, row := range order {
		if ties(order[0], row) {
			k.Order = append(k.Order, row)
		} else {
			others = append(others, row)
		}
	}
	if k.Ties = len(k.Order); k.Ties > 0 {
		widest := t.time[k.Order[k.Ties-1]] / t.time[k.Order[0]]
		k.TiesShare = widest - 1
		k.Expected.Text = score.TiesText(k.Expected.Text, d.Ties(widest, 0, 0), widest)
	}
	for _, row := range others {
		if n := len(k.Groups); n == 0 || !ties(k.Order[k.Groups[n-1]], row) {
			if n == 0 {
				k.Groups = append(k.Groups, 0)
			}
			k.Groups = append(k.Groups, len(k.Order))
		}
		k.Order = append(k.Order, row)
	}
	if len(k.Groups) == 0 && len(k.Order) > 0 {
		k.Groups = append(k.Groups, 0)
	}
	if k.Ties > 1 {
		k.Notes = append(k.Notes, fmt.Sprintf("%d configurations are within %s. Any of them may be the fastest", k.Ties, k.Expected.Text))
	}
	if givenUp > 0 {
		k.Notes = append(k.Notes, fmt.Sprintf("incomplete: %d configurations were given up, and the best may be among them", givenUp))
	}
	if n := len(t.damaged); n > 0 {
		k.Notes = append(k.Notes, fmt.Sprintf("incomplete: %d rows are damaged in the database and left out", n))
	}
	if d.Caution != "" {
		k.Notes = append(k.Notes, "caution: "+d.Caution)
	}
	return k
}
