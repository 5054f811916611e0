package expr

import "math"

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
	if n.Op == "~" {
		return func(iv []Interval) (Interval, bool) {
			r, ok := x(iv)
			return Interval{^r.Hi, ^r.Lo}, ok
		}
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
