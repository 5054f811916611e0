package element

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// Value is the number that the bits of an element of type t stand for, the nearest float64 of
// large integers.
func Value(t ir.Type, bits uint64) float64 {
	switch t {
	case ir.F64:
		return math.Float64frombits(bits)
	case ir.F32, ir.TF32:
		return float64(math.Float32frombits(uint32(bits)))
	case ir.F16:
		return Half.Unpack(uint32(bits))
	case ir.BF16:
		return Bfloat.Unpack(uint32(bits))
	case ir.E4M3:
		return E4M3.Unpack(uint32(bits))
	case ir.E5M2:
		return E5M2.Unpack(uint32(bits))
	}
	shift := 64 - 8*Size(t)
	if t.IsSigned() {
		return float64(int64(bits<<shift) >> shift)
	}
	return float64(bits)
}
