package expr

import "strings"

// relation returns what an ordering operator says of a three-way comparison.
func relation(op string) func(c int) bool {
	switch op {
	case "<":
		return func(c int) bool { return c < 0 }
	case "<=":
		return func(c int) bool { return c <= 0 }
	case ">":
		return func(c int) bool { return c > 0 }
	case ">=":
		return func(c int) bool { return c >= 0 }
	case "==":
		return func(c int) bool { return c == 0 }
	case "!=":
		return func(c int) bool { return c != 0 }
	}
	return nil
}

// compare is the code of a chain: every term is computed at most once, and
// none after a comparison that fails.
func (c *compiler) compare(n *Compare) func(*Env) bool {
	terms := make([]code, len(n.Terms))
	ints := true
	for i, t := range n.Terms {
		terms[i] = c.node(t)
		ints = ints && terms[i].i != nil
	}
	if ints {
		if direct := intComparison(n.Ops, terms); direct != nil {
			return direct
		}
	}
	if len(terms) == 2 && (n.Ops[0] == "in" || n.Ops[0] == "not in") {
		if member := memberOf(n, terms[0], n.Terms[1]); member != nil {
			return member
		}
	}
	return func(e *Env) bool {
		x := terms[0].v(e)
		for i, op := range n.Ops {
			y := terms[i+1].v(e)
			if !holds(e, n, op, x, y) {
				return false
			}
			x = y
		}
		return true
	}
}

// intComparison is the code of one or two comparisons of integers, nil when
// there are more of them or one is "in".
func intComparison(ops []string, terms []code) func(*Env) bool {
	switch len(ops) {
	case 1:
		return intCompare(ops[0], terms[0].i, terms[1].i)
	case 2:
		return intChain(ops, terms)
	}
	return nil
}

func intCompare(op string, x, y func(*Env) int64) func(*Env) bool {
	switch op {
	case "<":
		return func(e *Env) bool { return x(e) < y(e) }
	case "<=":
		return func(e *Env) bool { return x(e) <= y(e) }
	case ">":
		return func(e *Env) bool { return x(e) > y(e) }
	case ">=":
		return func(e *Env) bool { return x(e) >= y(e) }
	case "==":
		return func(e *Env) bool { return x(e) == y(e) }
	case "!=":
		return func(e *Env) bool { return x(e) != y(e) }
	}
	return nil
}

func intChain(ops []string, terms []code) func(*Env) bool {
	x, y, z := terms[0].i, terms[1].i, terms[2].i
	first, second := relation(ops[0]), relation(ops[1])
	if first == nil || second == nil {
		return nil
	}
	return func(e *Env) bool {
		a, m := x(e), y(e)
		return first(compareInts(a, m)) && second(compareInts(m, z(e)))
	}
}

// memberOf is the code of "x in (1, 2, 3)" with literal elements: nil when the
// elements are not.
func memberOf(n *Compare, x code, of Node) func(*Env) bool {
	s, ok := of.(*Sequence)
	if !ok {
		return nil
	}
	var items []Value
	for _, it := range s.Items {
		l, ok := it.(*Literal)
		if !ok {
			return nil
		}
		items = append(items, l.Value)
	}
	want := n.Ops[0] == "in"
	return func(e *Env) bool { return contains(e, n, items, x.v(e)) == want }
}

func contains(e *Env, n Node, items []Value, v Value) bool {
	for _, it := range items {
		if e.equal(n, it, v) {
			return true
		}
	}
	return false
}

// equal is Python's ==, at the cost of a step for every element of a list.
func (e *Env) equal(n Node, v, w Value) bool {
	return equal(v, w, func(count int) bool { return e.step(n, count) })
}

// holds applies one comparison to values of any kind.
func holds(e *Env, n Node, op string, x, y Value) bool {
	switch op {
	case "==":
		return e.equal(n, x, y)
	case "!=":
		return !e.equal(n, x, y)
	case "in", "not in":
		return member(e, n, x, y) == (op == "in")
	}
	if x.isNumber() && y.isNumber() {
		c, ordered := compareNumbers(x, y)
		return ordered && relation(op)(c)
	}
	c, ok := e.order(n, x, y)
	if !ok {
		e.fail(n, "%s cannot compare %s and %s", op, brief(x), brief(y))
		return false
	}
	return relation(op)(c)
}

func member(e *Env, n Node, x, y Value) bool {
	if text, ok := y.Str(); ok {
		part, ok := x.Str()
		if !ok {
			e.fail(n, "in a text needs a text before it, not %s", brief(x))
		}
		e.step(n, len(text))
		return strings.Contains(text, part)
	}
	items, ok := y.Items()
	if !ok {
		e.fail(n, "in needs a list, not %s", brief(y))
		return false
	}
	e.step(n, len(items))
	return contains(e, n, items, x)
}

// order compares two values that Python can order: numbers, texts, and lists
// or tuples of them.
func (e *Env) order(n Node, x, y Value) (int, bool) {
	switch {
	case x.isNumber() && y.isNumber():
		return compareNumbers(x, y)
	case x.kind == KindString && y.kind == KindString:
		a, b := x.p.(string), y.p.(string)
		e.step(n, min(len(a), len(b)))
		return strings.Compare(a, b), true
	case x.kind == y.kind && (x.kind == KindList || x.kind == KindTuple):
		a, b := x.p.([]Value), y.p.([]Value)
		for i := range min(len(a), len(b)) {
			if !e.step(n, 1) {
				return 0, true
			}
			if !e.equal(n, a[i], b[i]) {
				return e.order(n, a[i], b[i])
			}
		}
		return compareInts(int64(len(a)), int64(len(b))), true
	}
	return 0, false
}
