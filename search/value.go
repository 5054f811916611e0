package search

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a parameter's values. The zero value is invalid.
type Kind uint8

// Kinds of value.
const (
	KindInvalid Kind = iota
	Int
	Float
	Bool
	String
)

// String returns the kind's name as T1 files write it.
func (k Kind) String() string {
	switch k {
	case Int:
		return "int"
	case Float:
		return "float"
	case Bool:
		return "bool"
	case String:
		return "string"
	}
	return "invalid"
}

// Value is one value of a parameter. It is comparable. Build it with the Of
// functions, so that equal values are identical.
type Value struct {
	Kind Kind
	I    int64   // Int; Bool as 0 or 1
	F    float64 // Float
	S    string  // String
}

// OfInt returns an integer value.
func OfInt(i int64) Value { return Value{Kind: Int, I: i} }

// OfFloat returns a floating point value.
func OfFloat(f float64) Value { return Value{Kind: Float, F: f} }

// OfBool returns a truth value.
func OfBool(b bool) Value {
	if b {
		return Value{Kind: Bool, I: 1}
	}
	return Value{Kind: Bool}
}

// OfString returns a text value.
func OfString(s string) Value { return Value{Kind: String, S: s} }

// Ints returns integer values, for parameters written in Go.
func Ints(is ...int64) []Value {
	vs := make([]Value, len(is))
	for k, i := range is {
		vs[k] = OfInt(i)
	}
	return vs
}

// String returns the value as people and macros write it: 8, 0.5, true, abc.
// A float always shows that it is one: 1.0.
func (v Value) String() string {
	switch v.Kind {
	case Int:
		return strconv.FormatInt(v.I, 10)
	case Float:
		return formatFloat(v.F)
	case Bool:
		return strconv.FormatBool(v.I != 0)
	case String:
		return v.S
	}
	return "invalid"
}

func formatFloat(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") {
		return s
	}
	return s + ".0"
}

// Text returns the value as the canonical text of a configuration writes it:
// like String, but a text that would be read as something else is quoted.
func (v Value) Text() string {
	if v.Kind == String && mustQuote(v.S) {
		return strconv.Quote(v.S)
	}
	return v.String()
}

func mustQuote(s string) bool {
	if s == "" || strings.ContainsAny(s, ",=\"\\") || strings.TrimSpace(s) != s {
		return true
	}
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return true
		}
	}
	return untyped(s).Kind != String
}

// untyped reads a value whose kind nobody says: the kind its spelling has.
func untyped(text string) Value {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return OfInt(i)
	}
	switch text {
	case "true", "True":
		return OfBool(true)
	case "false", "False":
		return OfBool(false)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return OfFloat(f)
	}
	return OfString(text)
}

// ParseValue reads text as a value of the kind.
func ParseValue(kind Kind, text string) (Value, error) {
	if strings.HasPrefix(text, `"`) {
		u, err := strconv.Unquote(text)
		if err != nil {
			return Value{}, fmt.Errorf("%s is not a well quoted text", text)
		}
		text = u
		if kind == String {
			return OfString(text), nil
		}
	}
	if kind == String {
		return OfString(text), nil
	}
	if v, ok := untyped(text).As(kind); ok {
		return v, nil
	}
	return Value{}, fmt.Errorf("%q is not a value of type %s", text, kind)
}

// As converts the value to the kind when that loses nothing: 1 and 1.0 and
// true are one another, text is only text.
func (v Value) As(kind Kind) (Value, bool) {
	if v.Kind == kind {
		return v, true
	}
	if v.Kind == String || v.Kind == KindInvalid {
		return Value{}, false
	}
	n := v.I
	if v.Kind == Float {
		if v.F != math.Trunc(v.F) || math.Abs(v.F) > 1<<53 {
			return Value{}, false
		}
		n = int64(v.F)
	}
	switch {
	case kind == Int:
		return OfInt(n), true
	case kind == Float && n >= -1<<53 && n <= 1<<53:
		return OfFloat(float64(n)), true
	case kind == Bool && (n == 0 || n == 1):
		return OfBool(n == 1), true
	}
	return Value{}, false
}
