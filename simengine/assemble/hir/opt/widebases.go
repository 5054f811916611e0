package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Descriptors of matrices that lie apart by constants.
//
// Compilers add to the address of a tile, 64 bits wide, a constant for each step of K that holds the
// layout too, and that no instruction takes whole:
//
//	A0 = x + 0x4000004000000002
//	A1 = x + 0x4000004000000004
//
// All but the first are computed from the first, which takes one instruction of the uniform datapath
// instead of two.
//
// Evidence, ptxas corpus (shared launches of Triton's kernels with warpgroup MMAs, sm_90a): UIADD3.64
// with such constants, 1 to 1.2 a product.

// ShareWideBases rewrites sums of a value that all lanes agree on and a constant of 64 bits as sums of
// an earlier one of the block and a constant of 32 bits. It is for PTX for one architecture.
func ShareWideBases(f *hir.Func) error {
	if !f.Target.Specific {
		return nil
	}
	first := map[ir.Reg]*hir.Node{} // by value added to
	for _, b := range f.Order {
		clear(first)
		for _, ni := range f.Blocks[b].Nodes {
			n := &f.Nodes[ni]
			if !addsWide(f, n) {
				continue
			}
			from := first[n.Src[0].Reg]
			if from == nil {
				first[n.Src[0].Reg] = n
				continue
			}
			if less := int64(n.Src[1].Imm - from.Src[1].Imm); less == int64(int32(less)) {
				n.Src = slices.Clone(n.Src)
				n.Src[0].Reg, n.Src[1].Imm = ir.Reg(from.Dst[0]), uint64(less)
			}
		}
	}
	return nil
}

// addsWide reports whether a node is the sum of a value that all lanes agree on and a constant of more
// than 32 bits.
func addsWide(f *hir.Func, n *hir.Node) bool {
	if n.Op != ir.Add || !hir.IsInt(n.Type) || hir.Bits(n.Type) != 64 || n.Mod != 0 || n.Guard != vreg.None || len(n.Dst) != 1 {
		return false
	}
	x, c := &n.Src[0], &n.Src[1]
	if x.Kind != ir.OperandReg || c.Kind != ir.OperandImm || int64(c.Imm) == int64(int32(c.Imm)) {
		return false
	}
	return f.Values[n.Dst[0]].Uniform && f.Values[n.Dst[0]].Defs == 1 && f.Values[x.Reg].Defs == 1
}
