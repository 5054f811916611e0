package exec

import (
	"math"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// SlowPathCount is how often warps called the routine of an operation's slow path.
type SlowPathCount struct {
	PC    int
	Warps int64              // executions of the operation by a warp
	Taken [ir.NumPaths]int64 // those of which some lane took a path
	Lanes [ir.NumPaths]int64 // the lanes that took it
}

// SlowPaths is what runs of a program by CompileCounting counted since the runner was made, for the
// operations that warps executed. PCs ascend.
func (r *Runner) SlowPaths() []SlowPathCount {
	return slices.DeleteFunc(slices.Clone(r.slowPaths), func(d SlowPathCount) bool { return d.Warps == 0 })
}

// countPaths counts the paths that the lanes of a warp take.
func (r *Runner) countPaths(w *warp, in *code.Instr, mask uint32) signal {
	d := &r.slowPaths[in.X.Imm]
	d.Warps++
	op := &r.p.Kernel.Instrs[in.PC]
	var seen [ir.NumPaths]bool
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		a, b := w.get(in.X.Src[0], l), uint64(0)
		if len(in.X.Src) > 1 {
			b = w.get(in.X.Src[1], l)
		}
		if p := slowPath(op, a, b); p != ir.PathEntered {
			seen[ir.PathEntered], seen[p] = true, true
			d.Lanes[ir.PathEntered]++
			d.Lanes[p]++
		}
	}
	for p, s := range seen {
		if s {
			d.Taken[p]++
		}
	}
	return next
}

// slowPath returns the path that a lane with operands a and b takes: PathEntered if the code in line
// serves.
func slowPath(in *ir.Instr, a, b uint64) ir.Path {
	switch {
	case in.Type == ir.F32 && in.Op == ir.Div:
		if divides32(uint32(a), uint32(b)) {
			return ir.PathEntered
		}
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		return pathTo(float64(x), float64(y), float64(x)/float64(y), 0x1p-126, math.MaxFloat32)
	case in.Type == ir.F32 && in.Op == ir.Rcp:
		if (uint32(a)+0x1800000)&0x7f800000 > 0x1ffffff {
			return ir.PathEntered
		}
		x := float64(math.Float32frombits(uint32(a)))
		return pathTo(1, x, 1/x, 0x1p-126, math.MaxFloat32)
	case in.Type == ir.F32:
		if uint32(a)-0xd000000 <= 0x727fffff {
			return ir.PathEntered
		}
		x := float64(math.Float32frombits(uint32(a)))
		return pathTo(1, x, math.Sqrt(x), 0, math.MaxFloat32)
	}
	x, y, hi := math.Float64frombits(a), math.Float64frombits(b), uint32(a>>32)
	switch in.Op {
	case ir.Div:
		if q := x / y; !divides64(hi, uint32(b>>32), uint32(math.Float64bits(q)>>32)) {
			return pathTo(x, y, q, 0x1p-1022, math.MaxFloat64)
		}
	case ir.Rcp:
		if (hi+0x300402)&0x7fffffff < 0x400402 {
			return pathTo(1, x, 1/x, 0x1p-1022, math.MaxFloat64)
		}
	default:
		if hi-0x3500000 >= 0x7ca00000 {
			return pathTo(1, x, math.Sqrt(x), 0, math.MaxFloat64)
		}
	}
	return ir.PathEntered
}

// divides32 reports whether the single-precision code in line divides a by b. It does if neither
// operand is zero, denormal, infinite or NaN, and the reciprocal of b, the quotient, and the
// remainder after a step of Newton's iteration are neither denormal nor overflow. What the
// instruction FCHK tests exactly is not documented.
func divides32(a, b uint32) bool {
	x, y := int(a>>23&0xff), int(b>>23&0xff)
	const leastRemainder = 24 // bits below a that the remainder of 2 x 24 bits goes down to
	return x >= leastRemainder && x < 255 && y >= 1 && y < 253 && x-y < 127 && x-y > -126
}

// divides64 reports whether the double-precision code in line divides a by b. The arguments are the
// upper words of a, b and their quotient q. The machine code takes them for single-precision
// numbers: it compares that of a with 6.58e-37, and that of the quotient, plus 0 times that of b,
// with 1.47e-39.
func divides64(a, b, q uint32) bool {
	const sign = 1 << 31
	a, b, q = a&^sign, b&^sign, q&^sign
	return a >= 0x03600000 && b < 0x7f800000 && q > 0x00100000 && q <= 0x7f800000
}

// pathTo returns the path by the operands and the result q. least and most are the least normal and
// the largest finite number.
func pathTo(a, b, q, least, most float64) ir.Path {
	ends := func(v float64) bool { return v == 0 || math.IsInf(v, 0) }
	switch m := math.Abs(q); {
	case math.IsNaN(q):
		return ir.PathUndefined
	case ends(a) || ends(b):
		return ir.PathLimit
	case m < least || m > most:
		return ir.PathTiny
	}
	return ir.PathScaled
}
