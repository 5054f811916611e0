// Package tensormap is the descriptor of a tensor in device memory (CUtensorMap) and of the boxes in which bulk
// copies move it. It has the descriptor's 128 bytes, the bytes of device memory that a box covers, and where the
// box's elements lie in shared memory.
//
// NVIDIA does not document how the 128 bytes are laid out. The layout here is the simulator's own. As
// with the hardware's, a map of zeros is one of which no field is set.
package tensormap

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// Bytes is the size of a map; MaxRank is the most dimensions of a tensor.
const (
	Bytes   = 128
	MaxRank = 5
)

// Elem is the type of an element, numbered as in tensormap.replace.
type Elem uint8

// Types of elements.
const (
	U8 Elem = iota
	U16
	U32
	S32
	U64
	S64
	F16
	F32
	F32Ftz
	F64
	BF16
	TF32
	TF32Ftz
	numElems
)

var elemBytes = [numElems]int{1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4}

// Bytes is the size of an element; 0: there is no such type.
func (e Elem) Bytes() int {
	if e >= numElems {
		return 0
	}
	return elemBytes[e]
}

// IsFloat reports whether elements are floating-point numbers.
func (e Elem) IsFloat() bool { return e >= F16 && e < numElems }

// Type is the element as an operand.
func (e Elem) Type() ir.Type {
	return [numElems]ir.Type{ir.U8, ir.U16, ir.U32, ir.S32, ir.U64, ir.S64, ir.F16, ir.F32, ir.F32, ir.F64, ir.BF16, ir.TF32, ir.TF32}[e]
}

// ElemOf is the element that a host declares for a type; false: there is none.
func ElemOf(t ir.Type) (Elem, bool) {
	switch t {
	case ir.U8, ir.S8, ir.B8, ir.E4M3, ir.E5M2:
		return U8, true
	case ir.U16, ir.S16, ir.B16:
		return U16, true
	case ir.U32, ir.B32:
		return U32, true
	case ir.S32:
		return S32, true
	case ir.U64, ir.B64:
		return U64, true
	case ir.S64:
		return S64, true
	case ir.F16:
		return F16, true
	case ir.F32:
		return F32, true
	case ir.F64:
		return F64, true
	case ir.BF16:
		return BF16, true
	case ir.TF32:
		return TF32, true
	}
	return 0, false
}

// Map is the contents of a map. Dimensions are innermost first.
type Map struct {
	Address        uint64
	Elem           Elem
	Rank           int
	Shape          [MaxRank]uint32     // elements
	Strides        [MaxRank - 1]uint64 // bytes, of the dimensions but the innermost
	Box            [MaxRank]int        // elements
	ElementStrides [MaxRank]int
	Swizzle        int // bytes of the pattern: 0 (none), 32, 64 or 128
	Interleave     int // bytes: 0 (none), 16 or 32
	Promotion      int // bytes of the L2 sectors fetched: 0 (as they are), 64, 128 or 256
	FillNaN        bool
}

// The limits are those of cuTensorMapEncodeTiled (CUDA driver API).
const (
	maxBox     = 256
	maxStride  = 1 << 40
	maxElement = 8       // of element strides
	mostBox    = 1 << 20 // bytes, more than any SM has
)

// Validate says what of a map no copy can be made with.
func (m *Map) Validate() error {
	switch {
	case m.Rank < 1 || m.Rank > MaxRank:
		return fmt.Errorf("a tensor map of rank %d: want 1 to %d", m.Rank, MaxRank)
	case m.Elem.Bytes() == 0:
		return fmt.Errorf("a tensor map of element type %d, which is not modelled", m.Elem)
	case m.Address%16 != 0:
		return fmt.Errorf("a tensor map of address %#x: want a multiple of 16", m.Address)
	case m.Interleave != 0:
		return fmt.Errorf("a tensor map with interleave of %d bytes, which is not modelled", m.Interleave)
	case m.Swizzle != 0 && m.Swizzle != 32 && m.Swizzle != 64 && m.Swizzle != 128:
		return fmt.Errorf("a tensor map with swizzle of %d bytes: want 0, 32, 64 or 128", m.Swizzle)
	case m.FillNaN && !m.Elem.IsFloat():
		return fmt.Errorf("a tensor map that fills with NaN, of elements that are integers")
	}
	for i := range m.Rank {
		if err := m.validateDimension(i); err != nil {
			return err
		}
	}
	row := m.count(0) * m.Elem.Bytes()
	box := row
	for i := 1; i < m.Rank && box <= mostBox; i++ {
		box *= m.count(i)
	}
	switch {
	case box > mostBox:
		return fmt.Errorf("a tensor map whose boxes have more than %d bytes", mostBox)
	case row%16 != 0:
		return fmt.Errorf("a tensor map whose boxes have rows of %d bytes: want a multiple of 16", row)
	case m.Swizzle != 0 && row > m.Swizzle:
		return fmt.Errorf("a tensor map whose boxes have rows of %d bytes: want at most %d, the swizzle", row, m.Swizzle)
	}
	return nil
}

func (m *Map) validateDimension(i int) error {
	switch {
	case m.Shape[i] == 0:
		return fmt.Errorf("a tensor map without elements in dimension %d", i)
	case m.Box[i] < 1 || m.Box[i] > maxBox:
		return fmt.Errorf("a tensor map with boxes of %d elements in dimension %d: want 1 to %d", m.Box[i], i, maxBox)
	case m.ElementStrides[i] < 1 || m.ElementStrides[i] > maxElement:
		return fmt.Errorf("a tensor map with element stride %d in dimension %d: want 1 to %d", m.ElementStrides[i], i, maxElement)
	case i > 0 && (m.Strides[i-1]%16 != 0 || m.Strides[i-1] >= maxStride):
		return fmt.Errorf("a tensor map with a stride of %d bytes in dimension %d: want a multiple of 16 below 2^40", m.Strides[i-1], i)
	}
	return nil
}

// count is the elements of a box in a dimension.
func (m *Map) count(i int) int {
	return (m.Box[i] + m.ElementStrides[i] - 1) / m.ElementStrides[i]
}

// BoxBytes is the bytes of shared memory that a box takes.
func (m *Map) BoxBytes() int {
	n := m.Elem.Bytes()
	for i := range m.Rank {
		n *= m.count(i)
	}
	return n
}

// Extent is the bytes from the address to after the tensor's last element.
func (m *Map) Extent() uint64 {
	n := uint64(m.Shape[0]) * uint64(m.Elem.Bytes())
	for i := 1; i < m.Rank; i++ {
		n += uint64(m.Shape[i]-1) * m.Strides[i-1]
	}
	return n
}

// Fill is the bits of an element out of bounds.
func (m *Map) Fill() uint64 {
	if !m.FillNaN {
		return 0
	}
	switch m.Elem {
	case F64:
		return math.MaxInt64
	case F32, F32Ftz, TF32, TF32Ftz:
		return math.MaxInt32
	}
	return math.MaxInt16
}
