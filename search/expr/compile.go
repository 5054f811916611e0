package expr

import "strings"

// Var is a variable of a program. With a Kind other than Unknown, its values
// are promised to be of that kind and evaluation is faster.
type Var struct {
	Name string
	Kind Kind
}

// Program is an expression bound to variables. It is immutable and safe for
// concurrent use, each goroutine with an Env of its own.
type Program struct {
	expr   *Expr
	code   code
	test   func(*Env) bool
	locals int
}

// code computes a node. i is set when the node is an Int or a Bool, f when it
// is a Float; v always.
type code struct {
	kind Kind // Unknown when it depends on values
	v    func(*Env) Value
	i    func(*Env) int64
	f    func(*Env) float64
}

// Compile binds the names of e to variables; value k of an Env belongs to
// vars[k]. A name that is not among them is an error that lists them.
func Compile(e *Expr, vars []Var) (*Program, error) {
	c := &compiler{expr: e, vars: vars}
	p := &Program{expr: e, code: c.node(e.Root)}
	p.test = c.truth(e.Root)
	if c.err != nil {
		return nil, c.err
	}
	p.locals = c.locals
	return p, nil
}

// Eval returns the value of the expression. The error is an *Error.
func (p *Program) Eval(env *Env) (Value, error) {
	env.begin(p)
	v := p.code.v(env)
	if err := env.end(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// Truth returns whether the expression holds.
func (p *Program) Truth(env *Env) (bool, error) {
	env.begin(p)
	t := p.test(env)
	return t, env.end()
}

// Int returns the value of the expression, which must be an integer or a float
// that is one.
func (p *Program) Int(env *Env) (int64, error) {
	env.begin(p)
	if p.code.i != nil {
		i := p.code.i(env)
		return i, env.end()
	}
	v := p.code.v(env)
	if v.isInt() || env.err != nil {
		return v.n, env.end()
	}
	f := v.float()
	i := int64(f)
	if v.kind != KindFloat || float64(i) != f || f >= 1<<63 {
		env.fail(p.expr.Root, "an integer is expected, not %s", brief(v))
	}
	return i, env.end()
}

// Float returns the value of the expression, which must be a number.
func (p *Program) Float(env *Env) (float64, error) {
	env.begin(p)
	if p.code.f != nil {
		f := p.code.f(env)
		return f, env.end()
	}
	v := p.code.v(env)
	if !v.isNumber() {
		env.fail(p.expr.Root, "a number is expected, not %s", brief(v))
	}
	return v.float(), env.end()
}

// brief describes a value in an error.
func brief(v Value) string {
	switch v.kind {
	case Unknown:
		return "nothing"
	case KindList, KindTuple:
		return "a " + v.kind.String()
	}
	return v.kind.String() + " " + v.String()
}

type scope struct {
	name string
	slot int
	set  bool // whether the code that is compiled runs inside its "for"
}

type compiler struct {
	expr   *Expr
	vars   []Var
	scopes []scope // innermost last
	locals int
	err    *Error
}

func (c *compiler) fail(n Node, format string, args ...any) code {
	if c.err == nil {
		c.err = c.expr.Errorf(n, format, args...)
	}
	return constant(Int(0))
}

// constant is the code of a known value.
func constant(v Value) code {
	k := code{kind: v.kind, v: func(*Env) Value { return v }}
	switch v.kind {
	case KindInt, KindBool:
		i := v.n
		k.i = func(*Env) int64 { return i }
	case KindFloat:
		f := v.float()
		k.f = func(*Env) float64 { return f }
	}
	return k
}

// ofInt is the code of an Int.
func ofInt(i func(*Env) int64) code {
	return code{kind: KindInt, i: i, v: func(e *Env) Value { return Int(i(e)) }}
}

// ofBool is the code of a Bool.
func ofBool(t func(*Env) bool) code {
	return code{
		kind: KindBool,
		v:    func(e *Env) Value { return Bool(t(e)) },
		i: func(e *Env) int64 {
			if t(e) {
				return 1
			}
			return 0
		},
	}
}

// ofFloat is the code of a Float.
func ofFloat(f func(*Env) float64) code {
	return code{kind: KindFloat, f: f, v: func(e *Env) Value { return Float(f(e)) }}
}

// float returns the code of a number as a float, nil if that is not certain.
func (k code) float() func(*Env) float64 {
	switch {
	case k.f != nil:
		return k.f
	case k.i != nil:
		return func(e *Env) float64 { return float64(k.i(e)) }
	}
	return nil
}

func (c *compiler) node(n Node) code {
	switch n := n.(type) {
	case *Literal:
		return constant(n.Value)
	case *Name:
		return c.name(n)
	case *Unary:
		return c.unary(n)
	case *Binary:
		return c.binary(n)
	case *Compare:
		return ofBool(c.compare(n))
	case *Logic:
		return c.logic(n)
	case *Cond:
		return c.cond(n)
	case *Call:
		return c.call(n)
	case *Index:
		return c.index(n)
	case *Sequence:
		return c.sequence(n)
	case *Comprehension:
		return c.comprehension(n)
	}
	return c.fail(n, "unknown node %T", n)
}

func (c *compiler) name(n *Name) code {
	for k := len(c.scopes) - 1; k >= 0; k-- {
		if s := c.scopes[k]; s.name == n.Name {
			slot := s.slot
			if !s.set {
				return code{v: func(e *Env) Value {
					if e.locals[slot].kind == Unknown {
						e.fail(n, "%s is read before its \"for\", of the same comprehension", n.Name)
						return Int(0)
					}
					return e.locals[slot]
				}}
			}
			return code{v: func(e *Env) Value { return e.locals[slot] }}
		}
	}
	for k, v := range c.vars {
		if v.Name == n.Name {
			return variable(k, v.Kind)
		}
	}
	return c.fail(n, "unknown name %s; %s", n.Name, c.known())
}

func (c *compiler) known() string {
	var names []string
	for _, v := range c.vars {
		names = append(names, v.Name)
	}
	for _, s := range c.scopes {
		names = append(names, s.name)
	}
	if len(names) == 0 {
		return "no names are known here"
	}
	return "known are " + strings.Join(names, ", ")
}

func variable(k int, kind Kind) code {
	v := code{kind: kind, v: func(e *Env) Value { return e.vars[k] }}
	switch kind {
	case KindInt, KindBool:
		v.i = func(e *Env) int64 { return e.vars[k].n }
	case KindFloat:
		v.f = func(e *Env) float64 { return e.vars[k].float() }
	}
	return v
}

// truth returns the code that says whether Python takes n as true.
func (c *compiler) truth(n Node) func(*Env) bool {
	switch n := n.(type) {
	case *Compare:
		return c.compare(n)
	case *Logic:
		return c.logicTruth(n)
	case *Unary:
		if n.Op == "not" {
			x := c.truth(n.X)
			return func(e *Env) bool { return !x(e) }
		}
	}
	k := c.node(n)
	switch {
	case k.i != nil:
		return func(e *Env) bool { return k.i(e) != 0 }
	case k.f != nil:
		return func(e *Env) bool { return k.f(e) != 0 }
	}
	return func(e *Env) bool { return k.v(e).Truth() }
}

func (c *compiler) logicTruth(n *Logic) func(*Env) bool {
	terms := make([]func(*Env) bool, len(n.Terms))
	for i, t := range n.Terms {
		terms[i] = c.truth(t)
	}
	ends := n.Op == "or" // the value of a term that ends the evaluation
	if len(terms) == 2 {
		x, y := terms[0], terms[1]
		if ends {
			return func(e *Env) bool { return x(e) || y(e) }
		}
		return func(e *Env) bool { return x(e) && y(e) }
	}
	return func(e *Env) bool {
		for _, t := range terms {
			if t(e) == ends {
				return ends
			}
		}
		return !ends
	}
}

// logic gives the operand that decides, as Python does.
func (c *compiler) logic(n *Logic) code {
	terms := make([]code, len(n.Terms))
	allBool := true
	for i, t := range n.Terms {
		terms[i] = c.node(t)
		allBool = allBool && terms[i].kind == KindBool
	}
	if allBool {
		return ofBool(c.logicTruth(n))
	}
	ends := n.Op == "or"
	return code{v: func(e *Env) Value {
		var v Value
		for _, t := range terms {
			if v = t.v(e); v.Truth() == ends {
				return v
			}
		}
		return v
	}}
}

func (c *compiler) cond(n *Cond) code {
	test, x, y := c.truth(n.Test), c.node(n.Then), c.node(n.Else)
	if x.kind == KindInt && y.kind == KindInt {
		return ofInt(func(e *Env) int64 {
			if test(e) {
				return x.i(e)
			}
			return y.i(e)
		})
	}
	return code{v: func(e *Env) Value {
		if test(e) {
			return x.v(e)
		}
		return y.v(e)
	}}
}
