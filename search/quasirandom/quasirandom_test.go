package quasirandom

import (
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/trail"
)

// TestPlain: the first, third and fifth questions have the switches off, and the
// sizes and amounts spread; the others are the sequence's own.
func TestPlain(t *testing.T) {
	var blocks []int64 // so many that no two questions are the same
	for b := range int64(200) {
		blocks = append(blocks, 32+b)
	}
	space, err := search.New([]search.Param{
		{Name: "block", Values: search.Ints(blocks...)},
		{Name: "cap", Values: search.Ints(0, 16, 24, 32)},
		{Name: "layout", Values: []search.Value{search.OfString("row"), search.OfString("column"), search.OfString("tiled")}},
		{Name: "scale", Values: []search.Value{search.OfFloat(0.5), search.OfFloat(1), search.OfFloat(2)}},
		{Name: "unroll", Values: search.Ints(0, 1)},
		{Name: "tile", Values: search.Ints(1, 2, 4, 8)},
		{Name: "pad", Values: search.Ints(0, 1, 2, 4)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		plain := trail.Run(space, seed, func(t *trail.Trail) trail.Member { return Plain(t) })
		other := New(space, seed)
		seen := map[int]bool{}
		for k := range 10 {
			a, b := space.Digits(plain.Ask(1)[0], nil), space.Digits(other.Ask(1)[0], nil)
			if off := k == 0 || k == 2 || k == 4; off {
				b[1], b[2] = 0, 0
				seen[a[0]] = true
			}
			for p := range a {
				if a[p] != b[p] {
					t.Fatalf("seed %d: question %d has values %v, want %v", seed, k, a, b)
				}
			}
		}
		if len(seen) < 2 {
			t.Errorf("seed %d: all plain questions have the block sizes %v", seed, seen)
		}
	}
}
