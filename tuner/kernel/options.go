package kernel

import (
	"errors"
	"slices"
	"strconv"

	"github.com/warptune/warptune/search/expr"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/option"
)

// options are the definition's CompilerOptions, read, and where they stand.
type options struct {
	option.Set
	path string
}

// readOptions reads CompilerOptions. What no compiler of ours is to be given is
// refused here, once, and not by each configuration. Only CUDA's are looked at.
func (d *Definition) readOptions(r *reader, k *record) options {
	list := k.list("CompilerOptions")
	var texts []string
	for _, o := range list {
		texts = append(texts, r.text(o))
	}
	given := options{path: join(k.path, "CompilerOptions")}
	if d.Language != call.CUDA || r.err != nil {
		d.Options = texts
		return given
	}
	var err error
	if given.Set, err = option.Parse(texts); err != nil {
		path := given.path
		var refused *option.Error
		if errors.As(err, &refused) {
			path = list[refused.Index].path
		}
		r.fail(path, "%v", err)
		return given
	}
	for _, n := range given.Notes {
		r.warn(list[n.Index].path, "%s", n.Message)
	}
	d.Options = given.Options
	for _, m := range given.Macros {
		if slices.Contains(d.defaults.Names, m.Name) {
			r.warn(given.path, "-D%s: ignored, the tuning parameter of that name wins", m.Name)
		} else if slices.Contains(launchMacros, m.Name) {
			r.warn(given.path, "-D%s: ignored, %s is the launch's own", m.Name, m.Name)
		} else {
			d.defines = append(d.defines, m)
		}
	}
	return given
}

// capRegisters takes -maxrregcount for MaxRegisters, unless that is given.
func (d *Definition) capRegisters(r *reader, given options) {
	n := given.MaxRegisters
	switch {
	case n == 0:
	case d.launch.maxRegisters.expr != nil:
		r.warn(given.path, "-maxrregcount=%d: ignored, MaxRegisters says otherwise or the same", n)
	default:
		r.warn(given.path, "-maxrregcount=%d: read as MaxRegisters", n)
		d.launch.maxRegisters = expression{given.path, &expr.Expr{Text: strconv.Itoa(n), Root: &expr.Literal{Value: expr.Int(int64(n))}}}
	}
}
