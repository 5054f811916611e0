package export

import (
	"cmp"
	"slices"
)

// Best keeps, for each kernel, architecture, problem and level, the fastest
// row; of equally fast ones the first trial's, then the one of the smaller
// question digest, so that the order of rows does not matter.
func Best(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		if c := compareKey(&a, &b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Outcome.TimeUS, b.Outcome.TimeUS), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Outcome.Digest, b.Outcome.Digest))
	})
	return slices.CompactFunc(rows, func(a, b Row) bool { return compareKey(&a, &b) == 0 })
}
