package unroll

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// ptxas makes four iterations at a time of a loop of an unknown number of iterations if the body
// weighs no more than a limit. The limit is 21 without loads, 49 with any from global memory, and 21
// plus 5 for each load from shared memory, but never more than 100. The step of the induction
// variable, its test and the branch weigh three of these.
//
// It was found by bisection how many multiply-adds a loop may have beside up to 24 instructions of
// 80 kinds and mixes of them; ptxas 13.0 for sm_75, sm_80 and sm_90 agree
// (deploy/calibrate/ptxas/unknown.py).
const (
	unrollLight     = 21
	unrollLoading   = 49
	unrollForShared = 5
	unrollHeaviest  = 100
)

// weight is what an instruction counts towards that. Accesses to memory count two. Approximations
// whose operands may be denormal, and integer quotients, count the instructions that they are
// expanded to. Moves and signs, which become part of other instructions, count nothing.
func weight(in *ir.Instr) int {
	switch in.Op {
	case ir.Ld, ir.St:
		return accessWeight(in)
	case ir.Mov, ir.Abs, ir.Neg:
		if in.Op == ir.Mov || in.Type.IsFloat() {
			return 0
		}
	case ir.Ex2, ir.Lg2, ir.Rsqrt, ir.Sqrt:
		if in.Type == ir.F32 && in.Mod&ir.ModFtz == 0 {
			return 6
		}
	case ir.Div, ir.Rem:
		return quotientWeight(in)
	}
	if in.Type.Packed() != ir.TypeInvalid {
		return 2
	}
	return 1
}

// accessWeight is the weight of a load or a store. A constant at a fixed address is an operand of
// another instruction.
func accessWeight(in *ir.Instr) int {
	w := 2
	if in.Guard != ir.NoReg {
		w++
	}
	if in.Op == ir.Ld && (in.Space == ir.Const || in.Space == ir.ParamSpace) && in.Src[0].Reg == ir.NoReg {
		w = 1
	}
	return w
}

// quotientWeight is the weight of a division or a remainder.
func quotientWeight(in *ir.Instr) int {
	switch {
	case in.Type.IsFloat() && in.Mod&ir.ModFull != 0:
		return 8
	case in.Type.IsFloat() && in.Mod&ir.ModFtz != 0:
		return 2
	case in.Type.IsFloat(): // approximate ones with denormals: of the loops of two programs, not by bisection
		return 1
	}
	w := 18
	if in.Src[1].Kind != ir.OperandImm {
		w = 21
	}
	if in.Op == ir.Rem {
		w -= 3
	}
	if in.Type.IsSigned() {
		w += 5
	}
	return w
}

// worthFour reports whether a loop is light enough for four iterations at a time, and its loads may
// be moved before its stores. What computes the same in every iteration weighs nothing. Nor does the
// addition of a constant to a register of 64 bits, or to one that addresses are taken from: it
// becomes the offset of the accesses.
func worthFour(k *ir.Kernel, l *countedLoop, adds map[ir.Reg]int) bool {
	blk := &k.Blocks[l.block]
	pointers := addressRegs(k, blk)
	heavy, limit, shared := 1, unrollLight, 0 // the branch
	for pc := blk.Start; pc < blk.End-1; pc++ {
		in := &k.Instrs[pc]
		if !fixed(in, adds) && (!stepOf(in) || in.Type.Size() != 8 && !pointers[in.Dst[0]]) {
			heavy += weight(in)
		}
		switch {
		case in.Op != ir.Ld:
		case in.Space == ir.Global:
			limit = unrollLoading
		case in.Space == ir.Shared:
			shared++
		}
	}
	return heavy <= min(max(limit, unrollLight+unrollForShared*shared), unrollHeaviest) && !mayOverwrite(k, blk, adds)
}

// addressRegs is the registers that a block's accesses take their addresses from.
func addressRegs(k *ir.Kernel, blk *ir.Block) map[ir.Reg]bool {
	out := map[ir.Reg]bool{}
	for pc := blk.Start; pc < blk.End; pc++ {
		for i := range k.Instrs[pc].Src {
			if o := &k.Instrs[pc].Src[i]; o.Kind == ir.OperandAddr {
				out[o.Reg] = true
			}
		}
	}
	return out
}

// stepOf reports whether an instruction adds a constant to a register.
func stepOf(in *ir.Instr) bool {
	return in.Op == ir.Add && len(in.Dst) == 1 && in.Src[0].Kind == ir.OperandReg && in.Src[0].Reg == in.Dst[0] && in.Src[1].Kind == ir.OperandImm
}

// mayOverwrite reports whether every load of a block may read what one of its stores wrote: each is from a state
// space to which the block also stores, at an address that does not step by a constant. There ptxas keeps one
// iteration at a time, since it could not interleave several.
func mayOverwrite(k *ir.Kernel, blk *ir.Block, adds map[ir.Reg]int) bool {
	stores := map[ir.Space]bool{}
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; in.Op == ir.St {
			r := in.Src[0].Reg
			stores[in.Space] = stores[in.Space] || r != ir.NoReg && adds[r] > 0 && !steps(k, blk, r)
		}
	}
	loads, free := 0, 0
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; in.Op == ir.Ld {
			loads++
			if !stores[in.Space] {
				free++
			}
		}
	}
	return loads > 0 && free == 0
}

// steps reports whether a block does nothing to a register but add constants.
func steps(k *ir.Kernel, blk *ir.Block, r ir.Reg) bool {
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; slices.Contains(in.Dst, r) && !stepOf(in) {
			return false
		}
	}
	return true
}
