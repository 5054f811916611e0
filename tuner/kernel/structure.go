package kernel

import (
	"encoding/binary"
	"fmt"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// structureField is a field of a structure that is passed by value, in C's layout.
type structureField struct {
	argument
	align int // bytes
}

// maxStructure bounds the bytes of a structure: what all parameters of a kernel have at most (sm_70, PTX ISA 8.1).
const maxStructure = 32764

// readFields reads Fields of a structure: a list in the structure's order of Type and FillValue, and Size for
// an array of equal values.
func (d *Definition) readFields(r *reader, rec *record, a *argument) {
	list := rec.list("Fields")
	if len(list) == 0 {
		return
	}
	if !a.custom || !a.arg.Scalar {
		r.fail(join(rec.path, "Fields"), "only a structure passed by value has fields: Type custom and MemoryType Scalar")
		return
	}
	for i, doc := range list {
		f := r.record(doc, []string{"Name", "Type", "Size", "FillValue", "Fields"})
		field := structureField{argument: argument{path: doc.path, arg: call.Arg{Scalar: true}}}
		field.arg.Name = f.text("Name", fmt.Sprintf("field %d", i))
		r.element(f, &field.argument)
		field.arg.Fill.Kind = call.FillConstant
		if r.err != nil {
			return
		}
		if field.custom {
			d.readFields(r, f, &field.argument)
			if r.err == nil && len(field.fields) == 0 {
				r.fail(join(doc.path, "Fields"), "missing: the fields of a structure in a structure")
			}
		} else {
			field.value = d.scope.listed(r.filling(f, "FillValue", &field.argument))
			d.checkNames(r, field.value)
		}
		field.size = f.expression("Size")
		d.checkNames(r, field.size)
		field.size = d.scope.listed(field.size)
		field.align = field.alignment()
		a.fields = append(a.fields, field)
	}
	a.arg.Fill.Kind = call.FillConstant
}

// alignment is C's: that of a number, of a vector of two or four of them together, of the widest field.
func (f *structureField) alignment() int {
	if f.custom {
		most := 1
		for _, inner := range f.fields {
			most = max(most, inner.align)
		}
		return most
	}
	align := f.arg.Type.Bytes()
	if f.arg.Lanes%2 == 0 {
		align *= f.arg.Lanes
	}
	return min(align, 16)
}

// structure evaluates a structure's bytes.
func (a *argument) structure(b *bindings) ([]byte, error) {
	var out []byte
	widest := 1
	for i := range a.fields {
		f := &a.fields[i]
		count, err := b.integer(f.size, 1, 1, maxStructure)
		if err != nil {
			return nil, err
		}
		value, err := f.bytes(b)
		if err != nil {
			return nil, err
		}
		out = padded(out, f.align)
		if int64(len(out))+count*int64(len(value)) > maxStructure {
			return nil, fmt.Errorf("%s: more than the %d bytes that a kernel's parameters can have", a.path, maxStructure)
		}
		for range count {
			out = append(out, value...)
		}
		widest = max(widest, f.align)
	}
	return padded(out, widest), nil
}

// bytes are a field's.
func (f *structureField) bytes(b *bindings) ([]byte, error) {
	if f.custom {
		return f.structure(b)
	}
	v, err := f.scalar(b)
	if err != nil {
		return nil, err
	}
	if f.arg.Lanes > 1 {
		return v.Bytes, nil
	}
	return binary.LittleEndian.AppendUint64(nil, v.Bits)[:f.arg.Type.Bytes()], nil
}

func padded(b []byte, align int) []byte {
	for len(b)%align != 0 {
		b = append(b, 0)
	}
	return b
}

// fieldExpressions are those of a structure's fields.
func (a *argument) fieldExpressions() []expression {
	var all []expression
	for i := range a.fields {
		f := &a.fields[i]
		all = append(append(all, f.size, f.value), f.fieldExpressions()...)
	}
	return all
}
