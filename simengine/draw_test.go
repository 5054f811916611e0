package simengine

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Of 8, 16, 32, 64 and 128 CTAs drawn as many lie in each 8th, 16th and so on of each
// axis of a grid, and none outside: rows at an edge come in as often as they are.
func TestDrawnEvenly(t *testing.T) {
	for _, grid := range [][3]int{{128, 1, 1}, {128, 128, 1}, {128, 128, 128}, {256, 128, 384}, {1, 3200, 640}} {
		for _, count := range []int{8, 16, 32, 64, mostDrawn} {
			for axis := range 3 {
				if grid[axis] == 1 {
					continue
				}
				var seen [mostDrawn]int
				for k := range count {
					at, id := [3]int{}, drawCTA(k, grid)
					for i, n := range grid {
						at[i], id = int(id%int64(n)), id/int64(n)
					}
					if id != 0 {
						t.Fatalf("grid %v: the CTA drawn %dth is outside", grid, k)
					}
					seen[at[axis]*count/grid[axis]]++
				}
				for part, n := range seen[:count] {
					if n != 1 {
						t.Errorf("grid %v: of %d CTAs %d lie in part %d of axis %d", grid, count, n, part, axis)
					}
				}
			}
		}
	}
}

// CTAs that represent others are so many different ones of them, in the order drawn, and
// in the mean as long as all but for one CTA and for what lengths were wrongly taken for.
func TestRepresent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 32).Draw(t, "n")
		all := make([]extent, rapid.IntRange(n, mostDrawn).Draw(t, "all"))
		is := make([]float64, len(all))
		most := 0.0
		for k := range all {
			is[k] = rapid.Float64Range(1, 1e6).Draw(t, "length")
			all[k] = extent{k, size{instructions: is[k] * rapid.Float64Range(0.9, 1.1).Draw(t, "taken for")}}
			most = max(most, all[k].length())
		}
		turns, err := represent(all, n, func(k int) (float64, error) { return is[k], nil })
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
		if off := math.Abs(sum/float64(n) - mean(all).length()); len(all)%n == 0 && off > most*(0.12+1.5/float64(n)) {
			t.Errorf("%d of %d are %.0f in the mean, all %.0f", n, len(all), sum/float64(n), mean(all))
		}
	})
	beyond := errors.New("beyond")
	if _, err := represent(make([]extent, 9), 8, func(int) (float64, error) { return 0, beyond }); err != beyond {
		t.Errorf("error %v, want that of tracing", err)
	}
}
