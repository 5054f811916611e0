package expr

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// generate returns a random tree of at most the given depth.
func generate(r *rand.Rand, depth int) Node {
	if depth == 0 || r.IntN(6) == 0 {
		return generateLeaf(r)
	}
	sub := func() Node { return generate(r, depth-1) }
	some := func(least int) []Node {
		ns := make([]Node, least+r.IntN(3))
		for i := range ns {
			ns[i] = sub()
		}
		return ns
	}
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	switch r.IntN(10) {
	case 0:
		return &Unary{Op: pick("-", "+", "~", "not"), X: sub()}
	case 1, 2:
		return &Binary{Op: pick("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"), X: sub(), Y: sub()}
	case 3:
		c := &Compare{Terms: some(2)}
		for range c.Terms[1:] {
			c.Ops = append(c.Ops, pick("<", "<=", ">", ">=", "==", "!=", "in", "not in"))
		}
		return c
	case 4:
		return &Logic{Op: pick("and", "or"), Terms: some(2)}
	case 5:
		return &Cond{Then: sub(), Test: sub(), Else: sub()}
	case 6:
		return &Call{Func: pick("min", "max", "len", "sum", "range", "abs"), Args: some(1)}
	case 7:
		return &Index{X: sub(), I: sub()}
	case 8:
		s := &Sequence{Open: "[({"[r.IntN(3)]}
		if s.Open == '{' {
			s.Items = some(1)
		} else {
			s.Items = some(0)
		}
		return s
	}
	c := &Comprehension{Open: "[({"[r.IntN(3)], Item: sub()}
	for range 1 + r.IntN(2) {
		c.Clauses = append(c.Clauses, Clause{Name: pick("i", "j", "a"), Iter: sub(), Ifs: some(0)})
	}
	return c
}

func generateLeaf(r *rand.Rand) Node {
	switch r.IntN(6) {
	case 0:
		return Literal{Value: Float(r.NormFloat64() * 1000)}.positive()
	case 1:
		return &Literal{Value: Str([]string{"", "x", "it's \\ \n\t\r\"", "é"}[r.IntN(4)])}
	case 2:
		return &Literal{Value: Bool(r.IntN(2) == 0)}
	case 3:
		return &Literal{Value: Int(r.Int64N(100))}
	}
	return &Name{Name: []string{"a", "b", "f", "u", "P", "i"}[r.IntN(6)]}
}

// positive drops the sign, which the grammar reads as an operator.
func (n Literal) positive() *Literal {
	if f, ok := n.Value.Float(); ok && f < 0 {
		n.Value = Float(-f)
	}
	return &n
}

// TestRoundTrip: a tree prints to a text that parses to the same tree, and
// prints the same again.
func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		want := &Expr{Root: generate(r, 4)}
		text := want.String()
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := got.String(); again != text {
			t.Fatalf("seed %d: %s prints as %s", seed, text, again)
		}
		if !reflect.DeepEqual(shape(got.Root), shape(want.Root)) {
			t.Fatalf("seed %d: %s parses to another tree", seed, text)
		}
	}
}

// shape is the tree without positions and without the difference between nil
// and empty.
func shape(n Node) any {
	parts := []any{}
	for _, c := range children(n) {
		parts = append(parts, shape(c))
	}
	switch n := n.(type) {
	case *Literal:
		parts = append(parts, n.Value.String())
	case *Name:
		parts = append(parts, n.Name)
	case *Unary:
		parts = append(parts, n.Op)
	case *Binary:
		parts = append(parts, n.Op)
	case *Compare:
		parts = append(parts, n.Ops)
	case *Logic:
		parts = append(parts, n.Op)
	case *Call:
		parts = append(parts, n.Func)
	case *Sequence:
		parts = append(parts, n.Open)
	case *Comprehension:
		parts = append(parts, n.Open)
		for _, c := range n.Clauses {
			parts = append(parts, c.Name, len(c.Ifs))
		}
	}
	return append(parts, reflect.TypeOf(n).String())
}

// TestTypedEqualsUntyped: evaluation with the variables' kinds known equals
// evaluation without.
func TestTypedEqualsUntyped(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	names := append(vars, Var{"i", KindInt})
	untyped := make([]Var, len(names))
	for k, v := range names {
		untyped[k] = Var{Name: v.Name}
	}
	outcome := func(e *Expr, vars []Var) string {
		p, err := Compile(e, vars)
		if err != nil {
			return err.Error()
		}
		env := NewEnv(len(vars))
		copy(env.vars, append(append([]Value{}, envValues...), Int(3)))
		v, err := p.Eval(env)
		truth, _ := p.Truth(env)
		if err != nil {
			return err.(*Error).Msg
		}
		return v.String() + Bool(truth).String()
	}
	for range 8000 {
		e := &Expr{Root: generate(r, 3)}
		e, err := Parse(e.String())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if a, b := outcome(e, names), outcome(e, untyped); a != b {
			t.Fatalf("seed %d: %s is %s typed, %s untyped", seed, e, a, b)
		}
	}
}

// FuzzEval: no text makes the parser or the evaluation panic or hang, and what
// parses prints to a text that parses to the same print.
func FuzzEval(f *testing.F) {
	for _, s := range []string{"[2**i for i in range(0, 6)]", "a if b else f", "64<=a*b<=1024 and (t or b==0)", "max(P)[0]", "{1,2} if not s in ('x',) else ()", "0x_1f", "1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(e.String())
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, e, err)
		}
		if again.String() != e.String() {
			t.Fatalf("%q prints as %q, then %q", text, e, again)
		}
		if p, err := Compile(e, vars); err == nil {
			p.Eval(env())
			p.Int(env())
			p.Float(env())
			p.Truth(env())
		}
	})
}

func BenchmarkConstraint(b *testing.B) {
	e, err := Parse("64 <= a * u2 <= 1024 and (a % 8 == 0 or u2 // 2 > 3)")
	if err != nil {
		b.Fatal(err)
	}
	p, err := Compile(e, []Var{{"a", KindInt}, {"u2", KindInt}})
	if err != nil {
		b.Fatal(err)
	}
	env := NewEnv(2)
	env.Set(0, Int(17))
	env.Set(1, Int(9))
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := p.Truth(env); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
