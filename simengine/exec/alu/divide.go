package alu

// Division by zero is unspecified in PTX; NVIDIA hardware returns all ones as
// the quotient and the dividend as the remainder.
func div32u(a, b, _ uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return a / b
}

func div32s(a, b, _ uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return uint32(int64(int32(a)) / int64(int32(b)))
}

func div64u(a, b, _ uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return a / b
}

func div64s(a, b, _ uint64) uint64 {
	switch int64(b) {
	case 0:
		return ^uint64(0)
	case -1:
		return -a
	}
	return uint64(int64(a) / int64(b))
}

func rem32u(a, b, _ uint32) uint32 {
	if b == 0 {
		return a
	}
	return a % b
}

func rem32s(a, b, _ uint32) uint32 {
	if b == 0 {
		return a
	}
	return uint32(int64(int32(a)) % int64(int32(b)))
}

func rem64u(a, b, _ uint64) uint64 {
	if b == 0 {
		return a
	}
	return a % b
}

func rem64s(a, b, _ uint64) uint64 {
	switch int64(b) {
	case 0:
		return a
	case -1:
		return 0
	}
	return uint64(int64(a) % int64(b))
}
