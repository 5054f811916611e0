package unroll

import (
	"github.com/warptune/warptune/simengine/ir"
)

// unroller writes a kernel with some loops unrolled.
type unroller struct {
	*ir.Rewriter
	live *ir.Liveness // of From
}

// op appends an instruction that belongs to the test of a loop.
func (u *unroller) op(l *countedLoop, op ir.Op, t ir.Type, cmp ir.Cmp, dst ir.Reg, src ...ir.Operand) {
	in := ir.Instr{Op: op, Type: t, Cmp: cmp, Guard: ir.NoReg, Dst: []ir.Reg{dst}, Src: src, Target: -1, Pos: u.From.Instrs[l.test].Pos}
	if len(src) == 3 {
		in.Bool = ir.BoolOr
	}
	u.Emit(in)
}

// jump appends a branch of the loop's and returns where it stands.
func (u *unroller) jump(l *countedLoop, guard ir.Reg, not bool, target int) int {
	bra := u.From.Instrs[u.From.Blocks[l.block].End-1]
	bra.Guard, bra.GuardNot, bra.Target = guard, not, target
	return u.EmitBranch(bra)
}

// loop writes an unrolled loop:
//
//	none = true
//	if unsigned and past the bound already { none = false; 1 }
//	if more than 3 iterations are left { none = false; do 4 while more than 3 are left }
//	if more than 1 iteration is left { none = false; 2 }
//	if none or one is left { 1 }
func (u *unroller) loop(l *countedLoop) {
	blk, t := &u.From.Blocks[l.block], &u.From.Instrs[l.test]
	defer u.Mark(blk.End)
	switch {
	case l.trips > 0:
		u.whole(l)
		return
	case l.atATime > 0:
		u.parts(l)
		return
	case meets(t):
		u.countdown(l)
		return
	}
	none, more := u.LikeReg(t.Dst[0]), u.LikeReg(t.Dst[0])
	carried := u.live.In[l.block]
	after := u.live.In[l.block+1]
	zero := ir.WordOperand(0)
	u.op(l, ir.Setp, ir.U32, ir.CmpEQ, none, zero, zero)
	if !t.Type.IsSigned() {
		u.op(l, ir.Setp, t.Type, t.Cmp, more, ir.RegOperand(l.iv), t.Src[1])
		within := u.jump(l, more, false, -1)
		u.op(l, ir.Setp, ir.U32, ir.CmpNE, none, zero, zero)
		u.copies(l, 1, carried, after)
		u.To.Instrs[within].Target = u.Next()
	}
	skip := u.left(l, more, unrollFactor-1)
	u.op(l, ir.Setp, ir.U32, ir.CmpNE, none, zero, zero)
	bound := u.bound(l)
	head := u.Next()
	u.copies(l, unrollFactor, carried, after)
	u.op(l, ir.Setp, t.Type, t.Cmp, more, ir.RegOperand(l.iv), bound)
	u.jump(l, more, false, head)
	u.To.Instrs[skip].Target = u.Next()
	skip = u.left(l, more, 1)
	u.op(l, ir.Setp, ir.U32, ir.CmpNE, none, zero, zero)
	u.copies(l, 2, carried, after)
	u.To.Instrs[skip].Target = u.Next()
	u.op(l, ir.Setp, t.Type, t.Cmp, none, ir.RegOperand(l.iv), t.Src[1], ir.RegOperand(none))
	end := u.jump(l, none, true, -1)
	u.copies(l, 1, nil, after)
	u.To.Instrs[end].Target = u.Next()
}

// countdown writes an unrolled loop that ends when its induction meets a constant
// (see meets):
//
//	if the induction is past it already { all one by one }
//	none = true
//	if more than 3 iterations are left { none = false; do 4 while more than 3 are left }
//	if more than 1 iteration is left { none = false; 2 }
//	if none or one is left { all that are left one by one }
func (u *unroller) countdown(l *countedLoop) {
	t := &u.From.Instrs[l.test]
	none, more := u.LikeReg(t.Dst[0]), u.LikeReg(t.Dst[0])
	carried, after := u.live.In[l.block], u.live.In[l.block+1]
	zero := ir.WordOperand(0)
	// while compares the induction with where n iterations are left.
	while := func(n int64) {
		u.op(l, ir.Setp, t.Type, ir.CmpGT, more, ir.RegOperand(l.iv), ir.WordOperand(int64(int32(t.Src[1].Imm))-n*l.step))
	}
	while(0)
	past := u.jump(l, more, true, -1)
	u.op(l, ir.Setp, ir.U32, ir.CmpEQ, none, zero, zero)
	while(unrollFactor - 1)
	skip := u.jump(l, more, true, -1)
	u.op(l, ir.Setp, ir.U32, ir.CmpNE, none, zero, zero)
	head := u.Next()
	u.copies(l, unrollFactor, carried, after)
	while(unrollFactor - 1)
	u.jump(l, more, false, head)
	u.To.Instrs[skip].Target = u.Next()
	while(1)
	skip = u.jump(l, more, true, -1)
	u.op(l, ir.Setp, ir.U32, ir.CmpNE, none, zero, zero)
	u.copies(l, 2, carried, after)
	u.To.Instrs[skip].Target = u.Next()
	u.op(l, ir.Setp, t.Type, ir.CmpNE, none, ir.RegOperand(l.iv), t.Src[1], ir.RegOperand(none))
	end := u.jump(l, none, true, -1)
	u.To.Instrs[past].Target = u.Next()
	head = u.Next()
	u.copies(l, 1, carried, after)
	u.op(l, ir.Setp, t.Type, ir.CmpNE, more, ir.RegOperand(l.iv), t.Src[1])
	u.jump(l, more, false, head)
	u.To.Instrs[end].Target = u.Next()
}

// left appends a branch that is taken unless more than n iterations are left. It returns where the
// branch stands.
func (u *unroller) left(l *countedLoop, more ir.Reg, n int64) int {
	t := &u.From.Instrs[l.test]
	rest := u.LikeReg(l.iv)
	if l.step > 0 {
		u.op(l, ir.Sub, t.Type, 0, rest, t.Src[1], ir.RegOperand(l.iv))
		u.op(l, ir.Setp, t.Type, mirrored[t.Cmp], more, ir.RegOperand(rest), ir.WordOperand(n*l.step))
	} else {
		u.op(l, ir.Sub, t.Type, 0, rest, ir.RegOperand(l.iv), t.Src[1])
		u.op(l, ir.Setp, t.Type, t.Cmp, more, ir.RegOperand(rest), ir.WordOperand(-n*l.step))
	}
	if !t.Type.IsSigned() {
		u.op(l, ir.Setp, t.Type, t.Cmp, more, ir.RegOperand(l.iv), t.Src[1], ir.RegOperand(more))
		u.To.Instrs[u.Next()-1].Bool = ir.BoolAnd
	}
	return u.jump(l, more, true, -1)
}

// bound returns what the induction variable of the unrolled loop is compared with: the loop's bound
// less the steps of all copies but one.
func (u *unroller) bound(l *countedLoop) ir.Operand {
	t := &u.From.Instrs[l.test]
	far := l.step * (unrollFactor - 1)
	if t.Src[1].Kind == ir.OperandImm {
		return ir.WordOperand(int64(uint32(t.Src[1].Imm)) - far)
	}
	r := u.LikeReg(l.iv)
	u.op(l, ir.Add, t.Type, 0, r, t.Src[1], ir.WordOperand(-far))
	return ir.RegOperand(r)
}
