package opt

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Constants of half precision. cuda_fp16.h writes them as conversions and packs of fp32 constants.
// Instructions on pairs of halves take such a pair as an immediate (kernels: half_tone).

// FoldHalfConstants replaces conversions and packs of constants to 16-bit types by their result.
func FoldHalfConstants(f *hir.Func) error {
	for _, b := range f.Order {
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if len(n.Dst) != 1 || n.Guard != vreg.None {
				continue
			}
			for i := range n.Src {
				f.Resolve(n, &n.Src[i])
			}
			if x, ok := halfConstant(n); ok {
				n.Op, n.Mod = ir.Mov, 0
				n.Src = []ir.Operand{{Kind: ir.OperandImm, Reg: ir.NoReg, Imm: uint64(x), Var: -1, Param: -1}}
			}
		}
	}
	return nil
}

// halfConstant returns the bits that a node makes of constants. Rounding modes other than to
// nearest are not followed: values are not taken from here, and the cost is the same.
func halfConstant(n *hir.Node) (x uint32, ok bool) {
	for i := range n.Src {
		if n.Src[i].Kind != ir.OperandImm {
			return 0, false
		}
	}
	switch {
	case n.Op == ir.Mov && len(n.Src) == 2 && hir.Bits(n.Type) == 32:
		return uint32(n.Src[0].Imm)&0xffff | uint32(n.Src[1].Imm)<<16, true
	case n.Op != ir.Cvt || n.SrcType != ir.F32:
		return 0, false
	}
	to := map[ir.Type]func(float32) uint16{ir.F16: halfOf, ir.F16x2: halfOf, ir.BF16: bfloatOf, ir.BF16x2: bfloatOf}[n.Type]
	if to == nil {
		return 0, false
	}
	for i := range n.Src { // the upper half comes first
		x = x<<16 | uint32(to(math.Float32frombits(uint32(n.Src[i].Imm))))
	}
	return x, true
}

// halfOf converts to IEEE 754 binary16, to nearest, ties to even.
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

// bfloatOf converts to bfloat16, to nearest, ties to even.
func bfloatOf(v float32) uint16 {
	if v != v {
		return 0x7fff
	}
	return uint16(roundShift(math.Float32bits(v), 16))
}

// roundShift shifts right, to nearest, ties to even.
func roundShift(x uint32, by uint) uint32 {
	half, rest := uint32(1)<<(by-1), x&(1<<by-1)
	y := x >> by
	if rest > half || rest == half && y&1 == 1 {
		y++
	}
	return y
}
