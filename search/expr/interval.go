package expr

import "math"

// Interval is a set of integers, both ends included.
type Interval struct{ Lo, Hi int64 }

// Verdict is what can be said of a condition when its variables are only known
// to lie in intervals. The zero value says nothing.
type Verdict uint8

// Verdicts. Fails and Holds also promise that the evaluation has no error.
const (
	Unsure   Verdict = iota // nothing can be said, there may even be an error
	Possible                // may hold or fail, but has no error
	Fails                   // fails for all values
	Holds                   // holds for all values
)

// String returns the verdict in words.
func (v Verdict) String() string {
	return [...]string{"unsure", "possible", "fails", "holds"}[v&3]
}

// Decider judges a condition by interval arithmetic. It is safe for concurrent
// use.
type Decider struct{ truth judge }

// judge is a compiled condition, span a compiled integer; ok is false when
// nothing can be said or there may be an error.
type (
	judge func(iv []Interval) Verdict
	span  func(iv []Interval) (r Interval, ok bool)
)

// NewDecider compiles an expression over integer and truth variables; other
// names make it unsure.
func NewDecider(e *Expr, vars []Var) *Decider {
	return &Decider{(&bounder{vars}).judge(e.Root)}
}

// Decide judges the condition for variable k in iv[k].
func (d *Decider) Decide(iv []Interval) Verdict { return d.truth(iv) }

// Bound returns an interval that holds all values of an integer expression, or
// false when that is not certain.
func Bound(n Node, vars []Var, iv []Interval) (Interval, bool) {
	return (&bounder{vars}).span(n)(iv)
}

type bounder struct{ vars []Var }

func unknownSpan([]Interval) (Interval, bool) { return Interval{}, false }
func unknownJudge([]Interval) Verdict         { return Unsure }

// judge compiles the truth of n.
func (b *bounder) judge(n Node) judge {
	switch n := n.(type) {
	case *Compare:
		return b.compare(n)
	case *Logic:
		return b.logic(n)
	case *Unary:
		if n.Op == "not" {
			x := b.judge(n.X)
			return func(iv []Interval) Verdict { return opposite(x(iv)) }
		}
	}
	x := b.span(n)
	return func(iv []Interval) Verdict {
		r, ok := x(iv)
		switch {
		case !ok:
			return Unsure
		case r.Lo > 0 || r.Hi < 0:
			return Holds
		case r.Lo == 0 && r.Hi == 0:
			return Fails
		}
		return Possible
	}
}

func opposite(v Verdict) Verdict {
	switch v {
	case Fails:
		return Holds
	case Holds:
		return Fails
	}
	return v
}

// logic stops at a term that decides, as the evaluation does; a term that may
// have an error before it leaves nothing to be said.
func (b *bounder) logic(n *Logic) judge {
	terms := make([]judge, len(n.Terms))
	for i, t := range n.Terms {
		terms[i] = b.judge(t)
	}
	ends, rest := Fails, Holds
	if n.Op == "or" {
		ends, rest = Holds, Fails
	}
	return func(iv []Interval) Verdict {
		result := rest
		for _, t := range terms {
			switch v := t(iv); v {
			case Unsure, ends:
				return v
			case Possible:
				result = Possible
			}
		}
		return result
	}
}

func (b *bounder) compare(n *Compare) judge {
	if len(n.Ops) == 1 && (n.Ops[0] == "in" || n.Ops[0] == "not in") {
		return b.member(n)
	}
	terms := make([]span, len(n.Terms))
	for i, t := range n.Terms {
		terms[i] = b.span(t)
	}
	return func(iv []Interval) Verdict {
		x, ok := terms[0](iv)
		if !ok {
			return Unsure
		}
		result := Holds
		for i, op := range n.Ops {
			y, ok := terms[i+1](iv)
			if !ok {
				return Unsure
			}
			switch v := compareIntervals(op, x, y); v {
			case Unsure, Fails:
				return v
			case Possible:
				result = Possible
			}
			x = y
		}
		return result
	}
}

func compareIntervals(op string, x, y Interval) Verdict {
	always := func(holds, fails bool) Verdict {
		switch {
		case holds:
			return Holds
		case fails:
			return Fails
		}
		return Possible
	}
	single := x.Lo == x.Hi && y.Lo == y.Hi && x.Lo == y.Lo
	apart := x.Hi < y.Lo || y.Hi < x.Lo
	switch op {
	case "<":
		return always(x.Hi < y.Lo, x.Lo >= y.Hi)
	case "<=":
		return always(x.Hi <= y.Lo, x.Lo > y.Hi)
	case ">":
		return always(x.Lo > y.Hi, x.Hi <= y.Lo)
	case ">=":
		return always(x.Lo >= y.Hi, x.Hi < y.Lo)
	case "==":
		return always(single, apart)
	case "!=":
		return always(apart, single)
	}
	return Unsure
}

// member judges "x in (1, 2, 3)" with integer literals.
func (b *bounder) member(n *Compare) judge {
	s, ok := n.Terms[1].(*Sequence)
	if !ok {
		return unknownJudge
	}
	var items []int64
	for _, it := range s.Items {
		l, ok := it.(*Literal)
		if !ok || !l.Value.isInt() {
			return unknownJudge
		}
		items = append(items, l.Value.n)
	}
	x, negated := b.span(n.Terms[0]), n.Ops[0] == "not in"
	return func(iv []Interval) Verdict {
		r, ok := x(iv)
		if !ok {
			return Unsure
		}
		v := Fails
		for _, it := range items {
			if r.Lo <= it && it <= r.Hi {
				v = Possible
				if r.Lo == r.Hi {
					v = Holds
				}
			}
		}
		if negated {
			return opposite(v)
		}
		return v
	}
}

// span compiles the interval of an integer node.
func (b *bounder) span(n Node) span {
	switch n := n.(type) {
	case *Literal:
		if !n.Value.isInt() {
			return unknownSpan
		}
		r := Interval{n.Value.n, n.Value.n}
		return func([]Interval) (Interval, bool) { return r, true }
	case *Name:
		return b.variable(n)
	case *Unary:
		return b.unary(n)
	case *Binary:
		return b.binary(n)
	case *Call:
		return b.call(n)
	case *Cond:
		return b.cond(n)
	case *Compare:
		return fromJudge(b.compare(n))
	}
	return unknownSpan // also and, or: their value is an operand
}

func fromJudge(j judge) span {
	return func(iv []Interval) (Interval, bool) {
		switch j(iv) {
		case Fails:
			return Interval{0, 0}, true
		case Holds:
			return Interval{1, 1}, true
		case Possible:
			return Interval{0, 1}, true
		}
		return Interval{}, false
	}
}

func (b *bounder) variable(n *Name) span {
	for k, v := range b.vars {
		if v.Name == n.Name && (v.Kind == KindInt || v.Kind == KindBool) {
			return func(iv []Interval) (Interval, bool) { return iv[k], true }
		}
	}
	return unknownSpan
}

func (b *bounder) unary(n *Unary) span {
	if n.Op == "not" {
		return fromJudge(b.judge(n))
	}
	x := b.span(n.X)
	if n.Op == "+" {
		return x
	}
	return func(iv []Interval) (Interval, bool) {
		r, ok := x(iv)
		return Interval{-r.Hi, -r.Lo}, ok && r.Lo != math.MinInt64
	}
}

func (b *bounder) cond(n *Cond) span {
	test, x, y := b.judge(n.Test), b.span(n.Then), b.span(n.Else)
	return func(iv []Interval) (Interval, bool) {
		switch test(iv) {
		case Holds:
			return x(iv)
		case Fails:
			return y(iv)
		case Unsure:
			return Interval{}, false
		}
		r, ok := x(iv)
		s, ok2 := y(iv)
		return Interval{min(r.Lo, s.Lo), max(r.Hi, s.Hi)}, ok && ok2
	}
}

func (b *bounder) call(n *Call) span {
	args := make([]span, len(n.Args))
	for i, a := range n.Args {
		args[i] = b.span(a)
	}
	switch {
	case n.Func == "abs" && len(args) == 1:
		return func(iv []Interval) (Interval, bool) {
			r, ok := args[0](iv)
			if r.Lo >= 0 {
				return r, ok
			}
			lo := max(0, -max(r.Hi, -math.MaxInt64))
			return Interval{lo, max(r.Hi, -max(r.Lo, -math.MaxInt64))}, ok && r.Lo != math.MinInt64
		}
	case (n.Func == "min" || n.Func == "max") && len(args) > 1:
		pick := func(x, y int64) int64 { return min(x, y) }
		if n.Func == "max" {
			pick = func(x, y int64) int64 { return max(x, y) }
		}
		return func(iv []Interval) (Interval, bool) {
			r, ok := args[0](iv)
			for _, a := range args[1:] {
				s, ok2 := a(iv)
				r, ok = Interval{pick(r.Lo, s.Lo), pick(r.Hi, s.Hi)}, ok && ok2
			}
			return r, ok
		}
	}
	return unknownSpan
}

func (b *bounder) binary(n *Binary) span {
	x, y := b.span(n.X), b.span(n.Y)
	both := func(f func(r, s Interval) (Interval, bool)) span {
		return func(iv []Interval) (Interval, bool) {
			r, ok := x(iv)
			if !ok {
				return r, false
			}
			s, ok := y(iv)
			if !ok {
				return s, false
			}
			return f(r, s)
		}
	}
	switch n.Op {
	case "+":
		return both(func(r, s Interval) (Interval, bool) {
			lo, err := addInt(r.Lo, s.Lo)
			hi, err2 := addInt(r.Hi, s.Hi)
			return Interval{lo, hi}, err == nil && err2 == nil
		})
	case "-":
		return both(func(r, s Interval) (Interval, bool) {
			lo, err := subInt(r.Lo, s.Hi)
			hi, err2 := subInt(r.Hi, s.Lo)
			return Interval{lo, hi}, err == nil && err2 == nil
		})
	case "*":
		return both(func(r, s Interval) (Interval, bool) { return corners(r, s, mulInt) })
	case "//": // monotone in each operand while the divisor keeps its sign
		return both(func(r, s Interval) (Interval, bool) {
			if s.Lo <= 0 && s.Hi >= 0 {
				return Interval{}, false
			}
			return corners(r, s, floorDivInt)
		})
	case "%":
		return both(modIntervals)
	case "**": // monotone in each operand from 1 up, and 0 for the exponent
		return both(func(r, s Interval) (Interval, bool) {
			if r.Lo < 1 || s.Lo < 0 {
				return Interval{}, false
			}
			return corners(r, s, powInt)
		})
	}
	return unknownSpan
}

// corners bounds an operation that is monotone in each operand.
func corners(r, s Interval, op func(a, b int64) (int64, error)) (Interval, bool) {
	first, err := op(r.Lo, s.Lo)
	out := Interval{first, first}
	for _, c := range [3][2]int64{{r.Lo, s.Hi}, {r.Hi, s.Lo}, {r.Hi, s.Hi}} {
		v, err2 := op(c[0], c[1])
		if err2 != nil {
			err = err2
		}
		out = Interval{min(out.Lo, v), max(out.Hi, v)}
	}
	return out, err == nil
}

// modIntervals bounds r % s for positive s.
func modIntervals(r, s Interval) (Interval, bool) {
	switch {
	case s.Lo <= 0:
		return Interval{}, false
	case r.Lo == r.Hi && s.Lo == s.Hi:
		m, err := modInt(r.Lo, s.Lo)
		return Interval{m, m}, err == nil
	case r.Lo >= 0 && r.Hi < s.Lo:
		return r, true
	case r.Lo >= 0:
		return Interval{0, min(r.Hi, s.Hi-1)}, true
	}
	return Interval{0, s.Hi - 1}, true
}
