package export

import (
	"cmp"
	"slices"
)

// Best keeps, for each kernel, architecture, problem and level, the fastest row of
// the newest sweep and of those that asked the same: what an edited kernel or
// another compiler or engine gave before compares with nothing. Of equally fast
// ones it is the first trial's, then the one of the smaller question digest, so
// that the order of rows does not matter.
func Best(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(compareKey(&a, &b), cmp.Compare(a.Newer, b.Newer))
	})
	var best []Row
	scope := ""
	for i := range rows {
		r := &rows[i]
		if i == 0 || compareKey(&rows[i-1], r) != 0 {
			scope = r.Spec.Scope()
			best = append(best, *r)
		} else if b := &best[len(best)-1]; r.Spec.Scope() == scope && faster(r, b) {
			*b = *r
		}
	}
	return best
}

func faster(a, b *Row) bool {
	return cmp.Or(cmp.Compare(a.Outcome.TimeUS, b.Outcome.TimeUS), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Outcome.Digest, b.Outcome.Digest)) < 0
}
