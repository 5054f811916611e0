package ir

import "strconv"

// unroller writes a kernel with some loops unrolled.
type unroller struct {
	k, out *Kernel
	live   *Liveness
	moved  []int // by instruction of k: where it stands in out
	jumps  []int // branches of out that have their targets already
}

// emit appends an instruction.
func (u *unroller) emit(in Instr) { u.out.Instrs = append(u.out.Instrs, in) }

// fresh adds a register like another.
func (u *unroller) fresh(r Reg) Reg {
	info := u.k.Regs[r]
	info.Name += "$" + strconv.Itoa(len(u.out.Regs)-len(u.k.Regs))
	u.out.Regs = append(u.out.Regs, info)
	return Reg(len(u.out.Regs) - 1)
}

// retarget turns the targets of branches copied from k into places of out.
func (u *unroller) retarget() {
	done := make(map[int]bool, len(u.jumps))
	for _, pc := range u.jumps {
		done[pc] = true
	}
	for pc := range u.out.Instrs {
		in := &u.out.Instrs[pc]
		if in.Op == Bra && !done[pc] {
			in.Target = u.moved[in.Target]
		}
		if in.Op == Brx {
			t := make([]int, len(in.Targets))
			for i, x := range in.Targets {
				t[i] = u.moved[x]
			}
			in.Targets = t
		}
	}
}

// word is a constant of 32 bits.
func word(v int64) Operand { return immediate(uint64(uint32(v))) }

// op appends an instruction that stands for the test of a loop.
func (u *unroller) op(l *counted, op Op, t Type, cmp Cmp, dst Reg, src ...Operand) {
	in := Instr{Op: op, Type: t, Cmp: cmp, Guard: NoReg, Dst: []Reg{dst}, Src: src, Target: -1, Pos: u.k.Instrs[l.test].Pos}
	if len(src) == 3 {
		in.Bool = BoolOr
	}
	u.emit(in)
}

// jump appends a branch and returns where it stands.
func (u *unroller) jump(l *counted, guard Reg, not bool, target int) int {
	bra := u.k.Instrs[u.k.Blocks[l.block].End-1]
	bra.Guard, bra.GuardNot, bra.Target = guard, not, target
	u.emit(bra)
	at := len(u.out.Instrs) - 1
	u.jumps = append(u.jumps, at)
	return at
}

// loop writes an unrolled loop:
//
//	none = true
//	if unsigned and past the bound already { none = false; 1 }
//	if more than 3 iterations are left { none = false; do 4 while more than 3 are left }
//	if more than 1 iteration is left { none = false; 2 }
//	if none or one is left { 1 }
func (u *unroller) loop(l *counted) {
	blk, t := &u.k.Blocks[l.block], &u.k.Instrs[l.test]
	defer func() { u.moved[blk.End] = len(u.out.Instrs) }()
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
	none, more := u.fresh(t.Dst[0]), u.fresh(t.Dst[0])
	carried := u.live.In[l.block]
	after := u.live.In[l.block+1]
	zero := word(0)
	u.op(l, Setp, U32, CmpEQ, none, zero, zero)
	if !t.Type.IsSigned() {
		u.op(l, Setp, t.Type, t.Cmp, more, regOperand(l.iv), t.Src[1])
		within := u.jump(l, more, false, -1)
		u.op(l, Setp, U32, CmpNE, none, zero, zero)
		u.copies(l, 1, carried, after)
		u.out.Instrs[within].Target = len(u.out.Instrs)
	}
	skip := u.left(l, more, unrollFactor-1)
	u.op(l, Setp, U32, CmpNE, none, zero, zero)
	bound := u.bound(l)
	head := len(u.out.Instrs)
	u.copies(l, unrollFactor, carried, after)
	u.op(l, Setp, t.Type, t.Cmp, more, regOperand(l.iv), bound)
	u.jump(l, more, false, head)
	u.out.Instrs[skip].Target = len(u.out.Instrs)
	skip = u.left(l, more, 1)
	u.op(l, Setp, U32, CmpNE, none, zero, zero)
	u.copies(l, 2, carried, after)
	u.out.Instrs[skip].Target = len(u.out.Instrs)
	u.op(l, Setp, t.Type, t.Cmp, none, regOperand(l.iv), t.Src[1], regOperand(none))
	end := u.jump(l, none, true, -1)
	u.copies(l, 1, nil, after)
	u.out.Instrs[end].Target = len(u.out.Instrs)
}

// countdown writes an unrolled loop that ends when its induction meets a constant
// (see meets):
//
//	if the induction is past it already { all one by one }
//	none = true
//	if more than 3 iterations are left { none = false; do 4 while more than 3 are left }
//	if more than 1 iteration is left { none = false; 2 }
//	if none or one is left { all that are left one by one }
func (u *unroller) countdown(l *counted) {
	t := &u.k.Instrs[l.test]
	none, more := u.fresh(t.Dst[0]), u.fresh(t.Dst[0])
	carried, after := u.live.In[l.block], u.live.In[l.block+1]
	zero := word(0)
	// while compares the induction with where n iterations are left.
	while := func(n int64) {
		u.op(l, Setp, t.Type, CmpGT, more, regOperand(l.iv), word(int64(int32(t.Src[1].Imm))-n*l.step))
	}
	while(0)
	past := u.jump(l, more, true, -1)
	u.op(l, Setp, U32, CmpEQ, none, zero, zero)
	while(unrollFactor - 1)
	skip := u.jump(l, more, true, -1)
	u.op(l, Setp, U32, CmpNE, none, zero, zero)
	head := len(u.out.Instrs)
	u.copies(l, unrollFactor, carried, after)
	while(unrollFactor - 1)
	u.jump(l, more, false, head)
	u.out.Instrs[skip].Target = len(u.out.Instrs)
	while(1)
	skip = u.jump(l, more, true, -1)
	u.op(l, Setp, U32, CmpNE, none, zero, zero)
	u.copies(l, 2, carried, after)
	u.out.Instrs[skip].Target = len(u.out.Instrs)
	u.op(l, Setp, t.Type, CmpNE, none, regOperand(l.iv), t.Src[1], regOperand(none))
	end := u.jump(l, none, true, -1)
	u.out.Instrs[past].Target = len(u.out.Instrs)
	head = len(u.out.Instrs)
	u.copies(l, 1, carried, after)
	u.op(l, Setp, t.Type, CmpNE, more, regOperand(l.iv), t.Src[1])
	u.jump(l, more, false, head)
	u.out.Instrs[end].Target = len(u.out.Instrs)
}

// left appends a branch that is taken unless more than n iterations are left,
// and returns where it stands.
func (u *unroller) left(l *counted, more Reg, n int64) int {
	t := &u.k.Instrs[l.test]
	rest := u.fresh(l.iv)
	if l.step > 0 {
		u.op(l, Sub, t.Type, 0, rest, t.Src[1], regOperand(l.iv))
		u.op(l, Setp, t.Type, mirrored[t.Cmp], more, regOperand(rest), word(n*l.step))
	} else {
		u.op(l, Sub, t.Type, 0, rest, regOperand(l.iv), t.Src[1])
		u.op(l, Setp, t.Type, t.Cmp, more, regOperand(rest), word(-n*l.step))
	}
	if !t.Type.IsSigned() {
		u.op(l, Setp, t.Type, t.Cmp, more, regOperand(l.iv), t.Src[1], regOperand(more))
		u.out.Instrs[len(u.out.Instrs)-1].Bool = BoolAnd
	}
	return u.jump(l, more, true, -1)
}

// bound is what the induction of the unrolled loop is compared with.
func (u *unroller) bound(l *counted) Operand {
	t := &u.k.Instrs[l.test]
	far := l.step * (unrollFactor - 1)
	if t.Src[1].Kind == OperandImm {
		return word(int64(uint32(t.Src[1].Imm)) - far)
	}
	r := u.fresh(l.iv)
	u.op(l, Add, t.Type, 0, r, t.Src[1], word(-far))
	return regOperand(r)
}
