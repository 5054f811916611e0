package origin

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// warpSize is the threads of a warp.
const warpSize = 32

// result is what an instruction makes of what it reads.
func (v *Values) result(in *ir.Instr) Value {
	a, b, c := v.source(in, 0), v.source(in, 1), v.source(in, 2)
	switch in.Op {
	case ir.Mov, ir.Cvt, ir.Cvta:
		if len(in.Src) == 1 && len(in.Dst) == 1 && !in.Type.IsFloat() && !in.SrcType.IsFloat() {
			return a
		}
	case ir.Ld, ir.Ldu:
		if a.same() {
			return uniform
		}
		return Value{Of: a.Of&^Remainder | Data, set: a.set}
	case ir.Atom, ir.Shfl:
		return Value{Of: Data, set: true}
	case ir.Add, ir.Or: // compilers join bits that are apart by or
		return combined(a, b, a.Apart+b.Apart)
	case ir.Sub:
		return combined(a, b, a.Apart-b.Apart)
	case ir.Mul:
		return product(in, a, b)
	case ir.Mad:
		p := product(in, a, b)
		return combined(p, c, p.Apart+c.Apart)
	case ir.Shl:
		if n, ok := constant(in, 1); ok && n < 63 {
			a.Apart <<= n
			return a
		}
	case ir.Shr, ir.Div:
		if n, ok := constant(in, 1); ok && a.Known && a.Apart == 1 && (in.Op == ir.Shr && n >= 5 || in.Op == ir.Div && n >= warpSize) {
			a.Apart = 0
			return a
		}
	case ir.And, ir.Rem:
		if n, ok := constant(in, 1); ok {
			return remainder(in.Op, a, n)
		}
		if in.Op == ir.Rem && a.Of.Has(Thread) {
			a.Of |= Remainder
		}
	case ir.Setp, ir.Set:
		n := mixed(a, b, c)
		if in.Cmp != ir.CmpEQ && in.Cmp != ir.CmpNE {
			n.Of &^= Remainder // neighbours are on one side
		}
		return n
	}
	all := mixed(a, b, c)
	for i := 3; i < len(in.Src); i++ {
		all = mixed(all, v.source(in, i), uniform)
	}
	return all
}

func (v *Values) source(in *ir.Instr, i int) Value {
	if i >= len(in.Src) {
		return uniform
	}
	return v.Operand(&in.Src[i])
}

// same reports whether all threads of a warp have the value in common.
func (a Value) same() bool { return a.set && a.Known && a.Apart == 0 && !a.Of.Has(Data) }

// combined is a value that comes of two and has so much between neighbours if theirs are known.
func combined(a, b Value, apart int64) Value {
	if !a.set || !b.set {
		return Value{}
	}
	return Value{Of: a.Of | b.Of, Apart: apart, Known: a.Known && b.Known, set: true}
}

// mixed is a value that comes of three: known only if threads have those in common.
func mixed(a, b, c Value) Value {
	if !a.set || !b.set || !c.set {
		return Value{}
	}
	return Value{Of: a.Of | b.Of | c.Of, Known: a.same() && b.same() && c.same(), set: true}
}

func product(in *ir.Instr, a, b Value) Value {
	if n, ok := constant(in, 1); ok {
		return combined(a, b, a.Apart*n)
	}
	if n, ok := constant(in, 0); ok {
		return combined(a, b, b.Apart*n)
	}
	return mixed(a, b, uniform)
}

// remainder is a value modulo n, or its bits of the mask n.
func remainder(op ir.Op, a Value, n int64) Value {
	if a.Of.Has(Thread) && !a.same() {
		a.Of |= Remainder
	}
	if a.Apart == 0 || !a.Known {
		return a
	}
	mask := uint64(n)
	if op == ir.Rem {
		mask = 0 // by what is no power of two
		if bits.OnesCount64(uint64(n)) == 1 {
			mask = uint64(n) - 1
		}
	}
	step := bits.TrailingZeros64(uint64(a.Apart))
	switch lanes := mask >> step & (warpSize - 1); { // the bits that tell lanes apart
	case a.Apart != 1<<step || lanes != 0 && lanes != warpSize-1:
		a.Known = false
	case lanes == 0:
		a.Apart = 0
	}
	return a
}

// constant is an operand that is one.
func constant(in *ir.Instr, i int) (int64, bool) {
	if i >= len(in.Src) || in.Src[i].Kind != ir.OperandImm {
		return 0, false
	}
	imm := in.Src[i].Imm
	if in.Type.Size() == 4 {
		return int64(int32(uint32(imm))), true
	}
	return int64(imm), true
}
