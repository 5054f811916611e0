package loopsample

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// ordered returns the comparison without its signedness.
func ordered(cmp ir.Cmp, signed bool) (ir.Cmp, bool) {
	switch cmp {
	case ir.CmpLO:
		return ir.CmpLT, false
	case ir.CmpLS:
		return ir.CmpLE, false
	case ir.CmpHI:
		return ir.CmpGT, false
	case ir.CmpHS:
		return ir.CmpGE, false
	}
	return cmp, signed
}

// Holds is the result of a comparison of words of type t.
func Holds(cmp ir.Cmp, t ir.Type, x, y uint64) bool {
	cmp, signed := ordered(cmp, t.IsSigned())
	w := 8 * t.Size()
	x, y = extend(x, w, signed), extend(y, w, signed)
	less := x < y
	if signed {
		less = int64(x) < int64(y)
	}
	switch cmp {
	case ir.CmpEQ:
		return x == y
	case ir.CmpNE:
		return x != y
	case ir.CmpLT:
		return less
	case ir.CmpLE:
		return less || x == y
	case ir.CmpGT:
		return !less && x != y
	}
	return !less
}

// Held returns how many comparisons in a row, from that of x with y on, have the same result while x grows by step
// each time. It counts as far as x stays in the range of type t. It is 0 where that is not known.
func Held(cmp ir.Cmp, t ir.Type, x, step, y uint64) int64 {
	cmp, signed := ordered(cmp, t.IsSigned())
	w := 8 * t.Size()
	a, b, d := int64(extend(x, w, signed)), int64(extend(y, w, signed)), int64(extend(step, w, true))
	const far = 1 << 61
	for _, v := range [...]int64{a, b, d} {
		if v <= -far || v >= far {
			return 0
		}
	}
	if w == 64 && !signed && (a < 0 || b < 0) {
		return 0
	}
	bottom, top := int64(-far), int64(far)
	if w == 32 {
		if bottom, top = 0, math.MaxUint32; signed {
			bottom, top = math.MinInt32, math.MaxInt32
		}
	} else if !signed {
		bottom = 0
	}
	reach := int64(math.MaxInt64)
	switch {
	case d > 0:
		reach = (top-a)/d + 1
	case d < 0:
		reach = (a-bottom)/-d + 1
	}
	if cmp == ir.CmpLE || cmp == ir.CmpGT {
		b++
	}
	return min(reach, flips(cmp == ir.CmpEQ || cmp == ir.CmpNE, a, b, d))
}

// flips returns the first k from 1 on for which a+k*d compares otherwise with b than a does, for
// equality or for being less.
func flips(equality bool, a, b, d int64) int64 {
	switch {
	case d == 0:
	case equality && a == b:
		return 1
	case equality:
		if k := (b - a) / d; k > 0 && (b-a)%d == 0 {
			return k
		}
	case a < b && d > 0:
		return (b - a + d - 1) / d
	case a >= b && d < 0:
		return (a-b)/-d + 1
	}
	return math.MaxInt64
}
