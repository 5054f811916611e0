package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/warptune/warptune/search/expr"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// scalar evaluates the value that is passed. One number for a vector is each of its lanes.
func (a *argument) scalar(b *bindings) (call.Arg, error) {
	out := a.arg
	out.Count = 1
	if len(a.fields) > 0 {
		var err error
		out.Bytes, err = a.structure(b)
		return out, err
	}
	if out.Fill.Kind == call.FillBinaryRaw {
		return a.rawScalar()
	}
	if out.Fill.Kind == call.FillRandom {
		return out, fmt.Errorf("%s: a scalar's value is what FillValue gives, not random", a.path)
	}
	if out.Lanes > 1 {
		out.Bytes = make([]byte, a.elementBytes())
	}
	if a.value.expr == nil {
		return out, nil
	}
	x := a.value
	if out.Fill.Kind == call.FillGenerator { // of the only element
		x.expr = x.expr.Rewrite(func(n expr.Node) expr.Node {
			if name, ok := n.(*expr.Name); ok && name.Name == "i" {
				return &expr.Literal{At: name.At, Value: expr.Int(0)}
			}
			return n
		})
	}
	v, err := b.value(x)
	if err != nil {
		return out, err
	}
	lanes, listed := v.Items()
	if !listed {
		lanes = slices.Repeat([]expr.Value{v}, out.Lanes)
	}
	if len(lanes) != out.Lanes {
		return out, b.wrap(x, fmt.Errorf("%d values are given, type %s has %d", len(lanes), out.Type.Vector(out.Lanes), out.Lanes))
	}
	for n, v := range lanes {
		i, isInt := v.Int()
		f, isNumber := v.Float()
		bits, fits := out.Type.Encode(isInt, i, f)
		if !isNumber || !fits || math.IsNaN(f) {
			return out, b.wrap(x, fmt.Errorf("%s is not a value of type %s", v, out.Type))
		}
		if out.Lanes > 1 {
			putBits(out.Bytes[n*out.Type.Bytes():], bits, out.Type.Bytes())
		} else {
			out.Bits = bits
		}
		out.Fill = call.Fill{Kind: call.FillConstant, Value: f}
	}
	return out, nil
}

// rawScalar is a scalar whose bytes are those of a file.
func (a *argument) rawScalar() (call.Arg, error) {
	out := a.arg
	out.Count = 1
	raw := out.Fill.Raw
	if a.custom || out.Lanes > 1 {
		if !a.custom && a.elements() != 1 {
			return out, fmt.Errorf("%s: a scalar of type %s has %d bytes, %s has %d", a.path, out.Type.Vector(out.Lanes), a.elementBytes(), raw.File, len(raw.Data))
		}
		out.Bytes, out.Fill = raw.Data, call.Fill{Kind: call.FillConstant}
		return out, nil
	}
	if a.elements() != 1 {
		return out, fmt.Errorf("%s: a scalar of type %s has %d bytes, %s has %d", a.path, out.Type, out.Type.Bytes(), raw.File, len(raw.Data))
	}
	out.Bits = raw.Bits(out.Type, 0)
	out.Fill = call.Fill{Kind: call.FillConstant, Value: raw.Value(out.Type, 0)}
	return out, nil
}

// putBits stores the low size bytes of v, little-endian.
func putBits(to []byte, v uint64, size int) {
	for i := range size {
		to[i] = byte(v >> (8 * i))
	}
}
