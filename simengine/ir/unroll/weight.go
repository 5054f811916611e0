package unroll

import (
	"slices"

	"github.com/warptune/warptune/simengine/ir"
)

// ptxas makes four iterations at a time of a loop that weighs no more than a limit. It was
// bisected how many multiply-adds a loop of an unknown number of iterations may have beside up to 24 instructions
// of 80 kinds and mixes of them (deploy/calibrate/ptxas/unknown.py by ptxas 13.0 for sm_75, sm_80
// and sm_90, which agree): 21 without loads, 49 with any from global memory, and 5 more for each from
// shared memory, but never more than 100. The step of the induction, its test and the branch are three of them.
const (
	unrollLight     = 21
	unrollLoading   = 49
	unrollForShared = 5
	unrollHeaviest  = 100
)

// weight is what an instruction counts towards that: accesses of memory twice, approximations
// of operands that may be denormal and integer quotients as what they take, and what becomes a
// part of others not at all.
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

// accessWeight is that of a load or a store. A constant at a fixed address is an operand.
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

// quotientWeight is that of a division or of what it leaves.
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

// worthFour reports whether a loop is light enough for four iterations at a time, and its stores
// leave them free to be mixed. What is the same in every iteration weighs nothing, nor does what adds a constant to a
// register of 64 bits, or to one that is the address of accesses, which take it in.
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

// addressRegs are the registers that are addresses of accesses in a block.
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

// mayOverwrite reports whether all that a block loads is from memory to which it also stores, at addresses other than
// those that step by a constant: iterations are then not mixed, and ptxas has one at a time.
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

// steps reports whether all that a block does to a register is to add constants.
func steps(k *ir.Kernel, blk *ir.Block, r ir.Reg) bool {
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; slices.Contains(in.Dst, r) && !stepOf(in) {
			return false
		}
	}
	return true
}
