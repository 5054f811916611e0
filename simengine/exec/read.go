package exec

import (
	"math"

	"github.com/warptune/warptune/simengine/exec/element"
	"github.com/warptune/warptune/simengine/ir"
)

// Read copies the bytes of global memory from addr on, which must lie in one buffer; it
// reports whether they do.
func (m *Memory) Read(addr uint64, dst []byte) bool {
	r := m.find(addr, uint64(len(dst)))
	if r == nil {
		return false
	}
	for off := addr - r.base; len(dst) > 0; {
		p := m.page(r, off>>pageBits)
		if p == nil {
			return false
		}
		n := copy(dst, p.data[off&(pageSize-1):])
		dst, off = dst[n:], off+uint64(n)
	}
	return true
}

// Value is the number that the bits of an element of type t stand for, the nearest float64 of
// large integers.
func Value(t ir.Type, bits uint64) float64 {
	switch t {
	case ir.F64:
		return math.Float64frombits(bits)
	case ir.F32, ir.TF32:
		return float64(math.Float32frombits(uint32(bits)))
	case ir.F16:
		return element.Half.Unpack(uint32(bits))
	case ir.BF16:
		return element.Bfloat.Unpack(uint32(bits))
	case ir.E4M3:
		return element.E4M3.Unpack(uint32(bits))
	case ir.E5M2:
		return element.E5M2.Unpack(uint32(bits))
	}
	shift := 64 - 8*element.Size(t)
	if t.IsSigned() {
		return float64(int64(bits<<shift) >> shift)
	}
	return float64(bits)
}
