package expr

import (
	"math/rand/v2"
	"testing"
)

// TestIntervals: what the intervals promise holds for every value in them.
func TestIntervals(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	vars := []Var{{"a", KindInt}, {"b", KindInt}, {"u", KindBool}, {"f", KindFloat}, {"P", KindList}, {"i", KindInt}}
	decided := 0
	for range 8000 {
		e, err := Parse((&Expr{Root: generate(r, 3)}).String())
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(e, vars)
		if err != nil {
			continue
		}
		iv := make([]Interval, len(vars))
		for k := range iv {
			lo := r.Int64N(7) - 2
			iv[k] = Interval{lo, lo + r.Int64N(3)}
		}
		iv[2] = Interval{0, r.Int64N(2)}
		verdict := NewDecider(e, vars).Decide(iv)
		bound, bounded := Bound(e.Root, vars, iv)
		if verdict > Possible {
			decided++
		}
		forAll(vars, iv, func(env *Env) {
			truth, err := p.Truth(env)
			switch {
			case verdict == Unsure:
			case err != nil, verdict == Holds && !truth, verdict == Fails && truth:
				t.Fatalf("seed %d: %s over %v: %s, but %v %v", seed, e, iv, verdict, truth, err)
			}
			if v, err := p.Eval(env); bounded && (err != nil || v.n < bound.Lo || v.n > bound.Hi) {
				t.Fatalf("seed %d: %s over %v: in %v, but %v %v", seed, e, iv, bound, v, err)
			}
		})
	}
	if decided < 100 {
		t.Errorf("only %d conditions decided", decided)
	}
}

// forAll visits all values of a, b, u and i in their intervals.
func forAll(vars []Var, iv []Interval, visit func(*Env)) {
	env := NewEnv(len(vars))
	env.Set(3, Float(0.5))
	env.Set(4, Ints(1, 2))
	for a := iv[0].Lo; a <= iv[0].Hi; a++ {
		for b := iv[1].Lo; b <= iv[1].Hi; b++ {
			for u := iv[2].Lo; u <= iv[2].Hi; u++ {
				for i := iv[5].Lo; i <= iv[5].Hi; i++ {
					env.Set(0, Int(a))
					env.Set(1, Int(b))
					env.Set(2, Bool(u == 1))
					env.Set(5, Int(i))
					visit(env)
				}
			}
		}
	}
}
