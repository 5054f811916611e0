package alu

import (
	"github.com/warptune/warptune/simengine/arch"
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// A compare function gives a bit for every lane whose comparison holds.
type (
	Compare32 func(a, b *Vec32) uint32
	Compare64 func(a, b *Vec64) uint32
)

type number interface {
	int32 | int64 | uint32 | uint64
}

func cmpEQ[T Word](a, b *[arch.WarpSize]T) (m uint32) {
	for i := range a {
		if a[i] == b[i] {
			m |= 1 << i
		}
	}
	return m
}

func cmpLT[T Word, N number](a, b *[arch.WarpSize]T) (m uint32) {
	for i := range a {
		if N(a[i]) < N(b[i]) {
			m |= 1 << i
		}
	}
	return m
}

// comparison is a comparison as one of two relations, its operands swapped or
// its result inverted.
type comparison struct{ less, swap, invert bool }

var comparisons = map[ir.Cmp]comparison{
	ir.CmpEQ: {}, ir.CmpNE: {invert: true},
	ir.CmpLT: {less: true}, ir.CmpLO: {less: true},
	ir.CmpGT: {less: true, swap: true}, ir.CmpHI: {less: true, swap: true},
	ir.CmpGE: {less: true, invert: true}, ir.CmpHS: {less: true, invert: true},
	ir.CmpLE: {less: true, swap: true, invert: true}, ir.CmpLS: {less: true, swap: true, invert: true},
}

// arrange applies a comparison's swap and inversion to a relation.
func arrange[T Word](f func(a, b *[arch.WarpSize]T) uint32, c comparison) func(a, b *[arch.WarpSize]T) uint32 {
	switch {
	case c.swap && c.invert:
		return func(a, b *[arch.WarpSize]T) uint32 { return ^f(b, a) }
	case c.swap:
		return func(a, b *[arch.WarpSize]T) uint32 { return f(b, a) }
	case c.invert:
		return func(a, b *[arch.WarpSize]T) uint32 { return ^f(a, b) }
	}
	return f
}

// SelectCompare finds the comparison of Setp and Set: operand type t,
// one of the results is set, or neither when it is not modelled.
func SelectCompare(c ir.Cmp, t ir.Type, ftz bool) (Compare32, Compare64) {
	if t.IsFloat() {
		return floatCompare(c, t, ftz)
	}
	how, ok := comparisons[c]
	signed := t.IsSigned() && c != ir.CmpLO && c != ir.CmpLS && c != ir.CmpHI && c != ir.CmpHS
	w := Width(t)
	switch {
	case !ok || w == 0:
		return nil, nil
	case w == 64 && !how.less:
		return nil, arrange(cmpEQ[uint64], how)
	case w == 64 && signed:
		return nil, arrange(cmpLT[uint64, int64], how)
	case w == 64:
		return nil, arrange(cmpLT[uint64, uint64], how)
	}
	var f func(a, b *Vec32) uint32
	switch {
	case !how.less:
		f = arrange(cmpEQ[uint32], how)
	case signed:
		f = arrange(cmpLT[uint32, int32], how)
	default:
		f = arrange(cmpLT[uint32, uint32], how)
	}
	if w == 32 {
		return f, nil
	}
	return func(a, b *Vec32) uint32 {
		var x, y Vec32
		extend32(&x, a, w, signed)
		extend32(&y, b, w, signed)
		return f(&x, &y)
	}, nil
}

// compareFloats decides one ordered pair; the U comparisons are true and the
// others false when either is NaN.
func compareFloats(c ir.Cmp, a, b float64) bool {
	nan := a != a || b != b
	switch c {
	case ir.CmpNum:
		return !nan
	case ir.CmpNaN:
		return nan
	case ir.CmpEQU, ir.CmpNEU, ir.CmpLTU, ir.CmpLEU, ir.CmpGTU, ir.CmpGEU:
		if nan {
			return true
		}
		c = c - ir.CmpEQU + ir.CmpEQ
	}
	if nan {
		return false
	}
	switch c {
	case ir.CmpEQ:
		return a == b
	case ir.CmpNE:
		return a != b
	case ir.CmpLT:
		return a < b
	case ir.CmpLE:
		return a <= b
	case ir.CmpGT:
		return a > b
	case ir.CmpGE:
		return a >= b
	}
	return false
}

func floatCompare(c ir.Cmp, t ir.Type, ftz bool) (Compare32, Compare64) {
	if c == ir.CmpNone || (c >= ir.CmpLO && c <= ir.CmpHS) {
		return nil, nil
	}
	if t == ir.F64 {
		return nil, func(a, b *Vec64) (m uint32) {
			for i := range a {
				if compareFloats(c, math.Float64frombits(a[i]), math.Float64frombits(b[i])) {
					m |= 1 << i
				}
			}
			return m
		}
	}
	dec := DecodeFloat(t, ftz)
	if dec == nil {
		return nil, nil
	}
	if t == ir.F32 && !ftz {
		dec = nil
	}
	return func(a, b *Vec32) (m uint32) {
		for i := range a {
			x, y := float64(F32(a[i])), float64(F32(b[i]))
			if dec != nil {
				x, y = dec(uint64(a[i])), dec(uint64(b[i]))
			}
			if compareFloats(c, x, y) {
				m |= 1 << i
			}
		}
		return m
	}, nil
}
