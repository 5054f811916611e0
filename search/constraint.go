package search

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/search/expr"
)

// Constraint is a condition that valid configurations meet.
type Constraint struct {
	Expr  *expr.Expr
	Where string // what errors call it, e.g. "ConfigurationSpace.Conditions[2].Expression"; may be empty
}

// ParseConstraint reads a constraint from text.
func ParseConstraint(text string) (Constraint, error) {
	e, err := expr.Parse(text)
	return Constraint{Expr: e}, err
}

// wrap says which constraint an error is about.
func (c Constraint) wrap(err error) error {
	if c.Where == "" {
		return fmt.Errorf("constraint %w", err)
	}
	return fmt.Errorf("%s: %w", c.Where, err)
}

// variable converts a kind of ours to one of an expression's variable.
func (k Kind) variable() expr.Kind {
	return [...]expr.Kind{expr.Unknown, expr.KindInt, expr.KindFloat, expr.KindBool, expr.KindString}[k]
}

// Operand returns the value as an expression's variable holds it.
func (v Value) Operand() expr.Value {
	switch v.Kind {
	case Int:
		return expr.Int(v.I)
	case Float:
		return expr.Float(v.F)
	case Bool:
		return expr.Bool(v.I != 0)
	case String:
		return expr.Str(v.S)
	}
	return expr.Value{}
}

// FromOperand returns the value of an expression as a parameter's value; lists
// are none.
func FromOperand(v expr.Value) (Value, bool) {
	switch v.Kind() {
	case expr.KindInt:
		i, _ := v.Int()
		return OfInt(i), true
	case expr.KindFloat:
		f, _ := v.Float()
		return OfFloat(f), true
	case expr.KindBool:
		return OfBool(v.Truth()), true
	case expr.KindString:
		s, _ := v.Str()
		return OfString(s), true
	}
	return Value{}, false
}

// Vars returns the parameters as variables of an expression, in order.
func Vars(params []Param) []expr.Var {
	vars := make([]expr.Var, len(params))
	for i, p := range params {
		vars[i] = expr.Var{Name: p.Name, Kind: p.Kind().variable()}
	}
	return vars
}

// Param is a tunable with its values in enumeration order: at least one, all
// of one kind, each once.
type Param struct {
	Name   string
	Values []Value
}

// Kind returns the kind of the parameter's values.
func (p Param) Kind() Kind {
	if len(p.Values) == 0 {
		return KindInvalid
	}
	return p.Values[0].Kind
}

func (p Param) validate() error {
	if p.Name == "" || strings.ContainsAny(p.Name, "=, \t\r\n\"") {
		return fmt.Errorf("parameter name %q is not usable in NAME=VALUE lists", p.Name)
	}
	if len(p.Values) == 0 {
		return fmt.Errorf("parameter %s has no values", p.Name)
	}
	seen := make(map[Value]bool, len(p.Values))
	for _, v := range p.Values {
		switch {
		case v.Kind != p.Kind() || v.Kind == KindInvalid:
			return fmt.Errorf("parameter %s mixes %s and %s values", p.Name, p.Kind(), v.Kind)
		case seen[v]:
			return fmt.Errorf("parameter %s has the value %s twice", p.Name, v)
		}
		seen[v] = true
	}
	return nil
}

func validateParams(params []Param) error {
	seen := map[string]bool{}
	for _, p := range params {
		if err := p.validate(); err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("parameter %s is declared twice", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}
