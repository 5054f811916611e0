package alu

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// AtomicFunc is the new value of a word from its old one and the operands.
type AtomicFunc func(old, b, c uint64) uint64

// SelectAtomic picks the operation of an atom or red, nil when PTX has none or
// it is not modelled.
func SelectAtomic(in *ir.Instr) AtomicFunc {
	if in.Type.IsFloat() {
		return floatAtom(in)
	}
	return IntegerAtomic(in.Atom, in.Type)
}

// IntegerAtomic is an operation on unsigned, signed or untyped words; results
// are cut to the word when stored.
func IntegerAtomic(op ir.AtomOp, t ir.Type) AtomicFunc {
	n := Width(t)
	if n != 16 && n != 32 && n != 64 {
		return nil
	}
	less := func(a, b uint64) bool { return Extend64(a, n, false) < Extend64(b, n, false) }
	if t.IsSigned() {
		less = func(a, b uint64) bool { return int64(Extend64(a, n, true)) < int64(Extend64(b, n, true)) }
	}
	switch op {
	case ir.AtomAdd:
		return func(old, b, _ uint64) uint64 { return old + b }
	case ir.AtomMin:
		return func(old, b, _ uint64) uint64 {
			if less(b, old) {
				return b
			}
			return old
		}
	case ir.AtomMax:
		return func(old, b, _ uint64) uint64 {
			if less(old, b) {
				return b
			}
			return old
		}
	case ir.AtomInc:
		return func(old, b, _ uint64) uint64 {
			if !less(old, b) {
				return 0
			}
			return old + 1
		}
	case ir.AtomDec:
		return func(old, b, _ uint64) uint64 {
			if Extend64(old, n, false) == 0 || less(b, old) {
				return b
			}
			return old - 1
		}
	case ir.AtomAnd:
		return func(old, b, _ uint64) uint64 { return old & b }
	case ir.AtomOr:
		return func(old, b, _ uint64) uint64 { return old | b }
	case ir.AtomXor:
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case ir.AtomExch:
		return func(_, b, _ uint64) uint64 { return b }
	case ir.AtomCAS:
		return func(old, b, c uint64) uint64 {
			if Extend64(old, n, false) == Extend64(b, n, false) {
				return c
			}
			return old
		}
	}
	return nil
}

// floatAtom is add, and min and max where PTX has them, in float types.
// Single precision global atomics flush nothing and round to nearest.
func floatAtom(in *ir.Instr) AtomicFunc {
	t := in.Type
	if in.Atom == ir.AtomExch || in.Atom == ir.AtomCAS {
		return IntegerAtomic(in.Atom, map[int]ir.Type{16: ir.B16, 32: ir.B32, 64: ir.B64}[Width(t)])
	}
	var op ir.Op
	switch in.Atom {
	case ir.AtomAdd:
		op = ir.Add
	case ir.AtomMin:
		op = ir.Min
	case ir.AtomMax:
		op = ir.Max
	default:
		return nil
	}
	if t == ir.F64 && op == ir.Add {
		return func(old, b, _ uint64) uint64 { return bits64(math.Float64frombits(old) + math.Float64frombits(b)) }
	}
	l := Select(&ir.Instr{Op: op, Type: t, Round: ir.RN, Guard: ir.NoReg})
	if l.F32 == nil {
		return nil
	}
	var d, x, y Vec32
	return func(old, b, _ uint64) uint64 {
		d, x, y := d, x, y
		x[0], y[0] = uint32(old), uint32(b)
		l.F32(&d, &x, &y, &y, &y)
		return uint64(d[0])
	}
}
