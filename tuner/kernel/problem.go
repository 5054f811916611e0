package kernel

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/search/expr"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// problem reads ProblemSize: a list of integers, or one.
func (r *reader) problem(k *record) []int64 {
	d, ok := k.get(problemName)
	if !ok {
		return nil
	}
	items := []document{d}
	if _, isList := d.value.([]any); isList {
		items = r.list(d)
	}
	var problem []int64
	for _, it := range items {
		x := r.expression(it)
		if r.err != nil {
			return nil
		}
		p, err := expr.Compile(x.expr, nil)
		if err != nil {
			r.fail(it.path, "%v", err)
			return nil
		}
		n, err := p.Int(expr.NewEnv(0))
		if err != nil || n < 1 || n > call.MaxProblem {
			r.fail(it.path, "a number from 1 to %d is expected, not %s", int64(call.MaxProblem), what(it.value))
			return nil
		}
		problem = append(problem, n)
	}
	return problem
}

// UsesProblem reports whether a problem size makes a difference to the space or to
// a launch.
func (d *Definition) UsesProblem() bool {
	var all []expression
	for _, x := range d.launch.expressions() {
		all = append(all, *x)
	}
	for i := range d.arguments {
		all = append(all, d.arguments[i].size, d.arguments[i].value)
		all = append(all, d.arguments[i].fieldExpressions()...)
		all = append(all, d.arguments[i].tensor.expressions()...)
		all = append(all, d.arguments[i].texture.expressions()...)
	}
	for _, c := range d.conditions {
		all = append(all, expression(c))
	}
	divided := func(l []expression) bool { return l != nil }
	return slices.ContainsFunc(d.launch.divisors[:], divided) ||
		slices.ContainsFunc(all, func(x expression) bool { return slices.Contains(x.names(), problemName) })
}

// resolveProblem returns the problem size to use: the one given, or the
// definition's own for nil.
func (d *Definition) resolveProblem(problem []int64) ([]int64, error) {
	if len(problem) == 0 {
		return d.Problem, nil
	}
	if d.Problem != nil && len(problem) != len(d.Problem) {
		return nil, fmt.Errorf("kernel %s: a problem size of %d numbers is needed, as in its own %v, not %v", d.Name, len(d.Problem), d.Problem, problem)
	}
	for _, n := range problem {
		if n < 1 || n > call.MaxProblem {
			return nil, fmt.Errorf("kernel %s: problem size %v: numbers from 1 to %d are needed", d.Name, problem, int64(call.MaxProblem))
		}
	}
	return problem, nil
}
