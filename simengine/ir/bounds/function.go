package bounds

import "github.com/warptune/warptune/simengine/ir"

// function is what an instruction computes of its sources, of 32 bits or predicates; nil: it is not one of those that
// addresses are computed by.
func function(in *ir.Instr) func(a, b, c, d uint32) uint32 {
	pred := in.Type == ir.Pred
	if !pred && (in.Type.IsFloat() || in.Type.Size() != 4 || in.Type.Packed() != ir.TypeInvalid) {
		return nil
	}
	signed := in.Type.IsSigned()
	switch in.Op {
	case ir.Mov:
		if len(in.Src) == 1 && len(in.Dst) == 1 {
			return func(a, _, _, _ uint32) uint32 {
				if pred {
					return truth(a != 0)
				}
				return a
			}
		}
	case ir.Add:
		return func(a, b, _, _ uint32) uint32 { return a + b }
	case ir.Sub:
		return func(a, b, _, _ uint32) uint32 { return a - b }
	case ir.Mul:
		return func(a, b, _, _ uint32) uint32 { return a * b }
	case ir.Mad:
		return func(a, b, c, _ uint32) uint32 { return a*b + c }
	case ir.And:
		return func(a, b, _, _ uint32) uint32 { return a & b }
	case ir.Or:
		return func(a, b, _, _ uint32) uint32 { return a | b }
	case ir.Xor:
		return func(a, b, _, _ uint32) uint32 { return a ^ b }
	case ir.Not:
		if !pred {
			return func(a, _, _, _ uint32) uint32 { return ^a }
		}
		return func(a, _, _, _ uint32) uint32 { return a ^ 1 }
	case ir.Shl:
		return func(a, b, _, _ uint32) uint32 { return a << min(b, 32) }
	case ir.Shr:
		if signed {
			return func(a, b, _, _ uint32) uint32 { return uint32(int32(a) >> min(b, 31)) }
		}
		return func(a, b, _, _ uint32) uint32 { return a >> min(b, 32) }
	case ir.Bfe:
		return func(a, b, c, _ uint32) uint32 {
			return bitField(a, b&0xff, c&0xff, signed)
		}
	case ir.Selp:
		return func(a, b, c, _ uint32) uint32 {
			if c != 0 {
				return a
			}
			return b
		}
	case ir.Setp:
		return comparison(in)
	}
	return nil
}

// comparison is a comparison of integers by itself.
func comparison(in *ir.Instr) func(a, b, c, d uint32) uint32 {
	if len(in.Dst) != 1 || len(in.Src) != 2 || in.Bool != ir.BoolNone {
		return nil
	}
	order := func(a, b uint32) (less, same bool) {
		if in.Type.IsSigned() {
			return int32(a) < int32(b), a == b
		}
		return a < b, a == b
	}
	var holds func(less, same bool) bool
	switch in.Cmp {
	case ir.CmpEQ:
		holds = func(_, same bool) bool { return same }
	case ir.CmpNE:
		holds = func(_, same bool) bool { return !same }
	case ir.CmpLT, ir.CmpLO:
		holds = func(less, _ bool) bool { return less }
	case ir.CmpLE, ir.CmpLS:
		holds = func(less, same bool) bool { return less || same }
	case ir.CmpGT, ir.CmpHI:
		holds = func(less, same bool) bool { return !less && !same }
	case ir.CmpGE, ir.CmpHS:
		holds = func(less, _ bool) bool { return !less }
	default:
		return nil
	}
	return func(a, b, _, _ uint32) uint32 { return truth(holds(order(a, b))) }
}

// bitField is n bits of a from a position on, extended by the last of them where they have a sign (PTX ISA, bfe).
func bitField(a, from, n uint32, signed bool) uint32 {
	x := int64(uint64(a))
	if signed {
		x = int64(int32(a))
	}
	x >>= min(from, 63)
	if n >= 32 {
		return uint32(x)
	}
	if x &= 1<<n - 1; signed && n > 0 && x>>(n-1) != 0 {
		x -= 1 << n
	}
	return uint32(x)
}

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
