package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/expr"
)

// readSpace reads parameters and conditions, and of the whole definition the
// constants that conditions may name.
func (d *Definition) readSpace(r *reader, doc document, root *record) {
	rec := r.record(doc, []string{"TuningParameters", "Conditions", "Constraints"})
	if _, ok := rec.need("TuningParameters"); !ok {
		return
	}
	for _, p := range rec.list("TuningParameters") {
		param, value := r.parameter(p)
		o, _ := p.value.(*object)
		d.given = d.given || o != nil && o.fields["Default"] != nil
		if i := slices.Index(d.defaults.Names, param.Name); r.err == nil && i >= 0 {
			if slices.Equal(d.params[i].Values, param.Values) {
				r.warn(p.path+".Name", "parameter %s is declared twice, alike: the second is left out", param.Name)
				continue
			}
			r.fail(p.path+".Name", "parameter %s is declared twice, with other values", param.Name)
		}
		d.params = append(d.params, param)
		d.defaults.Names = append(d.defaults.Names, param.Name)
		d.defaults.Values = append(d.defaults.Values, value)
	}
	if r.err != nil {
		return
	}
	d.constants = d.readConstants(r, root)
	d.scope = newScope(d.params, d.constants)
	if old, ok := rec.get("Constraints"); ok { // BAT's name of them in older files
		r.warn(old.path, "read as Conditions, which is their name in T1")
	}
	for _, c := range slices.Concat(rec.list("Conditions"), rec.list("Constraints")) {
		d.conditions = append(d.conditions, d.readCondition(r, c))
	}
}

// condition is one of ConfigurationSpace.Conditions.
type condition struct {
	path string
	expr *expr.Expr
}

func (d *Definition) readCondition(r *reader, doc document) condition {
	rec := r.record(doc, []string{"Parameters", "Expression"})
	for _, p := range rec.list("Parameters") {
		if name := r.text(p); !slices.Contains(d.defaults.Names, name) {
			r.fail(p.path, "condition on the unknown parameter %s; there are %s", name, d.parameterNames())
		}
	}
	field, ok := rec.need("Expression")
	if !ok {
		return condition{}
	}
	x := r.expression(field)
	if r.err != nil {
		return condition{}
	}
	if name, unknown := d.scope.unknown(x); unknown {
		r.fail(x.path, "%q uses the unknown parameter %s; there are %s", x.expr.Text, name, d.parameterNames())
	}
	return condition{x.path, d.scope.listed(x).expr}
}

// checkDefaults warns of conditions that the parameters' own defaults break.
func (d *Definition) checkDefaults(r *reader) {
	b := d.scope.bind(d.defaults, d.Problem)
	for _, c := range d.conditions {
		p, err := expr.Compile(c.expr, d.scope.vars)
		if err != nil {
			r.fail(c.path, "%v", err)
			return
		}
		if holds, err := p.Truth(b.env); d.given && (err != nil || !holds) {
			used := search.Config{}
			for _, n := range c.expr.Names() {
				if v, ok := d.defaults.Get(n); ok {
					used.Names, used.Values = append(used.Names, n), append(used.Values, v)
				}
			}
			r.warn(c.path, "the parameters' own defaults (%s) break it", used)
		}
	}
}

// Space returns the search space for a problem size (nil: the definition's
// own), with the parameters named in set restricted to the values given.
func (d *Definition) Space(problem []int64, set map[string][]string) (*search.Space, error) {
	return d.SpaceUntil(problem, set, nil)
}

// SpaceUntil is Space that calls stop now and then while it solves the conditions,
// and ends with its error (see search.NewUntil).
func (d *Definition) SpaceUntil(problem []int64, set map[string][]string, stop func() error) (*search.Space, error) {
	if d.listed != nil {
		if err := d.checkListed(problem); err != nil {
			return nil, err
		}
		return d.listed.space(d, set)
	}
	problem, err := d.resolveProblem(problem)
	if err != nil {
		return nil, err
	}
	params, err := d.restricted(set)
	if err != nil {
		return nil, err
	}
	var constraints []search.Constraint
	for _, c := range d.conditions {
		constraints = append(constraints, search.Constraint{Expr: withProblem(c.expr, problem), Where: c.path})
	}
	s, err := search.NewUntil(params, constraints, stop)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", d.Name, err)
	}
	return s, nil
}

// restricted returns the parameters with only the values that set allows.
func (d *Definition) restricted(set map[string][]string) ([]search.Param, error) {
	params := slices.Clone(d.params)
	for _, name := range sortedKeys(set) {
		i := slices.Index(d.defaults.Names, name)
		if i < 0 {
			return nil, fmt.Errorf("kernel %s has no parameter %s; it has %s", d.Name, name, d.parameterNames())
		}
		keep := map[search.Value]bool{}
		for _, text := range set[name] {
			v, err := search.ParseValue(params[i].Kind(), text)
			if err != nil || !slices.Contains(d.params[i].Values, v) {
				return nil, fmt.Errorf("kernel %s: parameter %s has no value %s; it has %s", d.Name, name, text, texts(d.params[i].Values))
			}
			keep[v] = true
		}
		params[i].Values = slices.DeleteFunc(slices.Clone(params[i].Values), func(v search.Value) bool { return !keep[v] })
		if len(keep) == 0 {
			return nil, fmt.Errorf("kernel %s: parameter %s is restricted to no value; it has %s", d.Name, name, texts(d.params[i].Values))
		}
	}
	return params, nil
}

func texts(values []search.Value) string {
	var list []string
	for _, v := range values {
		list = append(list, v.Text())
	}
	return strings.Join(list, ", ")
}
