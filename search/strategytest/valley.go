package strategytest

import (
	"math"
	"testing"

	"github.com/warptune/warptune/search"
)

// Valley is a space of 8,640 configurations and a time whose optimum is 1: a
// block of threads that wants to be 256 and whole warps, tiles that want to fit
// to it, and what is too large fails.
func Valley(t testing.TB) (*search.Space, func(int64) search.Observation) {
	t.Helper()
	space, err := search.New([]search.Param{
		{Name: "x", Values: search.Ints(8, 16, 24, 32, 48, 64, 96, 128, 192, 256)},
		{Name: "y", Values: search.Ints(1, 2, 3, 4, 6, 8, 12, 16)},
		{Name: "tile", Values: search.Ints(1, 2, 3, 4, 5, 6, 7, 8, 12)},
		{Name: "unroll", Values: search.Ints(0, 1, 2, 4, 8, 16)},
		{Name: "pad", Values: []search.Value{search.OfBool(false), search.OfBool(true)}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return space, func(i int64) search.Observation {
		v := space.At(i).Values
		threads, tile := float64(v[0].I*v[1].I), float64(v[2].I)
		if threads*tile > 8192 {
			return search.Observation{Index: i}
		}
		time := 1 + math.Pow(math.Log2(threads/256), 2)/8 + math.Pow(math.Log2(tile/5), 2)/4 + math.Abs(float64(v[3].I-4))/16
		if v[0].I%32 != 0 && v[4].I == 0 {
			time *= 1.5
		}
		return search.Observation{Index: i, Objective: time, Valid: true}
	}
}
