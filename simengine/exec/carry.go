package exec

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// carryOp is add, sub and mad with .cc and addc, subc, madc. Subtraction keeps
// a borrow in the flag.
func (r *Runner) carryOp(w *warp, in *code.Instr, mask uint32) signal {
	ki := &r.p.Kernel.Instrs[in.PC]
	x, n := in.X, alu.Width(ki.Type)
	subtract := ki.Op == ir.Sub || ki.Op == ir.SubC
	var out uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		a, b := w.get(x.Src[0], l), w.get(x.Src[1], l)
		if len(x.Src) == 3 {
			if ki.Mod&ir.ModHi != 0 {
				a = alu.MulHi(a, b, n, ki.Type.IsSigned())
			} else {
				a *= b
			}
			b = w.get(x.Src[2], l)
		}
		carry := uint64(0)
		if ki.Mod&ir.ModCarryIn != 0 {
			carry = uint64(w.carry >> l & 1)
		}
		v, c := addCarry(a, b, carry, n, subtract)
		w.put(x.Dst[0], l, v)
		out |= uint32(c) << l
	}
	if ki.Mod&ir.ModCarryOut != 0 {
		w.carry = w.carry&^mask | out&mask
	}
	return next
}

// addCarry adds or subtracts words of n bits with a carry or borrow.
func addCarry(a, b, carry uint64, n int, subtract bool) (v, out uint64) {
	if n == 32 {
		a, b = uint64(uint32(a)), uint64(uint32(b))
		if subtract {
			v = a - b - carry
		} else {
			v = a + b + carry
		}
		return uint64(uint32(v)), v >> 32 & 1
	}
	if subtract {
		return bits.Sub64(a, b, carry)
	}
	return bits.Add64(a, b, carry)
}
