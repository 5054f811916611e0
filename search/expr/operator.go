package expr

import "math"

func (c *compiler) unary(n *Unary) code {
	if n.Op == "not" {
		return ofBool(c.truth(n))
	}
	if l, ok := n.X.(*Literal); ok && n.Op == "-" && l.Value.kind == KindInt {
		return constant(Int(-l.Value.n))
	}
	x := c.node(n.X)
	negate := n.Op == "-"
	switch {
	case x.i != nil && !negate:
		return ofInt(x.i)
	case x.i != nil:
		return ofInt(func(e *Env) int64 {
			i := x.i(e)
			if i == math.MinInt64 {
				e.fail(n, "%v", errOverflow)
			}
			return -i
		})
	}
	return code{v: func(e *Env) Value { return negated(e, n, x.v(e), negate) }}
}

func negated(e *Env, n Node, v Value, negate bool) Value {
	switch {
	case !v.isNumber():
		e.fail(n, "a sign before %s", brief(v))
	case v.kind == KindFloat && negate:
		return Float(-v.float())
	case v.kind == KindFloat:
		return v
	case v.n == math.MinInt64 && negate:
		e.fail(n, "%v", errOverflow)
	case negate:
		return Int(-v.n)
	}
	return Int(v.n)
}

func (c *compiler) binary(n *Binary) code {
	x, y := c.node(n.X), c.node(n.Y)
	if x.i != nil && y.i != nil {
		if k, ok := intBinary(n, x.i, y.i); ok {
			return k
		}
	} else if fx, fy := x.float(), y.float(); fx != nil && fy != nil {
		// Not both are integers. Integers beyond 2^53 round as in Python's
		// mixed arithmetic.
		op := floatOps[n.Op]
		return ofFloat(func(e *Env) float64 {
			f, err := op(fx(e), fy(e))
			if err != nil {
				e.fail(n, "%v", err)
			}
			return f
		})
	}
	return code{v: func(e *Env) Value { return apply(e, n, x.v(e), y.v(e)) }}
}

// intBinary is the code of an operator on two integers, false when the kind of
// the result depends on their values. The common operators have closures of
// their own: constraints spend their time here.
func intBinary(n *Binary, x, y func(*Env) int64) (code, bool) {
	check := func(e *Env, i int64, err error) int64 {
		if err != nil {
			e.fail(n, "%v", err)
		}
		return i
	}
	switch n.Op {
	case "+":
		return ofInt(func(e *Env) int64 {
			a, b := x(e), y(e)
			s := a + b
			if (s^a)&(s^b) < 0 {
				e.fail(n, "%v", errOverflow)
			}
			return s
		}), true
	case "*":
		return ofInt(func(e *Env) int64 {
			a, b := x(e), y(e)
			if int64(int32(a)) == a && int64(int32(b)) == b {
				return a * b
			}
			i, err := mulInt(a, b)
			return check(e, i, err)
		}), true
	case "%":
		return ofInt(func(e *Env) int64 {
			a, b := x(e), y(e)
			if a >= 0 && b > 0 {
				return a % b
			}
			i, err := modInt(a, b)
			return check(e, i, err)
		}), true
	case "/":
		return ofFloat(func(e *Env) float64 {
			f, err := divInt(x(e), y(e))
			if err != nil {
				e.fail(n, "%v", err)
			}
			return f
		}), true
	case "**":
		return intPower(n, x, y, check)
	}
	op := intOps[n.Op]
	return ofInt(func(e *Env) int64 {
		i, err := op(x(e), y(e))
		return check(e, i, err)
	}), true
}

// intPower is typed when the exponent is a literal that is not negative.
func intPower(n *Binary, x, y func(*Env) int64, check func(*Env, int64, error) int64) (code, bool) {
	l, ok := n.Y.(*Literal)
	if !ok || !l.Value.isInt() || l.Value.n < 0 {
		return code{}, false
	}
	return ofInt(func(e *Env) int64 {
		i, err := powInt(x(e), y(e))
		return check(e, i, err)
	}), true
}

// apply computes a binary operator on values of any kind.
func apply(e *Env, n *Binary, x, y Value) Value {
	switch {
	case e.err != nil:
		return Value{}
	case x.isNumber() && y.isNumber():
		v, err := arith(n.Op, x, y)
		if err != nil {
			e.fail(n, "%v", err)
		}
		return v
	case n.Op == "+" && x.kind == y.kind && x.kind == KindString:
		s := x.p.(string) + y.p.(string)
		e.step(n, len(s))
		return Str(s)
	case n.Op == "+" && x.kind == y.kind && x.kind != Unknown:
		return concat(e, n, x, y)
	case n.Op == "*" && y.isInt() && (x.kind == KindList || x.kind == KindTuple):
		return repeat(e, n, x, y.n)
	case n.Op == "*" && x.isInt() && (y.kind == KindList || y.kind == KindTuple):
		return repeat(e, n, y, x.n)
	}
	e.fail(n, "%s cannot be applied to %s and %s", n.Op, brief(x), brief(y))
	return Value{}
}

func concat(e *Env, n Node, x, y Value) Value {
	a, b := x.p.([]Value), y.p.([]Value)
	if !sized(e, n, len(a)+len(b)) {
		return Value{}
	}
	items := make([]Value, 0, len(a)+len(b))
	return Value{kind: x.kind, p: append(append(items, a...), b...)}
}

func repeat(e *Env, n Node, x Value, times int64) Value {
	items := x.p.([]Value)
	times = max(times, 0)
	if len(items) == 0 {
		return x
	}
	if times > MaxList || !sized(e, n, len(items)*int(times)) {
		e.fail(n, "list would be longer than %d elements", MaxList)
		return Value{}
	}
	out := make([]Value, 0, len(items)*int(times))
	for range times {
		out = append(out, items...)
	}
	return Value{kind: x.kind, p: out}
}

// sized accounts for a new list of n elements; false: it must not be made.
func sized(e *Env, n Node, length int) bool {
	if length > MaxList {
		e.fail(n, "list would be longer than %d elements", MaxList)
	}
	return e.step(n, length)
}
