package dram

import (
	"math"
	"testing"
)

// The longest wait of n is the mean for one, grows with n, and ends at the longest
// there is.
func TestLongestWait(t *testing.T) {
	w := NewWaits([]float64{1, 10, 25, 50, 75, 90, 99}, []float64{548, 572, 596, 740, 796, 908, 1260})
	mean := 0.0
	for k := range w {
		mean += float64(w.Of(uint64(k))) / float64(len(w))
		if k > 0 && w[k] < w[k-1] {
			t.Errorf("quantile %d: %d after %d", k, w[k], w[k-1])
		}
	}
	if got := w.Longest(1); math.Abs(got-mean) > 1e-9 {
		t.Errorf("of one %.1f, mean %.1f", got, mean)
	}
	before := 0.0
	for n := 1.0; n < 1e4; n *= 1.7 {
		got := w.Longest(n)
		if got < before || got > float64(w[len(w)-1]) {
			t.Errorf("longest of %.0f: %.1f after %.1f", n, got, before)
		}
		before = got
	}
	if before < float64(w[len(w)-1])-1 {
		t.Errorf("longest of many %.1f, longest there is %d", before, w[len(w)-1])
	}
}
