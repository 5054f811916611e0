package kernel

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
)

// constant is an entry of BenchmarkConfig. BAT gives each to its compiler as a
// macro and to its expressions as a name; so do we. What else has its name wins:
// a tuning parameter, ProblemSize, the launch's own macros, CompilerOptions' -D.
type constant struct {
	name  string
	value search.Value
}

// launchMacros are those of Kernel Tuner's that every launch has.
var launchMacros = []string{"kernel_tuner", "block_size_x", "block_size_y", "block_size_z", "grid_size_x", "grid_size_y", "grid_size_z"}

// readConstants reads BenchmarkConfig. What cannot be a macro is left out, with a
// warning: other tools keep other things there.
func (d *Definition) readConstants(r *reader, root *record) []constant {
	field, ok := root.get("BenchmarkConfig")
	if !ok {
		return nil
	}
	o, ok := field.value.(*object)
	if !ok {
		r.warn(field.path, "ignored: an object is expected, not %s", what(field.value))
		return nil
	}
	var list []constant
	for _, name := range o.keys {
		path := join(field.path, name)
		value, ok := constantValue(o.fields[name])
		i := slices.Index(d.defaults.Names, name)
		switch {
		case !ok:
			r.warn(path, "ignored: a number, a truth value or a text of one line is expected, not %s", what(o.fields[name]))
		case !isIdentifier(name):
			r.warn(path, "ignored: %q is not an identifier, as a macro's name must be", name)
		case name == problemName || slices.Contains(launchMacros, name):
			r.warn(path, "ignored: %s is the launch's own", name)
		case i >= 0:
			if values := d.params[i].Values; len(values) != 1 || values[0] != value {
				r.warn(path, "ignored: the tuning parameter of that name has %s", texts(values))
			}
		default:
			list = append(list, constant{name, value})
		}
	}
	return list
}

// constantValue is a value that a macro can have.
func constantValue(v any) (out search.Value, ok bool) {
	switch v := v.(type) {
	case bool:
		return search.OfBool(v), true
	case string:
		return search.OfString(v), !strings.ContainsAny(v, "\n\r\x00") && !strings.HasSuffix(v, `\`)
	case json.Number:
		err := out.UnmarshalJSON([]byte(v))
		return out, err == nil
	}
	return out, false
}
