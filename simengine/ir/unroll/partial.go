package unroll

import "github.com/warptune/warptune/simengine/ir"

// Of a loop whose number of iterations is known and which it does not unroll whole, ptxas
// makes so many at a time that these and what is left over, which it makes first, weigh no more
// than partHeaviest together; the most at a time that do: of 100 iterations of 36 instructions 7 at a
// time and 2 before them, since 9 and 1 weigh more. A loop that weighs more than partLongest stays
// as it is. So it is with all of 2,287 loops of multiply-adds, of 451 of integer ones and of 412 with
// stores, with 372 of 403 with loads from shared and 350 of 420 with loads from global memory
// (deploy/calibrate/ptxas/copies.py by ptxas 13.0, -O3, sm_90).
const (
	partHeaviest = 351
	partLongest  = 73
)

// part is how many iterations of a weight are made at a time of a known number, and
// how many before; false where it is one at a time.
func part(weight, iterations int) (copies, before int, ok bool) {
	if weight > partLongest {
		return 1, 0, false
	}
	most := partHeaviest / max(weight, 1)
	for copies = min(most, iterations); copies > 1; copies-- {
		if before = iterations % copies; copies+before <= most {
			return copies, before, true
		}
	}
	return 1, 0, false
}

// partWeight is what an instruction counts towards that: what it does towards a whole loop, but
// nothing if it computes the same in every iteration or adds registers of 64 bits
// (deploy/calibrate/datasets/others-spaces gemm, whose machine code has 1, 4, 5 and 8 iterations at a time).
func (l *countedLoop) partWeight(in *ir.Instr, adds map[ir.Reg]int) int {
	if in.Op == ir.Add && in.Type.Size() == 8 && in.Src[1].Kind == ir.OperandReg || fixed(in, adds) {
		return 0
	}
	return weight(in)
}

// fixed reports whether an instruction computes the same in every iteration.
func fixed(in *ir.Instr, defs map[ir.Reg]int) bool {
	switch {
	case len(in.Dst) == 0, in.Op == ir.Ld, in.Op == ir.Ldu, in.Op == ir.Atom, synchronises(in.Op):
		return false
	}
	for i := range in.Src {
		if !invariant(&in.Src[i], defs) {
			return false
		}
	}
	return true
}

// parts writes a loop of a known number of iterations, some at a time:
//
//	before
//	do copies while any are left
func (u *unroller) parts(l *countedLoop) {
	t := &u.From.Instrs[l.test]
	carried, after := u.live.In[l.block], u.live.In[l.block+1]
	if l.before > 0 {
		u.copies(l, l.before, carried, after)
	}
	head := u.Next()
	u.copies(l, l.atATime, carried, after)
	more := u.LikeReg(t.Dst[0])
	u.op(l, ir.Setp, t.Type, t.Cmp, more, ir.RegOperand(l.iv), t.Src[1])
	u.jump(l, more, false, head)
}
