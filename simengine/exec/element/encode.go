package element

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// Size is the size of one element in bytes, 0 when t cannot be one.
func Size(t ir.Type) int {
	switch t {
	case ir.B8, ir.U8, ir.S8, ir.E4M3, ir.E5M2:
		return 1
	case ir.B16, ir.U16, ir.S16, ir.F16, ir.BF16:
		return 2
	case ir.B32, ir.U32, ir.S32, ir.F32, ir.TF32:
		return 4
	case ir.B64, ir.U64, ir.S64, ir.F64:
		return 8
	}
	return 0
}

// Encode gives the bits of v as an element of type t: rounded to nearest for
// floats, truncated for integers.
func Encode(t ir.Type, v float64) uint64 {
	switch t {
	case ir.F64:
		return math.Float64bits(v)
	case ir.F32, ir.TF32:
		return uint64(math.Float32bits(float32(v)))
	case ir.F16:
		return uint64(Half.Pack(v, ir.RN, false))
	case ir.BF16:
		return uint64(Bfloat.Pack(v, ir.RN, false))
	case ir.E4M3:
		return uint64(E4M3.Pack(v, ir.RN, true))
	case ir.E5M2:
		return uint64(E5M2.Pack(v, ir.RN, true))
	}
	switch {
	case v != v:
		return 0
	case v < 0:
		return uint64(int64(v))
	case v >= 1<<64:
		return math.MaxUint64
	}
	return uint64(v)
}

// Repeat fills memory with an element.
func Repeat(dst []byte, bits uint64, size int) {
	if bits == 0 {
		clear(dst)
		return
	}
	if len(dst) < size {
		return
	}
	Store(dst, bits, size)
	for n := size; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// Store stores the low size bytes of v, little endian.
func Store(dst []byte, v uint64, size int) {
	for i := 0; i < size; i++ {
		dst[i] = byte(v >> (8 * i))
	}
}

// Load loads size bytes, little endian.
func Load(src []byte, size int) uint64 {
	var v uint64
	for i := 0; i < size; i++ {
		v |= uint64(src[i]) << (8 * i)
	}
	return v
}
