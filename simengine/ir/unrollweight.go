package ir

import "slices"

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
func weight(in *Instr) int {
	switch in.Op {
	case Ld, St:
		return accessWeight(in)
	case Mov, Abs, Neg:
		if in.Op == Mov || in.Type.IsFloat() {
			return 0
		}
	case Ex2, Lg2, Rsqrt, Sqrt:
		if in.Type == F32 && in.Mod&ModFtz == 0 {
			return 6
		}
	case Div, Rem:
		return quotientWeight(in)
	}
	if in.Type.Packed() != TypeInvalid {
		return 2
	}
	return 1
}

// accessWeight is that of a load or a store. A constant at a fixed address is an operand.
func accessWeight(in *Instr) int {
	w := 2
	if in.Guard != NoReg {
		w++
	}
	if in.Op == Ld && (in.Space == Const || in.Space == ParamSpace) && in.Src[0].Reg == NoReg {
		w = 1
	}
	return w
}

// quotientWeight is that of a division or of what it leaves.
func quotientWeight(in *Instr) int {
	switch {
	case in.Type.IsFloat() && in.Mod&ModFull != 0:
		return 8
	case in.Type.IsFloat() && in.Mod&ModFtz != 0:
		return 2
	case in.Type.IsFloat(): // approximate ones with denormals: of the loops of two programs, not by bisection
		return 1
	}
	w := 18
	if in.Src[1].Kind != OperandImm {
		w = 21
	}
	if in.Op == Rem {
		w -= 3
	}
	if in.Type.IsSigned() {
		w += 5
	}
	return w
}

// worthFour says whether a loop is light enough for four iterations at a time, and its stores
// leave them free to be mixed. What is the same in every iteration weighs nothing, nor does what adds a constant to a
// register of 64 bits, or to one that is the address of accesses, which take it in.
func (k *Kernel) worthFour(l *counted, adds map[Reg]int) bool {
	blk := &k.Blocks[l.block]
	pointers := k.pointers(blk)
	heavy, limit, shared := 1, unrollLight, 0 // the branch
	for pc := blk.Start; pc < blk.End-1; pc++ {
		in := &k.Instrs[pc]
		if !fixed(in, adds) && (!stepOf(in) || in.Type.Size() != 8 && !pointers[in.Dst[0]]) {
			heavy += weight(in)
		}
		switch {
		case in.Op != Ld:
		case in.Space == Global:
			limit = unrollLoading
		case in.Space == Shared:
			shared++
		}
	}
	return heavy <= min(max(limit, unrollLight+unrollForShared*shared), unrollHeaviest) && !k.mayOverwrite(blk, adds)
}

// pointers are the registers that are addresses of accesses in a block.
func (k *Kernel) pointers(blk *Block) map[Reg]bool {
	out := map[Reg]bool{}
	for pc := blk.Start; pc < blk.End; pc++ {
		for i := range k.Instrs[pc].Src {
			if o := &k.Instrs[pc].Src[i]; o.Kind == OperandAddr {
				out[o.Reg] = true
			}
		}
	}
	return out
}

// stepOf says whether an instruction adds a constant to a register.
func stepOf(in *Instr) bool {
	return in.Op == Add && len(in.Dst) == 1 && in.Src[0].Kind == OperandReg && in.Src[0].Reg == in.Dst[0] && in.Src[1].Kind == OperandImm
}

// mayOverwrite says whether all that a block loads is from memory to which it also stores, at addresses other than
// those that step by a constant: iterations are then not mixed, and ptxas has one at a time.
func (k *Kernel) mayOverwrite(blk *Block, adds map[Reg]int) bool {
	stores := map[Space]bool{}
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; in.Op == St {
			r := in.Src[0].Reg
			stores[in.Space] = stores[in.Space] || r != NoReg && adds[r] > 0 && !k.steps(blk, r)
		}
	}
	loads, free := 0, 0
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; in.Op == Ld {
			loads++
			if !stores[in.Space] {
				free++
			}
		}
	}
	return loads > 0 && free == 0
}

// steps says whether all that a block does to a register is to add constants.
func (k *Kernel) steps(blk *Block, r Reg) bool {
	for pc := blk.Start; pc < blk.End; pc++ {
		if in := &k.Instrs[pc]; slices.Contains(in.Dst, r) && !stepOf(in) {
			return false
		}
	}
	return true
}
