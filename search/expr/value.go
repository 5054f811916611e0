package expr

import (
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a value. The zero value is invalid; as the kind of a
// variable it means that the kind is not known before evaluation.
type Kind uint8

// Kinds of value.
const (
	Unknown Kind = iota
	KindInt
	KindFloat
	KindBool
	KindString
	KindList
	KindTuple
)

// String returns Python's name of the type.
func (k Kind) String() string {
	if k > KindTuple {
		return "invalid"
	}
	return [...]string{"invalid", "int", "float", "bool", "str", "list", "tuple"}[k]
}

// Value is the value of an expression. The zero value is invalid.
type Value struct {
	kind Kind
	n    int64 // Int; Bool as 0 or 1; Float as its bits
	p    any   // string or []Value
}

// Int returns an integer.
func Int(i int64) Value { return Value{kind: KindInt, n: i} }

// Float returns a floating point number.
func Float(f float64) Value { return Value{kind: KindFloat, n: int64(math.Float64bits(f))} }

// Bool returns a truth value.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, n: 1}
	}
	return Value{kind: KindBool}
}

// Str returns a text.
func Str(s string) Value { return Value{kind: KindString, p: s} }

// List returns a list that owns items.
func List(items []Value) Value { return Value{kind: KindList, p: items} }

// Tuple returns a tuple that owns items.
func Tuple(items []Value) Value { return Value{kind: KindTuple, p: items} }

// Ints returns a list of integers.
func Ints(is ...int64) Value {
	vs := make([]Value, len(is))
	for k, i := range is {
		vs[k] = Int(i)
	}
	return List(vs)
}

// Kind returns the value's type.
func (v Value) Kind() Kind { return v.kind }

// Int returns an Int, or a Bool as 0 or 1.
func (v Value) Int() (int64, bool) { return v.n, v.kind == KindInt || v.kind == KindBool }

// Float returns any number as a floating point number.
func (v Value) Float() (float64, bool) { return v.float(), v.isNumber() }

// Str returns a text.
func (v Value) Str() (string, bool) { s, ok := v.p.(string); return s, ok }

// Items returns the elements of a list or tuple. Do not modify.
func (v Value) Items() ([]Value, bool) { l, ok := v.p.([]Value); return l, ok }

// Truth reports whether Python takes the value as true.
func (v Value) Truth() bool {
	switch v.kind {
	case KindFloat:
		return v.float() != 0
	case KindString:
		return v.p.(string) != ""
	case KindList, KindTuple:
		return len(v.p.([]Value)) > 0
	}
	return v.n != 0
}

func (v Value) isInt() bool    { return v.kind == KindInt || v.kind == KindBool }
func (v Value) isNumber() bool { return v.isInt() || v.kind == KindFloat }

// float returns a number, or 0.
func (v Value) float() float64 {
	switch v.kind {
	case KindFloat:
		return math.Float64frombits(uint64(v.n))
	case KindInt, KindBool:
		return float64(v.n)
	}
	return 0
}

// Equal reports whether Python's == holds: numbers compare by value whatever
// their type.
func (v Value) Equal(w Value) bool {
	return equal(v, w, func(int) bool { return true })
}

// equal is Equal; visit is told of the elements and bytes to be looked at and
// may end it, since lists that share elements can be exponentially large.
func equal(v, w Value, visit func(count int) bool) bool {
	if v.isNumber() && w.isNumber() {
		c, ordered := compareNumbers(v, w)
		return ordered && c == 0
	}
	if v.kind != w.kind {
		return false
	}
	if v.kind == KindString {
		s, t := v.p.(string), w.p.(string)
		return len(s) == len(t) && visit(len(s)) && s == t
	}
	a, _ := v.Items()
	b, _ := w.Items()
	if len(a) != len(b) || !visit(len(a)) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i], visit) {
			return false
		}
	}
	return true
}

// compareNumbers orders two numbers exactly; ordered is false with a NaN.
func compareNumbers(v, w Value) (c int, ordered bool) {
	switch {
	case v.isInt() && w.isInt():
		return compareInts(v.n, w.n), true
	case v.isInt():
		c, ordered = compareIntFloat(v.n, w.float())
		return c, ordered
	case w.isInt():
		c, ordered = compareIntFloat(w.n, v.float())
		return -c, ordered
	}
	a, b := v.float(), w.float()
	switch {
	case a < b:
		return -1, true
	case a > b:
		return 1, true
	}
	return 0, a == b
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareIntFloat orders an integer and a float without rounding the integer.
func compareIntFloat(i int64, f float64) (int, bool) {
	switch {
	case math.IsNaN(f):
		return 0, false
	case f >= 1<<63:
		return -1, true
	case f < -1<<63:
		return 1, true
	}
	t := math.Trunc(f)
	if c := compareInts(i, int64(t)); c != 0 {
		return c, true
	}
	switch {
	case f > t:
		return -1, true
	case f < t:
		return 1, true
	}
	return 0, true
}

// String returns the value as an expression that evaluates to it.
func (v Value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v Value) write(b *strings.Builder) {
	switch v.kind {
	case KindInt:
		b.WriteString(strconv.FormatInt(v.n, 10))
	case KindFloat:
		b.WriteString(formatFloat(v.float()))
	case KindBool:
		if v.n != 0 {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case KindString:
		b.WriteString(quote(v.p.(string)))
	case KindList, KindTuple:
		v.writeItems(b)
	default:
		b.WriteString("invalid")
	}
}

func (v Value) writeItems(b *strings.Builder) {
	items := v.p.([]Value)
	brackets := "[]"
	if v.kind == KindTuple {
		brackets = "()"
	}
	b.WriteByte(brackets[0])
	for i, it := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		it.write(b)
	}
	if v.kind == KindTuple && len(items) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(brackets[1])
}

// formatFloat writes a float so that it reads back as the same float.
// Infinity is written as a literal that overflows to it, as Python reads it.
func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "1e999"
	case math.IsInf(f, -1):
		return "-1e999"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".eN") {
		return s
	}
	return s + ".0"
}

// quote writes a text as a literal of the grammar.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\'', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		case '\r':
			b.WriteString(`\r`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
