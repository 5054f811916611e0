package search

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// product is a constrained space and its configurations as a list in random order.
func product(t *testing.T, seed uint64) (*Space, [][]int) {
	t.Helper()
	c, err := ParseConstraint("(a * b) % 4 != 2 and (b + c) % 3 != 1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New([]Param{{"a", Ints(1, 2, 3, 4)}, {"b", Ints(1, 2, 4, 8, 16)}, {"c", Ints(0, 1, 2)}, {"d", Ints(5, 6)}}, []Constraint{c})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]int
	for i := range s.Size() {
		rows = append(rows, s.Digits(i, nil))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	return s, rows
}

// TestFromList: a space and the list of its configurations are the same space.
func TestFromList(t *testing.T) {
	seed := rand.Uint64()
	s, rows := product(t, seed)
	l, err := FromList(s.Params(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if l.Size() != s.Size() {
		t.Fatalf("seed %d: %d of %d configurations", seed, l.Size(), s.Size())
	}
	for i := range s.Size() {
		if !l.At(i).Equal(s.At(i)) {
			t.Fatalf("seed %d: configuration %d is %s, not %s", seed, i, l.At(i), s.At(i))
		}
		for _, n := range []Neighbourhood{Hamming, Adjacent, StrictlyAdjacent} {
			var a, b []int64
			for k := range s.Neighbours(i, n) {
				a = append(a, k)
			}
			for k := range l.Neighbours(i, n) {
				b = append(b, k)
			}
			if len(a) != len(b) {
				t.Fatalf("%s neighbours of %d: %v and %v", n, i, a, b)
			}
		}
	}
	set := map[string][]Value{"b": Ints(2, 8, 16), "d": Ints(6)}
	a, errA := s.Restrict(set)
	b, errB := l.Restrict(set)
	if errA != nil || errB != nil || a.Size() != b.Size() || a.Size() == 0 {
		t.Fatalf("restricted: %v %v", errA, errB)
	}
	for i := range a.Size() {
		if !a.At(i).Equal(b.At(i)) {
			t.Fatalf("restricted: %s, %s", a.At(i), b.At(i))
		}
	}
}

func TestFromListErrors(t *testing.T) {
	params := []Param{{"a", Ints(1, 2)}, {"b", Ints(3, 4)}}
	for want, rows := range map[string][][]int{
		"listed twice": {{0, 0}, {1, 1}, {0, 0}}, "has 1 values for 2": {{0}}, "value 2 of parameter b": {{0, 2}},
	} {
		if _, err := FromList(params, rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v", rows, err)
		}
	}
	s, err := FromList(params, [][]int{{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.ParseConfig("a=1,b=4")
	if err := s.Check(c); err == nil || !strings.Contains(err.Error(), "not among the 1 configurations listed") {
		t.Errorf("error %v", err)
	}
	if empty, err := FromList(params, nil); err != nil || empty.Size() != 0 {
		t.Errorf("empty list: %v", err)
	}
}

// TestPoints: a valid configuration is nearest to itself, and
// random quantiles are uniform over the valid configurations.
func TestPoints(t *testing.T) {
	s, _ := product(t, 1)
	hits := make([]int, s.Size())
	r := rand.New(rand.NewPCG(3, 4))
	const draws = 20000
	for range draws {
		hits[s.Quantile([]float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()})]++
	}
	mean := float64(draws) / float64(s.Size())
	for i := range s.Size() {
		target := make([]float64, 0, 4)
		for _, d := range s.Digits(i, nil) {
			target = append(target, float64(d)+0.3)
		}
		if got := s.Nearest(target); got != i {
			t.Errorf("nearest to %s is %s", s.At(i), s.At(got))
		}
		if h := float64(hits[i]); h < mean/2 || h > mean*2 {
			t.Errorf("quantiles hit %s %v times of %v expected", s.At(i), h, mean)
		}
	}
}
