package feature

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
)

// TestCloser: of two sizes whose product is bounded the product is a coordinate,
// of one that divides the other the quotient, of two that know nothing of each
// other neither; a code has a coordinate for each value.
func TestCloser(t *testing.T) {
	var bounds []search.Constraint
	for _, text := range []string{"x * y <= 512", "tile % step == 0"} {
		c, err := search.ParseConstraint(text)
		if err != nil {
			t.Fatal(err)
		}
		bounds = append(bounds, c)
	}
	space, err := search.New([]search.Param{
		{Name: "x", Values: search.Ints(16, 32, 64, 128, 256)},
		{Name: "y", Values: search.Ints(1, 2, 4, 8, 16)},
		{Name: "tile", Values: search.Ints(1, 2, 4, 8, 16)},
		{Name: "step", Values: search.Ints(1, 2, 4, 8, 16)},
		{Name: "method", Values: search.Ints(0, 1, 2)},
		{Name: "pad", Values: search.Ints(0, 1)},
	}, bounds)
	if err != nil {
		t.Fatal(err)
	}
	m, plain := Closer(space), New(space)
	type pair struct{ param, other int }
	var pairs []pair
	for d := range m.Dims() {
		if c := m.cols[d]; c.more != nil {
			pairs = append(pairs, pair{c.param, c.other})
		}
		if !(m.Range(d) > 0) {
			t.Errorf("coordinate %d has the range %v", d, m.Range(d))
		}
	}
	if want := []pair{{1, 0}, {3, 2}}; !slices.Equal(pairs, want) {
		t.Fatalf("pairs %v, want %v", pairs, want)
	}
	if got, want := m.Dims(), plain.Dims()+1+len(pairs); got != want {
		t.Errorf("%d coordinates, want %d: the codes of three methods are one more", got, want)
	}
	i, ok := space.IndexOfDigits([]int{2, 3, 4, 1, 2, 1})
	if !ok {
		t.Fatal("no such configuration")
	}
	if got, want := m.Append(nil, i), []float32{6, 3, 4, 1, 0, 0, 1, 1, 9, -3}; !slices.Equal(got, want) {
		t.Errorf("point %v, want %v", got, want)
	}
}

// TestStepped: it differs from the closer map in sizes that are not all powers of
// two, which count by their place; their products count by size all the same.
func TestStepped(t *testing.T) {
	bound, err := search.ParseConstraint("tile * block <= 1024")
	if err != nil {
		t.Fatal(err)
	}
	space, err := search.New([]search.Param{
		{Name: "tile", Values: search.Ints(1, 2, 4, 6, 8)},
		{Name: "block", Values: search.Ints(32, 64, 128, 256, 512)},
		{Name: "odd", Values: search.Ints(1, 3, 9)},
		{Name: "method", Values: search.Ints(0, 1, 2)},
	}, []search.Constraint{bound})
	if err != nil {
		t.Fatal(err)
	}
	i, ok := space.IndexOfDigits([]int{3, 2, 1, 0})
	if !ok {
		t.Fatal("no such configuration")
	}
	closer, step := Closer(space).Append(nil, i), Stepped(space).Append(nil, i)
	six, three := float32(2.5849626), float32(1.5849625)
	if want := []float32{six, 1, 7, three, 1, 0, 0, 7 + six}; !slices.Equal(closer, want) {
		t.Errorf("closer %v, want %v", closer, want)
	}
	if want := []float32{3, 1, 7, three, 1, 0, 0, 7 + six}; !slices.Equal(step, want) {
		t.Errorf("stepped %v, want %v", step, want)
	}
}
