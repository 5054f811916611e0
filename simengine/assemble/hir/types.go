package hir

import "github.com/warptune/warptune/simengine/ir"

// Words is the number of 32-bit registers that a PTX register of a type takes.
func Words(t ir.Type) uint8 {
	switch t {
	case ir.B64, ir.U64, ir.S64, ir.F64:
		return 2
	case ir.B128:
		return 4
	}
	return 1
}

// IsInt reports whether a type is an integer or untyped bits.
func IsInt(t ir.Type) bool {
	switch t {
	case ir.B8, ir.B16, ir.B32, ir.B64, ir.U8, ir.U16, ir.U32, ir.U64, ir.S8, ir.S16, ir.S32, ir.S64:
		return true
	}
	return false
}

// Signed reports whether a type is a signed integer.
func Signed(t ir.Type) bool {
	switch t {
	case ir.S8, ir.S16, ir.S32, ir.S64:
		return true
	}
	return false
}

// Bits is the width of a type in bits.
func Bits(t ir.Type) int {
	switch t {
	case ir.Pred:
		return 1
	case ir.B8, ir.U8, ir.S8, ir.E4M3, ir.E5M2:
		return 8
	case ir.B16, ir.U16, ir.S16, ir.F16, ir.BF16, ir.E4M3x2, ir.E5M2x2:
		return 16
	case ir.B64, ir.U64, ir.S64, ir.F64:
		return 64
	case ir.B128:
		return 128
	}
	return 32
}

// IsHalf reports whether a type is a 16-bit floating-point number or a pair of them.
func IsHalf(t ir.Type) bool {
	switch t {
	case ir.F16, ir.F16x2, ir.BF16, ir.BF16x2:
		return true
	}
	return false
}
