package evaluate

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/tuner/record"
)

// Every record is in one part, in order, and of a few records of one kernel each slot has some.
func TestPartsForEverySlot(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 32, 1000} {
		for _, slots := range []int{1, 2, 8} {
			parts := byModule(make([]record.Record, n), slots)
			for i, r := range slices.Concat(parts...) {
				if i != r {
					t.Fatalf("%d records, %d slots: %v", n, slots, parts)
				}
			}
			if got := len(slices.Concat(parts...)); got != n || len(parts) < min(n, slots) {
				t.Errorf("%d records, %d slots: %d parts with %d records", n, slots, len(parts), got)
			}
		}
	}
}
