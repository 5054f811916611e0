package simengine

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
)

// encodeMap is the tensor map that argument i of given is passed as. bases are the addresses of their
// buffers.
func encodeMap(req *Request, given []Arg, bases []uint64, i int) (memory.Arg, error) {
	t := given[i].Map
	fail := func(format string, args ...any) (memory.Arg, error) {
		return memory.Arg{}, mapError(given, i, format, args...)
	}
	of, err := mapOf(req, given, i)
	if err != nil {
		return memory.Arg{}, err
	}
	m, err := t.encode()
	if err != nil {
		return fail("%v", err)
	}
	buffer := given[of].buffer("")
	if t.Offset < 0 || t.Offset > buffer.Bytes() || m.Extent() > uint64(buffer.Bytes()-t.Offset) {
		return fail("a tensor of %d bytes from byte %d on, in a buffer of %d", m.Extent(), t.Offset, buffer.Bytes())
	}
	m.Address = bases[of] + uint64(t.Offset)
	if err := m.Validate(); err != nil {
		return fail("%v", err)
	}
	b := m.Encode()
	return memory.Arg{Bytes: b[:]}, nil
}

// mapError says what is wrong with the tensor map of argument i.
func mapError(given []Arg, i int, format string, args ...any) error {
	return fmt.Errorf("%s: %s", BufferName(i, given[i].Name), fmt.Sprintf(format, args...))
}

// encode is the map without its address.
func (t *TensorMap) encode() (m tensormap.Map, err error) {
	e, ok := tensormap.ElemOf(t.Elem)
	n := len(t.Shape)
	switch {
	case !ok:
		return m, fmt.Errorf("a tensor map of elements of %v", t.Elem)
	case n < 1 || n > tensormap.MaxRank || len(t.Box) != n || t.Strides != nil && len(t.Strides) != n-1 || t.ElementStrides != nil && len(t.ElementStrides) != n:
		return m, fmt.Errorf("a tensor map of %d dimensions with %d strides, %d of the box and %d element strides", n, len(t.Strides), len(t.Box), len(t.ElementStrides))
	}
	m = tensormap.Map{Elem: e, Rank: n, Swizzle: t.Swizzle, Interleave: t.Interleave, Promotion: t.L2Promotion, FillNaN: t.FillNaN}
	pitch := int64(e.Bytes())
	for i := range n {
		if t.Shape[i] < 1 || t.Shape[i] > math.MaxUint32 {
			return m, fmt.Errorf("a tensor map of %d elements in dimension %d", t.Shape[i], i)
		}
		m.Shape[i], m.Box[i], m.ElementStrides[i] = uint32(t.Shape[i]), t.Box[i], 1
		if t.ElementStrides != nil {
			m.ElementStrides[i] = t.ElementStrides[i]
		}
		if i > 0 {
			if t.Strides != nil {
				pitch = t.Strides[i-1]
			}
			if pitch < 0 || pitch >= 1<<40 {
				return m, fmt.Errorf("a tensor map with a stride of %d bytes in dimension %d", pitch, i)
			}
			m.Strides[i-1] = uint64(pitch)
		}
		if pitch > 1<<50/t.Shape[i] {
			return m, fmt.Errorf("a tensor map of more than 2^50 bytes")
		}
		pitch *= t.Shape[i]
	}
	return m, nil
}
