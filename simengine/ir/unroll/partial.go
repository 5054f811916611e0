package unroll

import (
	"github.com/warptune/warptune/simengine/ir"
)

// ptxas unrolls a loop in part if the number of iterations is known and the loop is too long to be unrolled whole.
// Of copies, n go into the loop, and the remainder of iterations by n is peeled off before it. The largest n is
// taken for which the copies and the peeled iterations together weigh at most partHeaviest. Of 100 iterations of 36
// instructions that is 7 at a time after 2, because 9 at a time after 1 weigh more. A loop whose body weighs more
// than partLongest is left as it is.
//
// This is how ptxas 13.0 (-O3, sm_90) does all of 2,287 loops of multiply-adds, of 451 of integer multiply-adds and
// of 412 with stores. It does so in 372 of 403 with loads from shared and 350 of 420 with loads from global memory
// (deploy/calibrate/ptxas/copies.py).
const (
	partHeaviest = 351
	partLongest  = 73
)

// part returns how many iterations of a weight go into the loop, and how many before it. It reports
// whether the loop is unrolled.
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

// partWeight is the weight of an instruction for that: what it weighs for full unrolling, but
// nothing if it computes the same in every iteration or adds registers of 64 bits. The evidence is
// the machine code of gemm in deploy/calibrate/datasets/others-spaces, which has 1, 4, 5 and 8
// iterations at a time.
func (l *countedLoop) partWeight(in *ir.Instr, adds map[ir.Reg]int) int {
	if in.Op == ir.Add && in.Type.Size() == 8 && in.Src[1].Kind == ir.OperandReg || fixed(in, adds) {
		return 0
	}
	return weight(in)
}

// fixed reports whether an instruction computes the same in every iteration.
func fixed(in *ir.Instr, defs map[ir.Reg]int) bool {
	switch {
	case len(in.Dst) == 0, in.Op == ir.Ld, in.Op == ir.Ldu, in.Op.IsTexture(), in.Op == ir.Txq, in.Op == ir.Atom, synchronises(in.Op):
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
