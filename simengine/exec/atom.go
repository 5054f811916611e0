package exec

import (
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// atomFunc is the new value of a word from its old one and the operands.
type atomFunc func(old, b, c uint64) uint64

// selectAtom picks the operation of an atom or red, nil when PTX has none or
// it is not modelled.
func selectAtom(in *ir.Instr) atomFunc {
	if in.Type.IsFloat() {
		return floatAtom(in)
	}
	return integerAtom(in.Atom, in.Type)
}

// integerAtom is an operation on unsigned, signed or untyped words; results
// are cut to the word when stored.
func integerAtom(op ir.AtomOp, t ir.Type) atomFunc {
	n := width(t)
	if n != 16 && n != 32 && n != 64 {
		return nil
	}
	less := func(a, b uint64) bool { return extend64(a, n, false) < extend64(b, n, false) }
	if t.IsSigned() {
		less = func(a, b uint64) bool { return int64(extend64(a, n, true)) < int64(extend64(b, n, true)) }
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
			if extend64(old, n, false) == 0 || less(b, old) {
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
			if extend64(old, n, false) == extend64(b, n, false) {
				return c
			}
			return old
		}
	}
	return nil
}

// floatAtom is add, and min and max where PTX has them, in float types.
// Single precision global atomics flush nothing and round to nearest.
func floatAtom(in *ir.Instr) atomFunc {
	t := in.Type
	if in.Atom == ir.AtomExch || in.Atom == ir.AtomCAS {
		return integerAtom(in.Atom, map[int]ir.Type{16: ir.B16, 32: ir.B32, 64: ir.B64}[width(t)])
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
	l := selectLane(&ir.Instr{Op: op, Type: t, Round: ir.RN, Guard: ir.NoReg})
	if l.f32 == nil {
		return nil
	}
	var d, x, y vec32
	return func(old, b, _ uint64) uint64 {
		d, x, y := d, x, y
		x[0], y[0] = uint32(old), uint32(b)
		l.f32(&d, &x, &y, &y, &y)
		return uint64(d[0])
	}
}

// atomic performs the lanes one after the other in lane order.
func (r *Runner) atomic(w *warp, in *instr, space ir.Space, mask uint32) signal {
	x, a := in.x, in.x.access
	if space == ir.Const {
		return r.fail(w, in, Fault{Kind: OutOfBounds, Space: space, Address: r.addr[bits.TrailingZeros32(mask)], Thread: -1, Detail: "constant memory cannot be written"})
	}
	var c cursor
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		p := r.lane(w, &c, a, space, l, true)
		if p == nil {
			return r.pageLimit(w, in)
		}
		for v := range a.vec {
			old := a.element(p, v)
			third := uint64(0)
			if len(x.src) > a.vec {
				third = w.get(x.src[a.vec+v], l)
			}
			a.putElement(p, v, x.atom(old, w.get(x.src[v], l), third))
			if len(x.dst) > 0 {
				w.put(x.dst[v], l, old)
			}
		}
		r.settle()
	}
	return next
}
