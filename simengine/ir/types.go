package ir

// Size is the size in bytes: 4 for the packed 16-bit pairs, 0 for Pred.
func (t Type) Size() int {
	switch t {
	case B8, U8, S8, E4M3, E5M2:
		return 1
	case B16, U16, S16, F16, BF16, E4M3x2, E5M2x2:
		return 2
	case B32, U32, S32, F32, F16x2, BF16x2, U16x2, S16x2, TF32:
		return 4
	case B64, U64, S64, F64:
		return 8
	case B128:
		return 16
	}
	return 0
}

// IsFloat reports a floating-point type, packed ones included.
func (t Type) IsFloat() bool {
	switch t {
	case F16, F16x2, BF16, BF16x2, F32, F64, E4M3, E5M2, TF32, E4M3x2, E5M2x2:
		return true
	}
	return false
}

// IsSigned reports a signed integer type.
func (t Type) IsSigned() bool {
	switch t {
	case S8, S16, S32, S64, S16x2:
		return true
	}
	return false
}

// IsInt reports a signed or unsigned integer type.
func (t Type) IsInt() bool {
	switch t {
	case U8, U16, U32, U64, U16x2:
		return true
	}
	return t.IsSigned()
}

// IsBits reports an untyped bit string.
func (t Type) IsBits() bool {
	switch t {
	case B8, B16, B32, B64, B128:
		return true
	}
	return false
}

// Packed is the element type of a pair of 16-bit values, TypeInvalid for a
// scalar type.
func (t Type) Packed() Type {
	switch t {
	case F16x2:
		return F16
	case BF16x2:
		return BF16
	case U16x2:
		return U16
	case S16x2:
		return S16
	}
	return TypeInvalid
}

// Wide is the integer type of twice the width, the result of mul.wide.
func (t Type) Wide() Type {
	switch t {
	case U16:
		return U32
	case S16:
		return S32
	case U32:
		return U64
	case S32:
		return S64
	}
	return TypeInvalid
}

// BitsOf is the untyped type of n bytes, TypeInvalid when there is none.
func BitsOf(n int) Type {
	switch n {
	case 1:
		return B8
	case 2:
		return B16
	case 4:
		return B32
	case 8:
		return B64
	case 16:
		return B128
	}
	return TypeInvalid
}

// UnsignedOf is the unsigned type of n bytes, TypeInvalid when there is none.
func UnsignedOf(n int) Type {
	switch n {
	case 1:
		return U8
	case 2:
		return U16
	case 4:
		return U32
	case 8:
		return U64
	}
	return TypeInvalid
}
