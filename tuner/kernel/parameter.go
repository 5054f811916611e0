package kernel

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/expr"
)

// parameter reads one of ConfigurationSpace.TuningParameters.
func (r *reader) parameter(d document) (search.Param, search.Value) {
	rec := r.record(d, []string{"Name", "Type", "Values", "Default"})
	p := search.Param{Name: rec.text("Name", "")}
	name, _ := rec.need("Name")
	if r.err == nil && !isIdentifier(p.Name) {
		r.fail(name.path, "%q is not an identifier, as a macro's name must be", p.Name)
	}
	if p.Name == problemName {
		r.fail(name.path, "%s is the problem size and cannot be a parameter", problemName)
	}
	kind := r.kind(rec)
	values, ok := rec.need("Values")
	if !ok {
		return p, search.Value{}
	}
	p.Values = r.values(values, kind, rec.text("Type", ""))
	if r.err != nil {
		return p, search.Value{}
	}
	return p, r.defaultValue(rec, p)
}

// kind reads T1's type of a parameter.
func (r *reader) kind(rec *record) search.Kind {
	d, ok := rec.need("Type")
	if !ok {
		return search.KindInvalid
	}
	switch t := r.text(d); t {
	case "int", "uint":
		return search.Int
	case "float":
		return search.Float
	case "bool":
		return search.Bool
	case "string":
		return search.String
	default:
		r.fail(d.path, "unknown type %q; known are int, uint, float, bool, string", t)
	}
	return search.KindInvalid
}

// values reads a parameter's values: a Python expression in a text, or a JSON
// list. When some are not of the declared kind, the kind they share is taken,
// with a warning.
func (r *reader) values(d document, kind search.Kind, declared string) []search.Value {
	list, ok := r.rawValues(d)
	if !ok {
		return nil
	}
	if len(list) == 0 {
		r.fail(d.path, "there are no values")
		return nil
	}
	converted, bad := convert(list, kind)
	if bad >= 0 {
		shared := sharedKind(list)
		if converted, bad = convert(list, shared); bad >= 0 {
			r.fail(d.path, "%s is not a value of type %s", list[bad].Text(), declared)
			return nil
		}
		r.warn(d.path, "values are not all of the declared type %s: read as %s", declared, shared)
	}
	var unique []search.Value
	seen := map[search.Value]bool{}
	for i, v := range converted {
		if declared == "uint" && v.Kind == search.Int && v.I < 0 {
			r.warn(d.path, "%s is negative though the declared type is uint", v)
		}
		if math.IsInf(v.F, 0) || math.IsNaN(v.F) { // neither JSON nor a macro can say it
			r.fail(d.path, "%s is not a finite number", v)
			return nil
		}
		if seen[v] {
			r.warn(d.path, "value %s occurs twice: the second is left out", list[i].Text())
			continue
		}
		seen[v] = true
		unique = append(unique, v)
	}
	return unique
}

func (r *reader) rawValues(d document) ([]search.Value, bool) {
	if _, ok := d.value.([]any); ok {
		var list []search.Value
		for _, item := range r.list(d) {
			list = append(list, r.plain(item))
		}
		return list, r.err == nil
	}
	x := r.expression(d)
	if r.err != nil {
		return nil, false
	}
	program, err := expr.Compile(x.expr, nil)
	if err != nil {
		r.fail(d.path, "%v", err)
		return nil, false
	}
	v, err := program.Eval(expr.NewEnv(0))
	if err != nil {
		r.fail(d.path, "%v", err)
		return nil, false
	}
	items, ok := v.Items()
	if !ok {
		r.fail(d.path, "a list is expected, %q is none", x.expr.Text)
		return nil, false
	}
	var list []search.Value
	for _, it := range items {
		v, ok := search.FromOperand(it)
		if !ok {
			r.fail(d.path, "numbers, truth values or texts are expected, not a %s", it.Kind())
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// plain reads a JSON number, truth value or text as a parameter's value.
func (r *reader) plain(d document) search.Value {
	switch v := d.value.(type) {
	case bool:
		return search.OfBool(v)
	case string:
		return search.OfString(v)
	case json.Number:
		var out search.Value
		if err := out.UnmarshalJSON([]byte(v)); err != nil {
			r.fail(d.path, "%v", err)
		}
		return out
	}
	r.fail(d.path, "a number, truth value or text is expected, not %s", what(d.value))
	return search.Value{}
}

// convert gives all values the kind; bad is the first that cannot have it, -1
// when there is none.
func convert(list []search.Value, kind search.Kind) (out []search.Value, bad int) {
	for i, v := range list {
		w, ok := v.As(kind)
		if !ok {
			return nil, i
		}
		out = append(out, w)
	}
	return out, -1
}

// sharedKind is the narrowest kind that may hold all values.
func sharedKind(list []search.Value) search.Kind {
	kind := list[0].Kind
	for _, v := range list {
		switch {
		case v.Kind == search.Float && kind != search.String:
			kind = search.Float
		case v.Kind == search.Int && kind == search.Bool:
			kind = search.Int
		}
	}
	return kind
}

// defaultValue reads Default, which real files sometimes wrap in a list;
// without one it is the first value.
func (r *reader) defaultValue(rec *record, p search.Param) search.Value {
	d, ok := rec.get("Default")
	if !ok {
		return p.Values[0]
	}
	if items, isList := d.value.([]any); isList {
		if len(items) != 1 {
			r.warn(d.path, "a list of %d is no default: %s is taken", len(items), p.Values[0])
			return p.Values[0]
		}
		r.warn(d.path, "a list, read as its element")
		d = document{d.path, items[0]}
	}
	v := r.plain(d)
	w, ok := v.As(p.Kind())
	if r.err == nil && (!ok || !slices.Contains(p.Values, w)) {
		r.warn(d.path, "%s is not among the values: %s is taken", v.Text(), p.Values[0])
		return p.Values[0]
	}
	return w
}

func isIdentifier(s string) bool {
	for i, c := range s {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// Config is the configuration with the values given as text; parameters not
// named take their default. It need not be valid: Space(…).Check says.
func (d *Definition) Config(values map[string]string) (search.Config, error) {
	c := d.Default()
	for _, name := range sortedKeys(values) {
		i := slices.Index(c.Names, name)
		if i < 0 {
			return c, fmt.Errorf("kernel %s has no parameter %s; it has %s", d.Name, name, d.parameterNames())
		}
		v, err := search.ParseValue(d.params[i].Kind(), values[name])
		if err != nil {
			return c, fmt.Errorf("parameter %s: %w", name, err)
		}
		c.Values[i] = v
	}
	return c, nil
}
