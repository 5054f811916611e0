package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/expr"
)

// problemName is the variable that holds the problem size.
const problemName = "ProblemSize"

// indexName is the variable that holds a generator's element index.
const indexName = "i"

// expression is a field that holds an expression, parsed.
type expression struct {
	path string
	expr *expr.Expr // nil: the field is absent
}

// expression reads a field that holds a number or a text in the grammar.
func (rec *record) expression(name string) expression {
	d, ok := rec.get(name)
	if !ok {
		return expression{path: d.path}
	}
	return rec.r.expression(d)
}

func (r *reader) expression(d document) expression {
	var text string
	switch v := d.value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = expr.Bool(v).String()
	default:
		r.fail(d.path, "a number or an expression in a text is expected, not %s", what(d.value))
		return expression{path: d.path}
	}
	e, err := expr.Parse(text)
	if err != nil {
		r.fail(d.path, "%v", err)
	}
	return expression{d.path, e}
}

// names returns the variables the expression uses.
func (x expression) names() []string {
	if x.expr == nil {
		return nil
	}
	return x.expr.Names()
}

// scope is what expressions of a definition may refer to.
type scope struct {
	params    []search.Param
	vars      []expr.Var // the parameters, then ProblemSize
	constants []constant
}

func newScope(params []search.Param, constants []constant) *scope {
	return &scope{params, append(search.Vars(params), expr.Var{Name: problemName, Kind: expr.KindList}), constants}
}

// known lists what may be named.
func (s *scope) known() string {
	var names []string
	for _, v := range s.vars {
		names = append(names, v.Name)
	}
	for _, c := range s.constants {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// constant returns the value of a constant that expressions see. The element
// index of generators hides one of its name.
func (s *scope) constant(name string) (search.Value, bool) {
	i := slices.IndexFunc(s.constants, func(c constant) bool { return c.name == name && name != indexName })
	if i < 0 {
		return search.Value{}, false
	}
	return s.constants[i].value, true
}

// unknown returns the first name of an expression that is neither a parameter
// nor ProblemSize nor a constant nor extra.
func (s *scope) unknown(x expression, extra ...string) (string, bool) {
	for _, n := range x.names() {
		if _, constant := s.constant(n); !constant && !slices.Contains(extra, n) && !slices.ContainsFunc(s.vars, func(v expr.Var) bool { return v.Name == n }) {
			return n, true
		}
	}
	return "", false
}

// listed replaces a parameter that is the only argument of min, max, len or
// sum by the list of its values, and constants by theirs.
func (s *scope) listed(x expression) expression {
	if x.expr == nil {
		return x
	}
	free := x.names()
	x.expr = x.expr.Rewrite(func(n expr.Node) expr.Node {
		if name, ok := n.(*expr.Name); ok && slices.Contains(free, name.Name) {
			if v, ok := s.constant(name.Name); ok {
				return &expr.Literal{At: name.At, Value: v.Operand()}
			}
		}
		c, ok := n.(*expr.Call)
		if !ok || len(c.Args) != 1 || !slices.Contains([]string{"min", "max", "len", "sum"}, c.Func) {
			return n
		}
		name, ok := c.Args[0].(*expr.Name)
		if !ok {
			return n
		}
		for _, p := range s.params {
			if p.Name == name.Name {
				return &expr.Call{At: c.At, Func: c.Func, Args: []expr.Node{literalList(name.At, p.Values)}}
			}
		}
		return n
	})
	return x
}

func literalList(at int, values []search.Value) *expr.Sequence {
	l := &expr.Sequence{At: at, Open: '['}
	for _, v := range values {
		l.Items = append(l.Items, &expr.Literal{At: at, Value: v.Operand()})
	}
	return l
}

// withProblem replaces ProblemSize by its value.
func withProblem(e *expr.Expr, problem []int64) *expr.Expr {
	return e.Rewrite(func(n expr.Node) expr.Node {
		name, ok := n.(*expr.Name)
		if !ok || name.Name != problemName {
			return n
		}
		values := make([]search.Value, len(problem))
		for i, v := range problem {
			values[i] = search.OfInt(v)
		}
		return literalList(name.At, values)
	})
}

// bindings are the values that the expressions of one launch see.
type bindings struct {
	scope *scope
	cfg   search.Config
	env   *expr.Env
}

func (s *scope) bind(cfg search.Config, problem []int64) *bindings {
	b := &bindings{s, cfg, expr.NewEnv(len(s.vars))}
	for i, v := range cfg.Values {
		b.env.Set(i, v.Operand())
	}
	b.env.Set(len(cfg.Values), expr.Ints(problem...))
	return b
}

// wrap says which field of which configuration an error is about.
func (b *bindings) wrap(x expression, err error) error {
	return fmt.Errorf("%s: %w, with %s", x.path, err, b.cfg)
}

// value evaluates an expression.
func (b *bindings) value(x expression) (expr.Value, error) {
	p, err := expr.Compile(x.expr, b.scope.vars)
	if err != nil {
		return expr.Value{}, fmt.Errorf("%s: %w", x.path, err)
	}
	v, err := p.Eval(b.env)
	if err != nil {
		return v, b.wrap(x, err)
	}
	return v, nil
}

// integer evaluates an expression to an integer within bounds; otherwise is
// the value of an absent field.
func (b *bindings) integer(x expression, otherwise, least, most int64) (int64, error) {
	if x.expr == nil {
		return otherwise, nil
	}
	p, err := expr.Compile(x.expr, b.scope.vars)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", x.path, err)
	}
	i, err := p.Int(b.env)
	if err != nil {
		return 0, b.wrap(x, err)
	}
	if i < least || i > most {
		return 0, b.wrap(x, fmt.Errorf("%d is outside %d to %d", i, least, most))
	}
	return i, nil
}

// bound returns the expression with the parameters and ProblemSize replaced by
// their values.
func (b *bindings) bound(x expression, problem []int64) *expr.Expr {
	return withProblem(x.expr, problem).Rewrite(func(n expr.Node) expr.Node {
		if name, ok := n.(*expr.Name); ok {
			if v, ok := b.cfg.Get(name.Name); ok {
				return &expr.Literal{At: name.At, Value: v.Operand()}
			}
		}
		return n
	})
}
