package expr

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// builtin computes a function of its arguments; it reports errors to e.
type builtin struct {
	least, most int // number of arguments
	run         func(e *Env, n *Call, args []Value) Value
}

var builtins map[string]builtin

func init() { // a variable initialised in place would refer to itself
	builtins = map[string]builtin{
		"abs":    {1, 1, absOf},
		"all":    {1, 1, func(e *Env, n *Call, a []Value) Value { return quantified(e, n, a[0], false) }},
		"any":    {1, 1, func(e *Env, n *Call, a []Value) Value { return quantified(e, n, a[0], true) }},
		"bool":   {1, 1, func(e *Env, n *Call, a []Value) Value { return Bool(a[0].Truth()) }},
		"float":  {1, 1, floatOf},
		"int":    {1, 1, intOf},
		"len":    {1, 1, lenOf},
		"list":   {1, 1, func(e *Env, n *Call, a []Value) Value { return List(items(e, n, a[0])) }},
		"max":    {1, math.MaxInt, func(e *Env, n *Call, a []Value) Value { return extreme(e, n, a, 1) }},
		"min":    {1, math.MaxInt, func(e *Env, n *Call, a []Value) Value { return extreme(e, n, a, -1) }},
		"pow":    {2, 2, powOf},
		"range":  {1, 3, rangeOf},
		"round":  {1, 2, roundOf},
		"sorted": {1, 1, sortedOf},
		"sum":    {1, 1, sumOf},
		"tuple":  {1, 1, func(e *Env, n *Call, a []Value) Value { return Tuple(items(e, n, a[0])) }},
	}
}

func builtinNames() string {
	var names []string
	for name := range builtins {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func (c *compiler) call(n *Call) code {
	f := builtins[n.Func]
	args := make([]code, len(n.Args))
	ints := true
	for i, a := range n.Args {
		args[i] = c.node(a)
		ints = ints && args[i].kind == KindInt
	}
	if len(args) < f.least || len(args) > f.most {
		return c.fail(n, "%s takes %s, not %d", n.Func, counted(f), len(args))
	}
	if ints && len(args) == 2 && (n.Func == "min" || n.Func == "max") {
		return intExtreme(n.Func == "max", args[0].i, args[1].i)
	}
	return code{v: func(e *Env) Value {
		vs := make([]Value, len(args))
		for i, a := range args {
			vs[i] = a.v(e)
		}
		if e.err != nil {
			return Value{}
		}
		return f.run(e, n, vs)
	}}
}

func counted(f builtin) string {
	switch {
	case f.most == math.MaxInt:
		return "one argument or more"
	case f.least == 1 && f.most == 1:
		return "one argument"
	case f.least == f.most:
		return strconv.Itoa(f.least) + " arguments"
	}
	return strconv.Itoa(f.least) + " to " + strconv.Itoa(f.most) + " arguments"
}

func intExtreme(largest bool, x, y func(*Env) int64) code {
	if largest {
		return ofInt(func(e *Env) int64 { return max(x(e), y(e)) })
	}
	return ofInt(func(e *Env) int64 { return min(x(e), y(e)) })
}

// items returns the elements of a list argument.
func items(e *Env, n *Call, v Value) []Value {
	list, ok := e.elements(n, v)
	if !ok {
		e.fail(n, "%s needs a list, not %s", n.Func, brief(v))
	}
	return list
}

// elements are those of a list or tuple, and the characters of a text; at the cost of a step
// for each.
func (e *Env) elements(n Node, v Value) ([]Value, bool) {
	if s, ok := v.Str(); ok {
		if !e.step(n, len(s)) {
			return nil, true
		}
		var list []Value
		for _, r := range s {
			list = append(list, Str(string(r)))
		}
		return list, true
	}
	list, ok := v.Items()
	e.step(n, len(list))
	return list, ok
}

func absOf(e *Env, n *Call, a []Value) Value {
	switch v := a[0]; {
	case v.kind == KindFloat:
		return Float(math.Abs(v.float()))
	case v.isInt() && v.n == math.MinInt64:
		e.fail(n, "%v", errOverflow)
	case v.isInt():
		return Int(max(v.n, -v.n))
	default:
		e.fail(n, "abs of %s", brief(v))
	}
	return Value{}
}

func quantified(e *Env, n *Call, list Value, ends bool) Value {
	for _, v := range items(e, n, list) {
		if v.Truth() == ends {
			return Bool(ends)
		}
	}
	return Bool(!ends)
}

func floatOf(e *Env, n *Call, a []Value) Value {
	if s, ok := a[0].Str(); ok {
		if f, err := strconv.ParseFloat(plainNumber(s), 64); err == nil || math.IsInf(f, 0) {
			return Float(f)
		}
	}
	if !a[0].isNumber() {
		e.fail(n, "float of %s", brief(a[0]))
	}
	return Float(a[0].float())
}

// plainNumber is a number in a text as Go reads it: blanks round it are passed over, and
// what Python does not take (hexadecimal digits) is none.
func plainNumber(s string) string {
	if s = strings.TrimSpace(s); strings.ContainsAny(s, "xXpP_") {
		return ""
	}
	return s
}

// intOf cuts the fraction.
func intOf(e *Env, n *Call, a []Value) Value {
	v := a[0]
	if v.isInt() {
		return Int(v.n)
	}
	if s, ok := v.Str(); ok {
		if i, err := strconv.ParseInt(plainNumber(s), 10, 64); err == nil {
			return Int(i)
		}
	}
	f := math.Trunc(v.float())
	if v.kind != KindFloat || !(f >= -1<<63 && f < 1<<63) {
		e.fail(n, "int of %s", brief(v))
		return Value{}
	}
	return Int(int64(f))
}

func lenOf(e *Env, n *Call, a []Value) Value {
	if s, ok := a[0].Str(); ok {
		e.step(n, len(s))
		return Int(int64(utf8.RuneCountInString(s)))
	}
	return Int(int64(len(items(e, n, a[0]))))
}

// extreme is min (sign -1) and max (sign 1): of the elements of the only
// argument, or of several arguments. Of equal ones the first.
func extreme(e *Env, n *Call, a []Value, sign int) Value {
	if len(a) == 1 {
		a = items(e, n, a[0])
	}
	if len(a) == 0 {
		e.fail(n, "%s of an empty list", n.Func)
		return Value{}
	}
	best := a[0]
	for _, v := range a[1:] {
		c, ok := e.order(n, v, best)
		if !ok && !(v.isNumber() && best.isNumber()) { // a NaN is never better
			e.fail(n, "%s cannot compare %s and %s", n.Func, brief(v), brief(best))
			return Value{}
		}
		if c*sign > 0 {
			best = v
		}
	}
	return best
}

func powOf(e *Env, n *Call, a []Value) Value {
	return apply(e, &Binary{At: n.At, Op: "**"}, a[0], a[1])
}

func rangeOf(e *Env, n *Call, a []Value) Value {
	for _, v := range a {
		if !v.isInt() {
			e.fail(n, "range needs integers, not %s", brief(v))
			return Value{}
		}
	}
	from, to, step := int64(0), a[0].n, int64(1)
	if len(a) > 1 {
		from, to = a[0].n, a[1].n
	}
	if len(a) > 2 {
		step = a[2].n
	}
	if step == 0 {
		e.fail(n, "range with step 0")
		return Value{}
	}
	// Unsigned distances cannot overflow.
	var count uint64
	if step > 0 && from < to {
		count = (uint64(to)-uint64(from)-1)/uint64(step) + 1
	} else if step < 0 && from > to {
		count = (uint64(from)-uint64(to)-1)/-uint64(step) + 1
	}
	if count > MaxList || !sized(e, n, int(count)) {
		e.fail(n, "list would be longer than %d elements", MaxList)
		return Value{}
	}
	list := make([]Value, count)
	for i := range list {
		list[i] = Int(from + int64(i)*step)
	}
	return List(list)
}

// roundOf rounds half to even, to an integer or to a number of decimals.
func roundOf(e *Env, n *Call, a []Value) Value {
	v := a[0]
	if !v.isNumber() || len(a) == 2 && (!a[1].isInt() || a[1].n < 0 || a[1].n > 300) {
		e.fail(n, "round needs a number and, optionally, 0 to 300 decimals")
		return Value{}
	}
	switch {
	case v.isInt():
		return Int(v.n)
	case len(a) == 1:
		return intOf(e, n, []Value{Float(math.RoundToEven(v.float()))})
	}
	f, err := strconv.ParseFloat(strconv.FormatFloat(v.float(), 'f', int(a[1].n), 64), 64)
	if err != nil {
		e.fail(n, "round of %s", brief(v))
	}
	return Float(f)
}

func sortedOf(e *Env, n *Call, a []Value) Value {
	list := slices.Clone(items(e, n, a[0]))
	if !e.step(n, 2*len(list)) { // in order already it is cheap, else about ten comparisons each
		return Value{}
	}
	slices.SortStableFunc(list, func(x, y Value) int {
		c, ok := e.order(n, x, y)
		if !ok {
			e.fail(n, "sorted cannot compare %s and %s", brief(x), brief(y))
		}
		return c
	})
	return List(list)
}

func sumOf(e *Env, n *Call, a []Value) Value {
	total := Int(0)
	if s, ok := a[0].Str(); ok && s == "" {
		return total
	}
	for _, v := range items(e, n, a[0]) {
		if !v.isNumber() {
			e.fail(n, "sum of %s", brief(v))
			return Value{}
		}
		total = apply(e, &Binary{At: n.At, Op: "+"}, total, v)
	}
	return total
}
