package assemble

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// foldHalves has constants of half precision that PTX converts and puts together, which
// cuda_fp16.h writes so, be constants: instructions on pairs of halves take such a pair in
// place (HFMA2 R, R, R.H1_H1, -0.25, 0.5 in sm_90 machine code of half_tone,
// deploy/calibrate/validation/third).
func (f *hfn) foldHalves() error {
	for _, b := range f.order {
		for _, ni := range f.blocks[b].nodes {
			n := &f.nodes[ni]
			if len(n.dst) != 1 || n.guard != noValue {
				continue
			}
			for i := range n.src {
				f.resolve(n, &n.src[i])
			}
			if x, ok := halfConstant(n); ok {
				n.op, n.mod = ir.Mov, 0
				n.src = []ir.Operand{{Kind: ir.OperandImm, Reg: ir.NoReg, Imm: uint64(x), Var: -1, Param: -1}}
			}
		}
	}
	return nil
}

// halfConstant returns the half, or the pair, that a node makes of constants. (Of conversions
// that do not round to the nearest it is another one, which costs the same: what a kernel computes
// is not taken from here.)
func halfConstant(n *node) (x uint32, ok bool) {
	for i := range n.src {
		if n.src[i].Kind != ir.OperandImm {
			return 0, false
		}
	}
	switch {
	case n.op == ir.Mov && len(n.src) == 2 && bits(n.typ) == 32:
		return uint32(n.src[0].Imm)&0xffff | uint32(n.src[1].Imm)<<16, true
	case n.op != ir.Cvt || n.styp != ir.F32:
		return 0, false
	}
	to := map[ir.Type]func(float32) uint16{ir.F16: halfOf, ir.F16x2: halfOf, ir.BF16: bfloatOf, ir.BF16x2: bfloatOf}[n.typ]
	if to == nil {
		return 0, false
	}
	for i := range n.src { // the upper half comes first
		x = x<<16 | uint32(to(math.Float32frombits(uint32(n.src[i].Imm))))
	}
	return x, true
}

// halfOf is the nearest number of half precision (IEEE 754 binary16), ties to even.
func halfOf(v float32) uint16 {
	b := math.Float32bits(v)
	sign, exponent, m := uint16(b>>16)&0x8000, int(b>>23&0xff)-112, b&0x7fffff
	switch {
	case b&0x7fffffff > 0x7f800000:
		return sign | 0x7e00
	case exponent >= 31:
		return sign | 0x7c00
	case exponent < -10:
		return sign
	case exponent <= 0: // subnormal
		return sign + uint16(roundShift(m|0x800000, uint(14-exponent)))
	}
	return sign + uint16(roundShift(uint32(exponent)<<23|m, 13))
}

// bfloatOf is the nearest number of the upper half of single precision, ties to even.
func bfloatOf(v float32) uint16 {
	if v != v {
		return 0x7fff
	}
	return uint16(roundShift(math.Float32bits(v), 16))
}

// roundShift is x shifted right, to the nearest, ties to even.
func roundShift(x uint32, by uint) uint32 {
	half, rest := uint32(1)<<(by-1), x&(1<<by-1)
	y := x >> by
	if rest > half || rest == half && y&1 == 1 {
		y++
	}
	return y
}
