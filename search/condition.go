package search

import (
	"slices"
	"sort"

	"github.com/warptune/warptune/search/expr"
)

// condition is a conjunct of a constraint, compiled against the parameters.
type condition struct {
	from   Constraint
	expr   *expr.Expr
	params []int // it depends on, ascending
	// shield are the parameters of earlier conjuncts of the constraint when one
	// of them may exclude an error of this one, as B in "B != 0 and A % B == 0".
	shield  []int
	last    int // the parameter whose value completes params and shield; -1: none
	test    *expr.Program
	decider *expr.Decider
	// residue[k] computes what the condition still depends on when the first k
	// of params have values.
	residue [][]*expr.Program
}

// compiler turns constraints into conditions.
type compiler struct {
	params []Param
	vars   []expr.Var
	hull   []expr.Interval // of each Int or Bool parameter
}

func newCompiler(params []Param) *compiler {
	c := &compiler{params: params, vars: Vars(params)}
	for _, p := range params {
		c.hull = append(c.hull, hull(p))
	}
	return c
}

func hull(p Param) expr.Interval {
	iv := expr.Interval{Lo: p.Values[0].I, Hi: p.Values[0].I}
	for _, v := range p.Values {
		iv = expr.Interval{Lo: min(iv.Lo, v.I), Hi: max(iv.Hi, v.I)}
	}
	return iv
}

// conditions splits a constraint and compiles its parts.
func (c *compiler) conditions(from Constraint) ([]condition, error) {
	if _, err := expr.Compile(from.Expr, c.vars); err != nil { // names all unknowns in order
		return nil, from.wrap(err)
	}
	var list []condition
	var earlier []int
	for _, part := range from.Expr.Conjuncts() {
		k, err := c.condition(from, part)
		if err != nil {
			return nil, from.wrap(err)
		}
		if k.decider.Decide(c.hull) == expr.Unsure {
			k.shield = slices.Clone(earlier)
			k.last = slices.Max(append(k.shield, k.last))
		}
		earlier = append(earlier, k.params...)
		list = append(list, k)
	}
	return list, nil
}

func (c *compiler) condition(from Constraint, part *expr.Expr) (k condition, err error) {
	part = c.reassociate(part)
	k = condition{from: from, expr: part, last: -1, decider: expr.NewDecider(part, c.vars)}
	for _, name := range part.Names() {
		k.params = append(k.params, slices.IndexFunc(c.params, func(p Param) bool { return p.Name == name }))
	}
	sort.Ints(k.params)
	if len(k.params) > 0 {
		k.last = k.params[len(k.params)-1]
	}
	if k.test, err = expr.Compile(part, c.vars); err != nil {
		return k, err
	}
	for n := range len(k.params) + 1 {
		programs, err := c.residue(part, k.params[:n])
		if err != nil {
			return k, err
		}
		k.residue = append(k.residue, programs)
	}
	return k, nil
}

// residue returns programs for the largest parts of an expression whose
// variables are all bound. Once their values are known, the rest of the
// expression does not depend on the bound variables otherwise.
func (c *compiler) residue(e *expr.Expr, bound []int) ([]*expr.Program, error) {
	isBound := map[string]bool{}
	for _, p := range bound {
		isBound[c.params[p].Name] = true
	}
	var programs []*expr.Program
	seen := map[string]bool{}
	for _, n := range expr.BoundParts(e.Root, func(name string) bool { return isBound[name] }) {
		part := &expr.Expr{Text: e.Text, Root: n}
		if text := part.String(); seen[text] {
			continue
		} else {
			seen[text] = true
		}
		p, err := expr.Compile(part, c.vars)
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// reassociate orders the terms of sums and the factors of products by when
// their parameters get values, so that a prefix of a configuration is left
// with one partial result instead of several. It does so only where neither
// the result nor overflow depends on the order: sums of integers from 0 up,
// products of integers from 1 up.
func (c *compiler) reassociate(e *expr.Expr) *expr.Expr {
	if e.Binds() { // a name may mean a loop's variable
		return e
	}
	return e.Rewrite(func(n expr.Node) expr.Node {
		b, ok := n.(*expr.Binary)
		if !ok || b.Op != "+" && b.Op != "*" {
			return n
		}
		least := int64(0)
		if b.Op == "*" {
			least = 1
		}
		terms := flatten(b, b.Op, nil)
		when := make(map[expr.Node]int, len(terms))
		for _, t := range terms {
			if iv, ok := expr.Bound(t, c.vars, c.hull); !ok || iv.Lo < least {
				return n
			}
			when[t] = -1
			for _, name := range (&expr.Expr{Root: t}).Names() {
				when[t] = max(when[t], slices.IndexFunc(c.params, func(p Param) bool { return p.Name == name }))
			}
		}
		sort.SliceStable(terms, func(i, j int) bool { return when[terms[i]] < when[terms[j]] })
		out := terms[0]
		for _, t := range terms[1:] {
			out = &expr.Binary{At: b.At, Op: b.Op, X: out, Y: t}
		}
		return out
	})
}

// flatten appends the operands of nested applications of op.
func flatten(n expr.Node, op string, to []expr.Node) []expr.Node {
	if b, ok := n.(*expr.Binary); ok && b.Op == op {
		return flatten(b.Y, op, flatten(b.X, op, to))
	}
	return append(to, n)
}
