package isel

import (
	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Operand modifiers: negation, absolute value and the choice of a half, which instructions apply to
// what they read.

// stripModifier returns what an instruction of floating-point type t reads for operand o, behind what it does by
// itself. It negates, takes one half of a register, and takes the absolute value where abs is set. Additions,
// multiplications and comparisons take absolute values, multiply-adds do not. Operands in constant memory or uniform
// registers have no modifiers.
//
// Evidence, kernels: gemv_w4, lavamd, hgemm_tile, gmm.
func (s *selector) stripModifier(o ir.Operand, t ir.Type, abs bool) ir.Operand {
	single := hir.Bits(t) == 16
	for o.Kind == ir.OperandReg {
		d := s.hir.DefOf(vreg.Value(o.Reg))
		if d == nil || !s.availableHere(d) {
			break
		}
		if !single && hir.IsHalf(t) && d.RepeatsHalf() && s.hir.Values[d.Src[0].Reg].Defs == 1 {
			o, single, s.takesHalf = d.Src[0], true, true
			continue
		}
		if word, _, ok := s.halfOf(o); ok && single && s.hir.Target.CC[0] >= 7 {
			o, s.takesHalf = word, true
			continue
		}
		sign := d.Type == t && d.Mod&ir.ModSat == 0 && (d.Op == ir.Neg || d.Op == ir.Abs && abs)
		if !sign || !s.stillInGPR(d.Src[0], d) {
			break
		}
		o = d.Src[0]
	}
	return o
}

// inGPR reports whether an operand is in a general register wherever it is read.
func (s *selector) inGPR(o ir.Operand) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	v := &s.hir.Values[o.Reg]
	return v.Defs == 1 && v.File == vreg.General && s.slotRank(o) == 0
}

// stillInGPR is inGPR, and reports true of variables that nothing has written since node d, too: of
// words that are loaded under a mask, with another value before.
func (s *selector) stillInGPR(o ir.Operand, d *hir.Node) bool {
	if o.Kind != ir.OperandReg {
		return false
	}
	v := &s.hir.Values[o.Reg]
	return s.inGPR(o) || v.Defs > 1 && v.File == vreg.General && s.slotRank(o) == 0 && s.unchanged(vreg.Value(o.Reg), d)
}

// stripModifiers is stripModifier for all operands. It leaves in takesHalf whether one is half of a
// register.
func (s *selector) stripModifiers(ops []ir.Operand, t ir.Type, abs bool) []ir.Operand {
	out := make([]ir.Operand, len(ops), max(len(ops), 3))
	s.takesHalf = false
	for i, o := range ops {
		out[i] = s.stripModifier(o, t, abs)
	}
	return out
}

// pickOp returns the operation for half-precision arithmetic on what stripModifiers returned last.
// On Hopper an operation that takes one half of a register is as slow as an integer multiplication,
// whose pipe it uses; ptxas gives every other one of those on whole registers to a second pipe
// (HFMA2.MMA).
//
// Evidence, microbenchmark (deploy/calibrate, halves, H200). Not modelled: fp32 additions wait for
// it too.
func (s *selector) pickOp(op mir.Op) mir.Op {
	switch op {
	case mir.OpHADD2, mir.OpHMUL2, mir.OpHFMA2:
		if s.takesHalf && s.hir.Target.CC[0] >= 9 {
			return mir.OpHFMA2PICK
		}
	}
	return op
}

// halfOf returns the word that an operand is one half of, and reports whether it is the upper one,
// and whether it is any.
func (s *selector) halfOf(o ir.Operand) (word ir.Operand, upper, ok bool) {
	if o.Kind != ir.OperandReg {
		return o, false, false
	}
	d := s.hir.DefOf(vreg.Value(o.Reg))
	if d == nil || !s.availableHere(d) || d.Op != ir.Mov || len(d.Dst) != 2 || len(d.Src) != 1 || !s.stillInGPR(d.Src[0], d) || s.hir.Values[d.Src[0].Reg].Words != 1 {
		return o, false, false
	}
	return d.Src[0], d.Dst[1] == vreg.Value(o.Reg), true
}

// Contraction: an addition and a multiplication that name no rounding become one multiply-add, as
// the PTX ISA allows.

// contract returns the operands of the multiply-add for addition n of src, nil where there is none.
func (s *selector) contract(n *hir.Node, src []ir.Operand) []ir.Operand {
	if n.Op != ir.Add && n.Op != ir.Sub || hir.IsInt(n.Type) || !s.fusible(n) {
		return nil
	}
	for _, many := range []bool{false, true} {
		for i := range src {
			if many && (src[i].Kind != ir.OperandReg || !s.absorbed[src[i].Reg]) {
				continue
			}
			if d := s.fold(src[i], many); d != nil && s.isFusibleMul(d, n.Type) {
				return []ir.Operand{d.Src[0], d.Src[1], src[1-i]}
			}
		}
	}
	return nil
}

// isFusibleMul reports whether node d is a multiplication that an addition of type t may take in.
func (s *selector) isFusibleMul(d *hir.Node, t ir.Type) bool {
	return d != nil && d.Op == ir.Mul && d.Type == t && s.fusible(d)
}

// findAbsorbed finds multiplications whose readers are all additions that take them in, so that
// none is left.
//
// Evidence, kernels: rotate_image, where half the width is subtracted from one number and added to
// another.
func (s *selector) findAbsorbed() {
	taken := make([]int32, len(s.hir.Values))
	for _, b := range s.hir.Order {
		for _, ni := range s.hir.Blocks[b].Nodes {
			n := &s.hir.Nodes[ni]
			if n.Op != ir.Add && n.Op != ir.Sub || hir.IsInt(n.Type) || !s.fusible(n) || len(n.Src) != 2 {
				continue
			}
			one, other := s.multiplyOf(n.Src[0], n.Type), s.multiplyOf(n.Src[1], n.Type)
			if one == vreg.None {
				one, other = other, one
			}
			if one != vreg.None && other == vreg.None && s.mayAbsorb(s.hir.DefOf(one), b) {
				taken[one]++
			}
		}
	}
	for v, n := range taken {
		s.absorbed[v] = n > 1 && n == s.uses[v]
	}
}

// mayAbsorb reports whether readers in block b may repeat a multiplication. In a deeper loop they
// do not if a factor is a double that no instruction has room for.
//
// Evidence, kernels: great_circle.
func (s *selector) mayAbsorb(n *hir.Node, b int) bool {
	if s.hir.Blocks[s.hir.Carrier(n)].LoopDepth >= s.hir.Blocks[b].LoopDepth {
		return true
	}
	for i := range n.Src {
		if o := &n.Src[i]; n.Type == ir.F64 && o.Kind == ir.OperandImm && uint32(o.Imm) != 0 {
			return false
		}
	}
	return true
}

// multiplyOf returns the value of an operand that is a multiplication for an addition of type t,
// else None.
func (s *selector) multiplyOf(o ir.Operand, t ir.Type) vreg.Value {
	if o.Kind != ir.OperandReg || o.Reg == ir.NoReg || !s.isFusibleMul(s.hir.DefOf(vreg.Value(o.Reg)), t) {
		return vreg.None
	}
	return vreg.Value(o.Reg)
}

// fusible reports whether an operation may be fused: it names no rounding and does not saturate.
func (s *selector) fusible(n *hir.Node) bool {
	return n.PC >= 0 && s.hir.Kernel.Instrs[n.PC].Round == ir.RoundNone && n.Mod&ir.ModSat == 0
}
