package expr

import (
	"math"
	"strings"
)

func (c *compiler) unary(n *Unary) code {
	if n.Op == "not" {
		return ofBool(c.truth(n))
	}
	if l, ok := n.X.(*Literal); ok && n.Op == "-" && l.Value.kind == KindInt {
		return constant(Int(-l.Value.n))
	}
	x := c.node(n.X)
	if n.Op == "~" {
		return inverted(n, x)
	}
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

// inverted is ~x, which is -x - 1 of an integer.
func inverted(n Node, x code) code {
	if x.i != nil {
		return ofInt(func(e *Env) int64 { return ^x.i(e) })
	}
	return code{v: func(e *Env) Value {
		v := x.v(e)
		if !v.isInt() {
			e.fail(n, "~ needs an integer, not %s", brief(v))
		}
		return Int(^v.n)
	}}
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
	truths := x.kind == KindBool && y.kind == KindBool && ofBits(n.Op) // may give one
	if x.i != nil && y.i != nil && !truths {
		if k, ok := intBinary(n, x.i, y.i); ok {
			return k
		}
	} else if fx, fy := x.float(), y.float(); fx != nil && fy != nil && !ofBits(n.Op) {
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
	case n.Op == "*" && y.isInt() && x.kind == KindString:
		return repeatText(e, n, x.p.(string), y.n)
	case n.Op == "*" && x.isInt() && y.kind == KindString:
		return repeatText(e, n, y.p.(string), x.n)
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

func repeatText(e *Env, n Node, text string, times int64) Value {
	times = max(times, 0)
	if text == "" {
		return Str("")
	}
	if times > MaxSteps || !e.step(n, len(text)*int(times)) {
		e.fail(n, "text would be longer than %d bytes", MaxSteps)
		return Value{}
	}
	return Str(strings.Repeat(text, int(times)))
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
