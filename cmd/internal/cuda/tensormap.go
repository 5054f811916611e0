//go:build linux

package cuda

import (
	"bytes"
	"fmt"
)

// TensorMap describes a tensor in device memory, dimensions innermost first.
type TensorMap struct {
	Elem           int // CUtensorMapDataType
	Address        Address
	Shape          []uint64
	Strides        []uint64 // bytes, of all dimensions but the innermost
	Box            []uint32
	ElementStrides []uint32
	Interleave     int // bytes: 0, 16 or 32
	Swizzle        int // bytes: 0, 32, 64 or 128
	L2Promotion    int // bytes: 0, 64, 128 or 256
	FillNaN        bool
}

// MapBytes is the size of a CUtensorMap.
const MapBytes = 128

// mapCode is the number that cuTensorMapEncodeTiled takes for a size in bytes: 0 for
// none, then 1 for the smallest, and so on.
func mapCode(bytes, smallest int) int {
	code := 0
	for at := smallest; bytes >= at; at *= 2 {
		code++
	}
	return code
}

// Encode is the map's bytes, as a kernel takes them.
func (v *Device) Encode(m *TensorMap) ([]byte, error) {
	rank := len(m.Shape)
	if rank < 1 || rank > 5 || len(m.Strides) != rank-1 || len(m.Box) != rank || len(m.ElementStrides) != rank {
		return nil, fmt.Errorf("a tensor map of %d dimensions, %d strides, a box of %d and %d element strides", rank, len(m.Strides), len(m.Box), len(m.ElementStrides))
	}
	out := Aligned(make([]byte, MapBytes))
	strides := append(m.Strides[:rank-1:rank-1], 0) // never empty
	nan := 0
	if m.FillNaN {
		nan = 1
	}
	err := v.call("cuTensorMapEncodeTiled", ptr(&out[0]), m.Elem, rank, m.Address,
		ptr(&m.Shape[0]), ptr(&strides[0]), ptr(&m.Box[0]), ptr(&m.ElementStrides[0]),
		mapCode(m.Interleave, 16), mapCode(m.Swizzle, 32), mapCode(m.L2Promotion, 64), nan)
	if err != nil {
		return nil, fmt.Errorf("a tensor map (element type %d, shape %v, strides %v bytes, box %v, element strides %v, swizzle %d, interleave %d bytes): %w",
			m.Elem, m.Shape, m.Strides, m.Box, m.ElementStrides, m.Swizzle, m.Interleave, err)
	}
	return bytes.Clone(out), nil
}
