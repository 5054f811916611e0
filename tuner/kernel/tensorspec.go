package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// tensorSpec is what a definition says of a tensor map, as expressions.
type tensorSpec struct {
	shape, strides, box, steps       []expression
	swizzle, interleave, l2promotion mapSize
	nan                              bool
	path, of                         string // the argument whose buffer it describes; "": its own
	position                         int    // of that argument
}

// mapSize is a size of a tensor map in bytes: a name such as 128B, or an expression.
type mapSize struct {
	path  string
	bytes int
	expr  expression
	known []int
}

// readTensor reads the fields of a tensor map, which other arguments do not have.
func (d *Definition) readTensor(r *reader, rec *record, a *argument) {
	if a.tensor == nil {
		for _, name := range []string{"Shape", "Strides", "Box", "ElementStrides", "Swizzle", "Interleave", "L2Promotion", "OutOfBounds", "Of"} {
			if field, ok := rec.get(name); ok {
				r.warn(field.path, "ignored: it is a field of MemoryType TensorMap")
			}
		}
		return
	}
	t := a.tensor
	if a.constant {
		r.fail(join(rec.path, "MemType"), "a tensor map is passed by value, not in Constant memory")
	}
	if a.custom || a.arg.Lanes > 1 {
		r.fail(join(rec.path, "Type"), "a tensor map has elements of one number each")
	}
	rec.need("Shape")
	rec.need("Box")
	t.path, t.of = join(rec.path, "Of"), rec.text("Of", "")
	t.shape, t.strides, t.box, t.steps = rec.expressions("Shape"), rec.expressions("Strides"), rec.expressions("Box"), rec.expressions("ElementStrides")
	t.swizzle = rec.mapSize("Swizzle", call.MapSwizzles)
	t.interleave = rec.mapSize("Interleave", call.MapInterleaves)
	t.l2promotion = rec.mapSize("L2Promotion", call.MapPromotions)
	var err error
	if t.nan, err = call.FillNaN("OutOfBounds", rec.text("OutOfBounds", "")); err != nil {
		r.fail(rec.path, "%v", err)
	}
	for _, list := range [][]expression{t.shape, t.strides, t.box, t.steps} {
		for i := range list {
			d.checkNames(r, list[i])
			list[i] = d.scope.listed(list[i])
		}
	}
	for _, s := range []*mapSize{&t.swizzle, &t.interleave, &t.l2promotion} {
		d.checkNames(r, s.expr)
		s.expr = d.scope.listed(s.expr)
	}
}

// expressions reads a field that is a list of expressions.
func (rec *record) expressions(name string) []expression {
	var list []expression
	for _, item := range rec.list(name) {
		list = append(list, rec.r.expression(item))
	}
	return list
}

// mapSize reads a size of a tensor map.
func (rec *record) mapSize(name string, known []int) mapSize {
	s := mapSize{path: join(rec.path, name), known: known}
	field, ok := rec.get(name)
	if !ok {
		return s
	}
	text, _ := field.value.(string)
	if n, err := call.MapBytes(name, text, known...); err == nil && text != "" {
		s.bytes = n
		return s
	}
	s.expr = rec.r.expression(field)
	return s
}

func (s *mapSize) evaluate(b *bindings) (int, error) {
	if s.expr.expr == nil {
		return s.bytes, nil
	}
	n, err := b.integer(s.expr, 0, 0, call.MaxBox)
	if err == nil && n != 0 && !slices.Contains(s.known, int(n)) {
		err = b.wrap(s.expr, fmt.Errorf("%d bytes are none of 0, %v", n, s.known))
	}
	return int(n), err
}

// expressions lists all that can be checked alike; of no tensor map there are none.
func (t *tensorSpec) expressions() []expression {
	if t == nil {
		return nil
	}
	return slices.Concat(t.shape, t.strides, t.box, t.steps, []expression{t.swizzle.expr, t.interleave.expr, t.l2promotion.expr})
}

// evaluate gives the map its values in one launch.
func (t *tensorSpec) evaluate(b *bindings, elem call.Type) (*call.TensorMap, error) {
	m := &call.TensorMap{Elem: elem, Of: -1, FillNaN: t.nan}
	if t.of != "" {
		m.Of = t.position
	}
	for _, l := range []struct {
		from []expression
		to   *[]int64
	}{{t.shape, &m.Shape}, {t.strides, &m.Strides}, {t.box, &m.Box}, {t.steps, &m.ElementStrides}} {
		for _, x := range l.from {
			v, err := b.integer(x, 0, 0, call.MaxTensorStride)
			if err != nil {
				return nil, err
			}
			*l.to = append(*l.to, v)
		}
	}
	var errs [3]error
	m.Swizzle, errs[0] = t.swizzle.evaluate(b)
	m.Interleave, errs[1] = t.interleave.evaluate(b)
	m.L2Promotion, errs[2] = t.l2promotion.evaluate(b)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, b.wrap(expression{path: t.path[:len(t.path)-len(".Of")]}, err)
	}
	return m, nil
}

// resolveTensors finds the arguments that tensor maps name.
func (d *Definition) resolveTensors(r *reader) {
	for i := range d.arguments {
		t := d.arguments[i].tensor
		if t == nil || t.of == "" || r.err != nil {
			continue
		}
		t.position = slices.IndexFunc(d.arguments, func(a argument) bool { return a.arg.Name == t.of })
		switch {
		case t.position < 0:
			r.fail(t.path, "there is no argument %q", t.of)
		case d.arguments[t.position].arg.Scalar || d.arguments[t.position].constant || d.arguments[t.position].tensor != nil:
			r.fail(t.path, "argument %q is no buffer: MemoryType Vector is needed", t.of)
		}
	}
}

// describe turns positions in the definition into those among a launch's arguments, and
// refuses maps that reach beyond their buffers.
func (d *Definition) describe(l *call.Launch) error {
	for i := range l.Args {
		m := l.Args[i].Map
		if m == nil {
			continue
		}
		of := &l.Args[i]
		if m.Of >= 0 {
			m.Of = slices.IndexFunc(l.Args, func(a call.Arg) bool { return a.Position == m.Of })
			of = &l.Args[m.Of]
		}
		if need, has := m.Size(), of.Count*int64(of.Type.Bytes()*of.Lanes); need > has {
			return fmt.Errorf("%s: the tensor reaches to byte %d of its buffer, which has %d", join(d.arguments[l.Args[i].Position].path, "Shape"), need, has)
		}
	}
	return nil
}
