package sampling

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// CTAs that represent others are so many different ones of them, in the order drawn, and
// in the mean as long as all but for one CTA and for what lengths were wrongly taken for.
func TestStratify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 32).Draw(t, "n")
		all := make([]point, rapid.IntRange(n, Points).Draw(t, "all"))
		is := make([]float64, len(all))
		most := 0.0
		for k := range all {
			is[k] = rapid.Float64Range(1, 1e6).Draw(t, "length")
			all[k] = point{k, Length{Instructions: is[k] * rapid.Float64Range(0.9, 1.1).Draw(t, "taken for")}}
			most = max(most, all[k].Scalar())
		}
		turns, err := stratify(all, n, func(k int) (float64, error) { return is[k], nil })
		if err != nil || len(turns) != n {
			t.Fatalf("%d of %d CTAs, %v", len(turns), n, err)
		}
		sum := 0.0
		for i, k := range turns {
			if i > 0 && k <= turns[i-1] {
				t.Fatalf("not in the order drawn, or twice: %v", turns)
			}
			sum += is[k]
		}
		if off := math.Abs(sum/float64(n) - mean(all).Scalar()); len(all)%n == 0 && off > most*(0.12+1.5/float64(n)) {
			t.Errorf("%d of %d are %.0f in the mean, all %.0f", n, len(all), sum/float64(n), mean(all).Scalar())
		}
	})
	beyond := errors.New("beyond")
	if _, err := stratify(make([]point, 9), 8, func(int) (float64, error) { return 0, beyond }); err != beyond {
		t.Errorf("error %v, want that of tracing", err)
	}
}
