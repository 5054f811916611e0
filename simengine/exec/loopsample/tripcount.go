package loopsample

import "github.com/warptune/warptune/simengine/ir"

// TripCount returns how many times in a row the comparison of x with y has the result want, while x
// grows by step each time. All are words of type t. It returns -1 where the count is not known or
// without end.
func TripCount(cmp ir.Cmp, t ir.Type, x, step, y uint64, want bool) int64 {
	w := 8 * t.Size()
	if !want {
		cmp = negated(cmp)
	}
	signed := t.IsSigned()
	switch cmp {
	case ir.CmpLO, ir.CmpLS, ir.CmpHI, ir.CmpHS:
		signed = false
		cmp = map[ir.Cmp]ir.Cmp{ir.CmpLO: ir.CmpLT, ir.CmpLS: ir.CmpLE, ir.CmpHI: ir.CmpGT, ir.CmpHS: ir.CmpGE}[cmp]
	case ir.CmpNE:
		return untilEqual(extend(y-x, w, true), extend(step, w, true))
	}
	d := int64(extend(step, w, true))
	if w == 64 && !signed && (x>>63|y>>63) != 0 {
		return -1
	}
	a, b := int64(extend(x, w, signed)), int64(extend(y, w, signed))
	top, bottom := int64(^uint64(0)>>(65-w)), int64(-1)<<(w-1)
	if !signed {
		top, bottom = int64(^uint64(0)>>min(max(64-w, 1), 63)), 0
	}
	switch cmp {
	case ir.CmpLE:
		if b == top {
			return -1
		}
		b++
	case ir.CmpGE:
		if b == bottom {
			return -1
		}
		b--
	}
	switch cmp {
	case ir.CmpLT, ir.CmpLE:
		return steps(a, b, d, top)
	case ir.CmpGT, ir.CmpGE:
		if a == -1<<63 || b == -1<<63 {
			return -1 // has no negative
		}
		return steps(-a, -b, -d, -max(bottom, -1<<63+1))
	}
	return -1
}

// steps returns how many terms of a, a+d, a+2d, ... are below b; -1 if a term exceeds top before one
// reaches b.
func steps(a, b, d, top int64) int64 {
	if a >= b {
		return 0
	}
	gap := uint64(b) - uint64(a)
	if d <= 0 || gap > 1<<62 {
		return -1
	}
	n := (int64(gap) + d - 1) / d
	if last := a + (n-1)*d; last > top-d {
		return -1
	}
	return n
}

// untilEqual returns the number of steps after which a difference is zero, -1 if it never is.
func untilEqual(diff, step uint64) int64 {
	d, s := int64(diff), int64(step)
	if s < 0 {
		d, s = -d, -s
	}
	if d < 0 || s == 0 || d%s != 0 {
		return -1
	}
	return d / s
}

// negated is the comparison that holds where c does not.
func negated(c ir.Cmp) ir.Cmp {
	switch c {
	case ir.CmpEQ:
		return ir.CmpNE
	case ir.CmpNE:
		return ir.CmpEQ
	case ir.CmpLT:
		return ir.CmpGE
	case ir.CmpGE:
		return ir.CmpLT
	case ir.CmpGT:
		return ir.CmpLE
	case ir.CmpLE:
		return ir.CmpGT
	case ir.CmpLO:
		return ir.CmpHS
	case ir.CmpHS:
		return ir.CmpLO
	case ir.CmpHI:
		return ir.CmpLS
	case ir.CmpLS:
		return ir.CmpHI
	}
	return ir.CmpNone
}

// extend is the value of the low bits of v.
func extend(v uint64, bits int, signed bool) uint64 {
	s := uint(64 - bits)
	if signed {
		return uint64(int64(v<<s) >> s)
	}
	return v << s >> s
}
