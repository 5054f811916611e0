package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/search/expr"
)

// constraints parses, for tests.
func constraints(t testing.TB, texts ...string) []Constraint {
	t.Helper()
	var list []Constraint
	for _, text := range texts {
		c, err := ParseConstraint(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// bruteForce filters the Cartesian product with the constraints as they are
// written.
func bruteForce(t testing.TB, params []Param, cs []Constraint) [][]int {
	t.Helper()
	var programs []*expr.Program
	for _, c := range cs {
		p, err := expr.Compile(c.Expr, Vars(params))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	env := expr.NewEnv(len(params))
	var out [][]int
	digits := make([]int, len(params))
	var visit func(p int)
	visit = func(p int) {
		if p == len(params) {
			for _, q := range programs {
				if ok, err := q.Truth(env); err != nil || !ok {
					return
				}
			}
			out = append(out, slices.Clone(digits))
			return
		}
		for d, v := range params[p].Values {
			digits[p] = d
			env.Set(p, v.Operand())
			visit(p + 1)
		}
	}
	visit(0)
	return out
}

// randomSpace makes up to 6 parameters with up to 6 values and conditions of
// the shapes that real spaces have.
func randomSpace(r *rand.Rand) ([]Param, []string) {
	params := make([]Param, 1+r.IntN(6))
	for i := range params {
		params[i].Name = string(rune('a' + i))
		v := r.Int64N(3)
		for range 1 + r.IntN(6) {
			params[i].Values = append(params[i].Values, OfInt(v))
			v += 1 + r.Int64N(9)
		}
		if r.IntN(8) == 0 {
			params[i].Values = []Value{OfBool(false), OfBool(true)}
		}
		if r.IntN(8) == 0 {
			params[i].Values = []Value{OfFloat(0.5), OfFloat(2), OfFloat(7.25)}
		}
	}
	any := func() string { return params[r.IntN(len(params))].Name }
	num := func() string { return fmt.Sprint(r.IntN(60)) }
	term := func() string {
		switch r.IntN(5) {
		case 0:
			return any() + "*" + any() + "*" + any()
		case 1:
			return "(" + any() + "+2*" + any() + ")*" + any()
		case 2:
			return any() + "+" + any() + "+" + any()
		case 3:
			return "max(" + any() + "," + any() + "-3)"
		}
		return any()
	}
	var atom func() string
	atom = func() string {
		switch r.IntN(8) {
		case 0:
			return any() + " % (" + any() + "+1) == 0"
		case 1:
			return num() + "<=" + term() + "<" + num()
		case 2:
			return term() + ">=" + term()
		case 3:
			return any() + " in (0, 3, " + num() + ")"
		case 4:
			return "(" + atom() + " or " + any() + ")"
		case 5:
			return any() + "!=0 and " + any() + "/(" + any() + "+0.5) < " + num()
		case 6:
			return "not (" + any() + "==" + num() + " and " + atom() + ")"
		}
		return any() + "==" + any() + " or " + atom()
	}
	var cs []string
	for range r.IntN(5) {
		c := atom()
		for r.IntN(3) == 0 {
			c += " and " + atom()
		}
		cs = append(cs, c)
	}
	return params, cs
}

// TestEqualsBruteForce: enumeration, size, index, walking and checking agree
// with filtering the product.
func TestEqualsBruteForce(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	partial := 0
	for range 800 {
		params, texts := randomSpace(r)
		cs := constraints(t, texts...)
		s, err := New(params, cs)
		if err != nil {
			t.Fatalf("seed %d: %v %q: %v", seed, params, texts, err)
		}
		want := bruteForce(t, params, cs)
		if s.Size() != int64(len(want)) {
			t.Fatalf("seed %d: %v %q: size %d, want %d", seed, params, texts, s.Size(), len(want))
		}
		if len(want) > 0 && s.Size() < s.Cartesian() {
			partial++
		}
		for i, c := range s.All() {
			if int(i) >= len(want) || !c.Equal(s.config(want[i])) {
				t.Fatalf("seed %d: %q: configuration %d is %s", seed, texts, i, c)
			}
		}
		for i, digits := range want {
			if got := s.Digits(int64(i), nil); !slices.Equal(got, digits) {
				t.Fatalf("seed %d: %q: digits of %d are %v, want %v", seed, texts, i, got, digits)
			}
			if k, ok := s.IndexOf(s.At(int64(i))); !ok || k != int64(i) {
				t.Fatalf("seed %d: %q: configuration %d has index %d", seed, texts, i, k)
			}
		}
		checkOutside(t, r, s)
	}
	if partial < 100 {
		t.Errorf("only %d spaces were cut in part", partial)
	}
}

// checkOutside: random points of the product have an index exactly when
// nothing is wrong with them, and survive text and JSON.
func checkOutside(t *testing.T, r *rand.Rand, s *Space) {
	t.Helper()
	for range 20 {
		digits := make([]int, len(s.params))
		for p := range digits {
			digits[p] = r.IntN(len(s.params[p].Values))
		}
		c := s.config(digits)
		_, valid := s.IndexOf(c)
		if err := s.Check(c); (err == nil) != valid {
			t.Fatalf("%s: valid %v, but %v", c, valid, err)
		}
		if got, err := s.ParseConfig(c.String()); err != nil || !got.Equal(c) {
			t.Fatalf("%s reads back as %s, %v", c, got, err)
		}
	}
}

func TestEmptySpaces(t *testing.T) {
	ab := []Param{{"a", Ints(1, 2)}, {"b", Ints(1, 2)}}
	for _, text := range []string{"False", "a > 2", "a + b > 9", "a == 1 and 0"} {
		s, err := New(ab, constraints(t, text))
		if err != nil {
			t.Fatal(err)
		}
		for range s.All() {
			t.Errorf("%s: yields", text)
		}
		if _, ok := s.IndexOf(Config{[]string{"a", "b"}, Ints(1, 1)}); ok || s.Size() != 0 || len(s.Sample(rand.New(rand.NewPCG(1, 1)), 3)) != 0 {
			t.Errorf("%s: not empty", text)
		}
	}
	s, err := New(nil, nil)
	if err != nil || s.Size() != 1 || s.At(0).String() != "" {
		t.Errorf("space without parameters: %v, %v", s, err)
	}
}

// TestErrors: every error is one line that names what is wrong.
func TestErrors(t *testing.T) {
	ab := []Param{{"a", Ints(0, 2)}, {"b", Ints(1, 2)}}
	for _, c := range []struct {
		params []Param
		text   string
		want   string
	}{
		{ab, "a < c", `constraint "a < c", column 5: unknown name c; known are a, b`},
		{ab, "b % a == 0", `constraint "b % a == 0", column 3: division by zero, with a=0,b=1`},
		{ab, "a and b % (a // 3) == 0", `constraint "a and b % (a // 3) == 0", column 9: division by zero, with a=2,b=1`},
		{[]Param{{"a", nil}}, "1", "parameter a has no values"},
		{[]Param{{"a", []Value{OfInt(1), OfFloat(1)}}}, "1", "parameter a mixes int and float values"},
		{[]Param{{"a", Ints(1, 1)}}, "1", "parameter a has the value 1 twice"},
		{[]Param{ab[0], ab[0]}, "1", "parameter a is declared twice"},
		{[]Param{{"a b", Ints(1)}}, "1", `parameter name "a b" is not usable in NAME=VALUE lists`},
	} {
		_, err := New(c.params, constraints(t, c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := New(ab, constraints(t, "a != 0 and b % a == 0")); err != nil {
		t.Errorf("a condition that guards another: %v", err)
	}
	if _, err := New([]Param{ab[1], {"z", Ints(0, 1)}, ab[0]}, constraints(t, "z == 0 or b % z == 0")); err != nil {
		t.Errorf("a condition that is not evaluated: %v", err)
	}
}

func TestConformAndParse(t *testing.T) {
	s, err := New([]Param{{"n", Ints(1, 2)}, {"f", []Value{OfFloat(1), OfFloat(2.5)}}, {"t", []Value{OfBool(true), OfBool(false)}}, {"s", []Value{OfString("x"), OfString("a,b=\"1\""), OfString("7")}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range s.All() {
		text, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := back.UnmarshalJSON(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, ok := s.IndexOf(back); !ok || got != i {
			t.Errorf("%s reads back as %d, not %d", text, got, i)
		}
		if got, err := s.ParseConfig(c.String()); err != nil || !got.Equal(c) {
			t.Errorf("%s reads back as %s, %v", c, got, err)
		}
	}
	c, err := s.ParseConfig(` s=x , t=1, n=2,f=1 `)
	if err != nil || c.String() != "n=2,f=1.0,t=true,s=x" {
		t.Errorf("%s, %v", c, err)
	}
	for text, want := range map[string]string{
		"n=1": "has no value", "n=1,f=1,t=1,s=x,q=1": "no parameter q; there are n, f, t, s", "n=1.5,f=1,t=1,s=x": "not a value of type int",
		"n=1,n=1": "twice", "n": "NAME=VALUE is expected", "n=1,": "after the last comma", `s="a"b`: "comma is expected",
	} {
		if _, err := s.ParseConfig(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"1", `{"a":null}`, `{"a":[1]}`, `{"a":1,"a":2}`, `{"a":1`, `{"a":1e999}`} {
		if err := new(Config).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestRestrict(t *testing.T) {
	s, err := New([]Param{{"a", Ints(1, 2, 3)}, {"b", Ints(1, 2, 3)}}, constraints(t, "a <= b"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Restrict(map[string][]Value{"a": {OfInt(3), OfFloat(1)}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.All() {
		got = append(got, c.String())
	}
	if strings.Join(got, " ") != "a=1,b=1 a=1,b=2 a=1,b=3 a=3,b=3" {
		t.Errorf("restricted to %v", got)
	}
	for name, v := range map[string]Value{"c": OfInt(1), "a": OfInt(4), "b": OfString("x")} {
		if _, err := s.Restrict(map[string][]Value{name: {v}}); err == nil {
			t.Errorf("%s=%s: no error", name, v)
		}
	}
}

// TestLimits: a space whose constraint tells everything apart ends in an
// error, not in a full memory.
func TestLimits(t *testing.T) {
	params := []Param{{"a", span(1, 300, 1)}, {"b", span(1, 300, 1)}, {"c", span(1, 300, 1)}}
	cs := constraints(t, "(a*7919 + b*104729 + a*b) % 1299709 % c == 0")
	for _, most := range []limits{{states: 1000, trials: 1 << 30}, {states: 1 << 30, trials: 100000}} {
		if _, err := build(params, cs, most, nil); err == nil || !strings.Contains(err.Error(), "too many partial configurations") {
			t.Errorf("%+v: %v", most, err)
		}
	}
}

// TestHugeSpace: 6^24 points, constraints that leave about 10^12, no
// enumeration anywhere.
func TestHugeSpace(t *testing.T) {
	var params []Param
	for i := range 24 {
		params = append(params, Param{fmt.Sprintf("p%d", i), Ints(1, 2, 3, 4, 6, 8)})
	}
	s, err := New(params, constraints(t, "p0*p1*p2*p3*p4*p5 <= 512 and p0*p1*p2*p3*p4*p5 >= 256", "p23+p22+p21+p20+p6+p19+p18 == 12",
		"p7 % p8 == 0", "p8 % p9 == 0", "p9 % p10 == 0", "p11 == 1 or p12 == 1", "p13 < p14 < p15 < p16 < p17"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Size() < 1e9 || s.Size() > 1e15 || s.Cartesian() != 4738381338321616896 {
		t.Errorf("size %d of %d", s.Size(), s.Cartesian())
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, i := range append(s.Sample(r, 1000), 0, s.Size()-1) {
		c := s.At(i)
		if err := s.Check(c); err != nil {
			t.Fatal(err)
		}
		if k, ok := s.IndexOf(c); !ok || k != i {
			t.Fatalf("index %d reads back as %d", i, k)
		}
	}
}

// TestSampleUniform: chi-square of 2-subsets of a constrained space at
// p = 10^-6, and of what single draws hit.
func TestSampleUniform(t *testing.T) {
	s, err := New([]Param{{"a", Ints(1, 2, 3, 4)}, {"b", Ints(1, 2, 3, 4)}}, constraints(t, "a % b == 0 or a == 3"))
	if err != nil {
		t.Fatal(err)
	}
	n := int(s.Size())
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	counts := map[[2]int64]int{}
	const draws = 20000
	for range draws {
		x := s.Sample(r, 2)
		if x[0] == x[1] {
			t.Fatal("repeated")
		}
		counts[[2]int64{x[0], x[1]}]++
	}
	cells := n * (n - 1)
	want := float64(draws) / float64(cells)
	chi := 0.0
	for a := range int64(n) {
		for b := range int64(n) {
			if a != b {
				d := float64(counts[[2]int64{a, b}]) - want
				chi += d * d / want
			}
		}
	}
	// Wilson and Hilferty's approximation of the quantile.
	k := float64(cells - 1)
	if limit := k * math.Pow(1-2/(9*k)+4.753*math.Sqrt(2/(9*k)), 3); chi > limit {
		t.Errorf("seed %d: chi-square %.1f over %.1f", seed, chi, limit)
	}
	if got := s.Sample(r, 100); len(got) != n {
		t.Errorf("%d of %d", len(got), n)
	}
}

// TestNeighbours against the definitions over all pairs.
func TestNeighbours(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		params, texts := randomSpace(r)
		s, err := New(params, constraints(t, texts...))
		if err != nil {
			t.Fatal(err)
		}
		if s.Size() == 0 || s.Size() > 300 {
			continue
		}
		rank := ranks(s)
		i := r.Int64N(s.Size())
		for _, n := range []Neighbourhood{Hamming, Adjacent, StrictlyAdjacent} {
			want := map[int64]bool{}
			for j := range s.Size() {
				if j != i && near(n, s.Digits(i, nil), s.Digits(j, nil), rank) {
					want[j] = true
				}
			}
			for j := range s.Neighbours(i, n) {
				if !want[j] {
					t.Fatalf("seed %d: %q: %s has the %s neighbour %s", seed, texts, s.At(i), n, s.At(j))
				}
				delete(want, j)
			}
			if len(want) > 0 {
				t.Fatalf("seed %d: %q: %s lacks the %s neighbours %v", seed, texts, s.At(i), n, want)
			}
		}
	}
}

// ranks numbers, by parameter, the digits that occur.
func ranks(s *Space) []map[int]int {
	rank := make([]map[int]int, len(s.params))
	for p := range rank {
		rank[p] = map[int]int{}
		for d := range s.params[p].Values {
			for i := range s.Size() {
				if s.Digits(i, nil)[p] == d {
					rank[p][d] = len(rank[p])
					break
				}
			}
		}
		if len(rank[p]) != s.Occurring(p) {
			panic("Occurring is wrong")
		}
	}
	return rank
}

func near(n Neighbourhood, a, b []int, rank []map[int]int) bool {
	differing, far := 0, 0
	for p := range a {
		x, y := a[p], b[p]
		if n == Adjacent {
			x, y = rank[p][x], rank[p][y]
		}
		if x != y {
			differing++
		}
		far = max(far, x-y, y-x)
	}
	if n == Hamming {
		return differing == 1
	}
	return far <= 1
}
