package random

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPermutation: at is a bijection of [0, size) and position its inverse.
func TestPermutation(t *testing.T) {
	seed := rand.Uint64()
	for _, size := range []int64{1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097} {
		p := newPermutation(size, seed)
		seen := make([]bool, size)
		for i := range size {
			e := p.at(i)
			if e < 0 || e >= size || seen[e] {
				t.Fatalf("seed %d, size %d: position %d has %d", seed, size, i, e)
			}
			seen[e] = true
			if back := p.position(e); back != i {
				t.Fatalf("seed %d, size %d: %d is at %d, not %d", seed, size, e, back, i)
			}
		}
	}
	huge := newPermutation(math.MaxInt64, seed)
	for i := range int64(1000) {
		if e := huge.at(i); e < 0 || huge.position(e) != i {
			t.Fatalf("seed %d: position %d of a huge space has %d", seed, i, e)
		}
	}
}

// TestUniform: over seeds, every element is equally likely at the first two
// positions (chi-square at about 5 standard deviations).
func TestUniform(t *testing.T) {
	const size, seeds = 7, 42000
	var counts [size][size]float64
	for seed := range uint64(seeds) {
		p := newPermutation(size, seed)
		counts[p.at(0)][p.at(1)]++
	}
	want := float64(seeds) / (size * (size - 1))
	chi := 0.0
	for a := range counts {
		for b, n := range counts[a] {
			if a != b {
				chi += (n - want) * (n - want) / want
			}
		}
	}
	if k := float64(size*(size-1) - 1); chi > k+5*math.Sqrt(2*k) {
		t.Errorf("chi-square %.0f with %.0f degrees of freedom", chi, k)
	}
}
