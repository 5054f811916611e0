package explain

import "testing"

// Of however many configurations there are, the ranked ones are spread over all.
func TestSpread(t *testing.T) {
	const size = 1<<61 + 12345
	last := int64(-1)
	for i := range int64(mostRanked) {
		at := spread(i, mostRanked, size)
		if at <= last || at >= size {
			t.Fatalf("place %d of %d is %d, after %d of %d", i, mostRanked, at, last, int64(size))
		}
		last = at
	}
	if last < size/mostRanked*(mostRanked-1) {
		t.Errorf("the last place is %d of %d", last, int64(size))
	}
}
