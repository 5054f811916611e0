package feature

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
)

// TestPoints: products are sums, what is no number counts by its place, what is
// no size stands beside the sizes, and what never varies is no coordinate.
func TestPoints(t *testing.T) {
	space, err := search.New([]search.Param{
		{Name: "tile", Values: search.Ints(1, 2, 8)},
		{Name: "block", Values: search.Ints(32, 48, 96)},
		{Name: "unroll", Values: search.Ints(0, 1, 4)},
		{Name: "fixed", Values: search.Ints(7)},
		{Name: "pad", Values: []search.Value{search.OfBool(false), search.OfBool(true)}},
		{Name: "odd", Values: search.Ints(1, 3)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := New(space)
	i, ok := space.IndexOfDigits([]int{2, 1, 2, 0, 1, 1})
	if !ok {
		t.Fatal("no such configuration")
	}
	if got, want := m.Append(nil, i), []float32{3, 5.5849625, 4, 0, 2, 1, 1.5849625}; !slices.Equal(got, want) {
		t.Errorf("point %v, want %v", got, want)
	}
	if i, ok = space.IndexOfDigits([]int{2, 1, 0, 0, 1, 1}); !ok {
		t.Fatal("no such configuration")
	}
	if got, want := m.Append(nil, i), []float32{3, 5.5849625, 4, 1, 1, 1, 1.5849625}; !slices.Equal(got, want) {
		t.Errorf("point %v, want %v", got, want)
	}
	params := []int{0, 1, 1, 2, 2, 4, 5}
	if m.Dims() != len(params) {
		t.Fatalf("%d coordinates", m.Dims())
	}
	for d, p := range params {
		if m.Param(d) != p || !(m.Range(d) > 0) {
			t.Errorf("coordinate %d is of parameter %d, range %v", d, m.Param(d), m.Range(d))
		}
	}
}

// TestApart: configurations that differ have points that differ.
func TestApart(t *testing.T) {
	space, err := search.New([]search.Param{
		{Name: "a", Values: search.Ints(-3, 0, 5)},
		{Name: "b", Values: []search.Value{search.OfFloat(0.5), search.OfFloat(2), search.OfFloat(1e300)}},
		{Name: "c", Values: []search.Value{search.OfString("row"), search.OfString("column")}},
		{Name: "d", Values: search.Ints(-1, 0, 50, 100)},
		{Name: "e", Values: search.Ints(-2, -1, 0, 1)},
		{Name: "f", Values: search.Ints(0, -1, 4)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := New(space)
	for i := range space.Size() {
		for j := range i {
			if slices.Equal(m.Append(nil, i), m.Append(nil, j)) {
				t.Errorf("%s and %s are one point", space.At(i), space.At(j))
			}
		}
	}
}
