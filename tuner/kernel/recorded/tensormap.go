package recorded

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// tensorMap is the i-th argument, a tensor map. Where its base has the name of a buffer
// among the arguments, it describes that one.
func (r *Record) tensorMap(i int) (call.Arg, error) {
	a := &r.Args[i]
	if a.Base == nil {
		return call.Arg{}, fmt.Errorf("base: missing; a tensor map describes a buffer")
	}
	out, err := a.Base.buffer(i)
	if err != nil {
		return out, fmt.Errorf("base: %w", err)
	}
	out.Name = a.Name
	elem, lanes, err := numberType(a.Element)
	if err != nil || lanes != 1 {
		return out, fmt.Errorf("element: unknown type %.40q", a.Element)
	}
	m := &call.TensorMap{Elem: elem, Of: -1, Offset: out.Offset, Shape: a.Shape, Strides: a.Strides, Box: a.Box, ElementStrides: a.ElementStrides}
	if m.Swizzle, err = call.MapBytes("swizzle", a.Swizzle, call.MapSwizzles...); err != nil {
		return out, err
	}
	if m.Interleave, err = call.MapBytes("interleave", a.Interleave, call.MapInterleaves...); err != nil {
		return out, err
	}
	if m.L2Promotion, err = call.MapBytes("l2promotion", a.L2Promotion, call.MapPromotions...); err != nil {
		return out, err
	}
	if m.FillNaN, err = call.FillNaN("oobfill", a.OutOfBounds); err != nil {
		return out, err
	}
	if err := m.Check(); err != nil {
		return out, err
	}
	if need, has := m.Offset+m.Size(), out.Count*int64(out.Type.Bytes()*out.Lanes); need > has {
		return out, fmt.Errorf("shape: the tensor reaches to byte %d of its base, which has %d", need, has)
	}
	m.Of = slices.IndexFunc(r.Args, func(o Arg) bool { return o.Vector && o.Name != "" && o.Name == a.Base.Name })
	out.Offset, out.Map = 0, m
	return out, nil
}
